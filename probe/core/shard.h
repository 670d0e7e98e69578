// Parts of one dataset that are embedded apart, on any machine, and joined again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probe/core/item.h"

namespace probe {

// Which part of which list. Two shards belong together if all but `index` is equal.
struct Shard {
  std::int64_t index = 0;  // 0 to count-1: Slurm's and Ray's ids count from 0 as well
  std::int64_t count = 1;  // parts of the list, 1 to kMostShards
  std::int64_t total = 0;  // items of the whole list, good and bad; count at least
  std::string ids_sha256;      // of the whole list: each id followed by a NUL, in order
  std::string labels_sha256;   // category, condition, original_id and attribute likewise
  std::string prompts_sha256;  // the texts that shard 0 embeds, likewise

  bool operator==(const Shard&) const = default;
};

inline constexpr std::int64_t kMostShards = 1'000'000;
inline constexpr std::int64_t kMostItems = 1'000'000'000'000;  // index * total fits 64 bits

// Items [first, last) of the list.
struct ShardRange {
  std::int64_t first = 0, last = 0;

  std::int64_t size() const { return last - first; }
};

// Shard i of N has items [i*n/N, (i+1)*n/N), rounded down: no two sizes differ by more than
// one. Ranges and not every N-th item, so that joining is laying end to end.
ShardRange shard_range(const Shard& shard);

// "3/8", of --shard. Only index and count are set. Throws Error(usage).
Shard parse_shard(const std::string& text);
std::string shard_name(const Shard& shard);  // "3/8"

// Shard `index` of `count` of this list. Throws Error(usage) if there are fewer items than
// parts.
Shard make_shard(std::int64_t index, std::int64_t count, const std::vector<Item>& items,
                 const std::vector<std::string>& prompts);

// Whether both are parts of the same list: "" if so, else what differs, in words.
std::string difference_of_lists(const Shard& a, const Shard& b);

}  // namespace probe
