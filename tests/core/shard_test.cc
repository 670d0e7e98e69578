#include "probe/core/shard.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/expect_error.h"

namespace probe {
namespace {

TEST(Shard, RangesCoverTheListOnceAndDifferByAtMostOne) {
  for (const std::int64_t total : {7, 8, 9, 1000, 1'000'003}) {
    for (const std::int64_t count : {1, 2, 3, 7}) {
      std::int64_t next = 0, smallest = total, largest = 0;
      for (std::int64_t index = 0; index < count; ++index) {
        const ShardRange range = shard_range({index, count, total, {}, {}, {}});
        EXPECT_EQ(range.first, next);
        next = range.last;
        smallest = std::min(smallest, range.size());
        largest = std::max(largest, range.size());
      }
      EXPECT_EQ(next, total);
      EXPECT_LE(largest - smallest, 1);
    }
  }
  // The largest numbers that a file may claim do not overflow.
  const Shard last{kMostShards - 1, kMostShards, kMostItems, {}, {}, {}};
  EXPECT_EQ(shard_range(last).last, kMostItems);
}

TEST(Shard, ParsesWhatItPrints) {
  const Shard shard = parse_shard("3/8");
  EXPECT_EQ(shard.index, 3);
  EXPECT_EQ(shard.count, 8);
  EXPECT_EQ(shard_name(shard), "3/8");
  for (const char* wrong : {"8/8", "-1/8", "1", "1/", "/8", "1/0", "1/8 ", "a/8", "0/1000001", ""}) {
    EXPECT_PROBE_ERROR(parse_shard(wrong), ErrorKind::usage,
                       "--shard: expected i/N with i from 0 to N-1");
  }
}

TEST(Shard, ListsAreKnownByTheirHashes) {
  Item a, b;
  a.id = "a";
  b.id = "b";
  a.category = b.category = "fig";
  const Shard shard = make_shard(1, 2, {a, b}, {"a fig"});
  // printf 'a\0b\0' | sha256sum; printf 'a fig\0' | sha256sum
  EXPECT_EQ(shard.ids_sha256, "8fb20ef63ced4145fc2e983ffe597d1dcff39154c3bf21f0fa9dde6a0c50fdc9");
  EXPECT_EQ(shard.prompts_sha256, "b7ed2e1eb3c5d6e505e8dc189db4992f27f81a4de5f6e083a9e68666a0e1c262");
  EXPECT_EQ(difference_of_lists(shard, make_shard(0, 2, {a, b}, {"a fig"})), "");
  EXPECT_EQ(difference_of_lists(shard, make_shard(0, 1, {a, b}, {"a fig"})), "parts 2, not 1");
  EXPECT_EQ(difference_of_lists(shard, make_shard(0, 2, {b, a}, {"a fig"})), "ids of the list");
  EXPECT_EQ(difference_of_lists(shard, make_shard(0, 2, {a, b}, {})), "texts to embed");
  b.condition = "color";
  EXPECT_EQ(difference_of_lists(shard, make_shard(0, 2, {a, b}, {"a fig"})),
            "categories or conditions of the list");
  EXPECT_PROBE_ERROR(make_shard(0, 3, {a, b}, {}), ErrorKind::usage,
                     "expected at most as many parts as items, got 3 parts of 2 items");
}

}  // namespace
}  // namespace probe
