// Items split into those trained on and those tested on, without leaks.
#pragma once

#include <cstdint>
#include <vector>

#include "probe/core/embedding_set.h"

namespace probe {

struct Split {
  std::vector<std::int64_t> train, test;  // rows, ascending
};

struct SplitRule {
  double train_fraction = 0.5;  // of each class's groups; not used with folds
  int folds = 0;                // 0: one split; else each group is tested in one of them
  bool train_on_all = false;    // else only originals are trained on
  std::uint64_t seed = 0;
};

// The group of each item: a picture, its copies (same content) and all that was made from
// it (original_id, over several steps). A group is never on both sides of a split.
std::vector<std::int64_t> item_groups(const ItemColumns& items);

// Stratified by category; items without one are in no split. A class of a single group is
// trained on; groups that cannot be trained on (modified images whose source is not here)
// are tested, in one of the folds if there are several.
std::vector<Split> split_items(const ItemColumns& items, const SplitRule& rule);

// About `fraction` of these rows, whole groups at a time, and at least one row if there is
// more than one group: what a sweep holds out (DINOv2: 10 %).
Split hold_out(const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& groups,
               double fraction, std::uint64_t seed);

}  // namespace probe
