// A shard that is done is not done again.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "probe/core/item.h"
#include "probe/store/embedding_file.h"
#include "probe/store/file_summary.h"

namespace probe {

// What a shard's file has to hold.
struct ShardPlan {
  Shard shard;
  std::span<const Item> items;  // of the shard
  Provenance provenance;
  StoredType type = StoredType::float32;
  bool tokens = false;
};

// The file's summary if it is there and holds this shard of these images, made with these
// options; nothing if there is no such file. An image that has changed on disk since the
// file was written (by its change time) is read and its content compared.
// Throws Error(input) naming what differs if the file is something else.
std::optional<FileSummary> find_finished_shard(const std::filesystem::path& file,
                                               const ShardPlan& plan);

}  // namespace probe
