// What an embedding file says of itself, without its vectors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "probe/core/embedding_set.h"
#include "probe/store/embedding_file.h"

namespace probe {

// One dataset of /image.
struct StoredRows {
  std::string name;  // "embedding", "mean_tokens" or "tokens"
  StoredType type = StoredType::float32;
  std::int64_t width = 0;   // values a row, of all its tokens
  std::int64_t tokens = 0;  // 0: the rows have no token axis
  bool is_virtual = false;

  bool operator==(const StoredRows&) const = default;
};

struct FileSummary {
  std::filesystem::path path;
  Provenance provenance;
  std::int64_t items = 0;  // that have vectors
  FailedItems failed;
  std::vector<StoredRows> rows;
  std::optional<Shard> shard;

  // With and without vectors.
  std::int64_t all_items() const { return items + static_cast<std::int64_t>(failed.size()); }
};

// Throws as read_embedding_file does; sizes are checked, values are not.
FileSummary read_file_summary(const std::filesystem::path& path, bool allow_outside);

// What keeps two sets apart: "" if they were made alike, else the first difference in words,
// e.g. `layer "-2", not "last"`. Command lines and versions may differ.
std::string difference_of_provenance(const Provenance& a, const Provenance& b);
// The same of what is stored.
std::string difference_of_rows(const std::vector<StoredRows>& a, const std::vector<StoredRows>& b);

// The attribute `shard`. Reading gives nothing if the text is not one.
std::string shard_json(const Shard& shard);
std::optional<Shard> parse_shard_json(const std::string& text);

}  // namespace probe
