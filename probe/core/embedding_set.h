// Vectors of a dataset with all that is needed to repeat them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "probe/core/matrix.h"
#include "probe/core/shard.h"

namespace probe {

// Provenance::tiles of sets without tiles, also of files from before there were any.
inline constexpr const char* kWholeImage = "{\"scheme\":\"whole\"}";

// What fixed the numbers. Two sets may be compared only if `identity` says the same of
// encoder and pooling; the rest explains.
struct Provenance {
  std::string encoder;            // short name
  std::string architecture;
  std::string bundle_sha256;      // of encoder.json; "unknown" for imported vectors
  std::string preprocessing;      // JSON of the image spec, with the arithmetic's version
  std::string layer;              // of mean_tokens
  std::string pooling;            // "mean of patch tokens", "mean of all tokens", ...
  std::string compute_dtype;      // float32 or bfloat16: the towers' arithmetic
  std::string runtime;            // e.g. "torchscript 2.13.0"
  std::string command_line;
  std::map<std::string, std::string> versions;  // probe, torch, faiss, hdf5, ...
  std::string tiles = kWholeImage;  // JSON: what was pooled of each image

  bool operator==(const Provenance&) const = default;
};

// Columns of /items, all of the same length n.
struct ItemColumns {
  std::vector<std::string> id, path, category, condition, original_id, attribute,
      content_sha256;

  std::size_t size() const { return id.size(); }
  bool operator==(const ItemColumns&) const = default;
};

// Items that have no vector, of the same length f: they are known to be bad, not missing.
struct FailedItems {
  std::vector<std::int64_t> item;  // position in the dataset, ascending
  std::vector<std::string> id, path, reason;

  std::size_t size() const { return id.size(); }
  bool operator==(const FailedItems&) const = default;
};

// Everything an embedding file holds. Vectors are raw (not normalised).
struct EmbeddingSet {
  Provenance provenance;
  ItemColumns items;
  RowMatrix embedding;    // [n, d]; [n, 0] if the tower has none
  RowMatrix mean_tokens;  // [n, w]; [n, 0] if not stored
  RowMatrix tokens;       // [n, t*w]; empty if not stored
  int token_count = 0;    // t
  std::vector<std::string> prompts;  // of the text embeddings
  RowMatrix text_embedding;          // [prompts, d]
  FailedItems failed;
  std::optional<Shard> shard;  // of a part of a dataset
};

}  // namespace probe
