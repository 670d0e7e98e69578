// How far the shards of a dataset are, by the files that are there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "probe/core/shard.h"

namespace probe {

enum class ShardState {
  finished,
  running,     // a part file that a process of this machine has locked
  unfinished,  // a part file that nobody works on, as far as this machine can see
  damaged,     // not a file that can be read
  foreign,     // of another list, bundle or option than most, or no shard
};
const char* shard_state_name(ShardState state);

struct ShardFile {
  std::filesystem::path path;
  ShardState state = ShardState::finished;
  std::optional<Shard> shard;  // unknown if damaged or no shard
  std::int64_t vectors = 0;    // so far
  std::int64_t failed = 0;
  std::string remark;          // why it is damaged or foreign, or that it is there twice
};

struct ShardSurvey {
  std::vector<ShardFile> files;       // by shard, then by name
  std::int64_t count = 0;             // shards of the list; 0: unknown
  std::int64_t total = 0;             // items of the list; 0: unknown
  std::vector<std::int64_t> missing;  // shards of which there is nothing
  std::vector<std::int64_t> to_do;    // neither finished nor running, ascending
  std::int64_t unfinished = 0;        // shards that are not finished, running ones too
};

// Looks at embedding files (*.h5) and part files (*.h5.part). The shards that agree and are
// the most are the dataset's; others are foreign. `count` > 0: how many there must be; it is
// needed only as long as there is nothing at all.
ShardSurvey survey_shards(const std::vector<std::filesystem::path>& paths, std::int64_t count);

}  // namespace probe
