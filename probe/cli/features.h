// Vectors of a dataset: taken from an embedding file, or computed, once, and kept in a
// log (the cache of `zeroshot` and `match`, the part file of `embed`).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/table.h"
#include "encoders/tiles.h"
#include "probe/cli/common_options.h"
#include "probe/cli/image_loader.h"
#include "probe/core/embedding_set.h"
#include "probe/core/item.h"
#include "probe/store/feature_log.h"

namespace probe {

// How /image/mean_tokens was pooled, in the words of FORMAT.md.
std::string pooling_name(bool include_prefix, const TileOptions& tiles);

// Where finished vectors are kept while the program runs, and between runs.
struct LogPlace {
  std::filesystem::path folder;     // of the logs, one for each identity; or:
  std::filesystem::path part_file;  // one log of this name, for `embed`
  bool restart = false;             // forget what the part file holds
  std::string shard;                // of a part file: shard_json of its shard, or ""
};

// ~/.cache/probe/embeddings (XDG_CACHE_HOME is honoured); with `no_cache`, or without a
// home folder, both paths stay empty and nothing outlives the run.
LogPlace cache_place(bool no_cache);

// Runs one bundle. LibTorch is loaded at the first vector that is really missing.
class FeatureSource {
 public:
  FeatureSource(EncoderSpec spec, const EncoderArguments& arguments, bool keep_tokens,
                LogPlace place, bool quiet);
  ~FeatureSource();

  const EncoderSpec& spec() const { return spec_; }

  // Vectors of the items that can be read, in their order; the others are appended to
  // `failures` and to the set's `failed`, or thrown as Error(input) if `fail_fast`.
  EmbeddingSet embed_items(const std::vector<Item>& items, bool fail_fast,
                           std::vector<Failure>& failures);

  // Raw embeddings [m, d]. Texts the tower does not know are reported in `warnings`.
  RowMatrix embed_texts(const std::vector<std::string>& texts,
                        std::vector<std::string>& warnings);

  // Warns of texts with words the text tower never learnt, without running it.
  void warn_of_unknown_words(const std::vector<std::string>& texts,
                             std::vector<std::string>& warnings) const;

  // Deletes the image log: its content is safe elsewhere.
  void remove_log();

  Provenance provenance() const;

 private:
  struct Work;  // of one call of embed_items
  FeatureLog& log();
  std::string identity() const;
  std::size_t token_width() const;   // of mean_tokens
  std::size_t record_width() const;
  void record_batch(const ImageBatch& batch, const ImageFeatures& features, Work& work);
  EmbeddingSet collect(const std::vector<Item>& items, const Work& work);

  EncoderSpec spec_;
  EncoderOptions options_;
  std::string command_line_;
  LayerSpec layer_;
  Tiling tiling_;
  LogPlace place_;
  bool fast_decode_;
  bool quiet_;
  std::unique_ptr<Encoder> image_tower_, text_tower_;  // each loaded when first needed
  std::unique_ptr<FeatureLog> log_;
};

}  // namespace probe
