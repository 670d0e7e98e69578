// Items of LocateBench from annotated pictures: the filters of section 2.2.
#pragma once

#include <cstdint>
#include <vector>

#include "probe/core/locate.h"

namespace probe {

struct LocateLimits {
  double min_side = 75;          // pixels; width and height of every candidate
  double max_overlap = 10;       // pixels; width and height of the area two boxes share
  int min_objects = kLocateCandidates;  // of one group in one picture; at least that many
  bool by_super_category = true;  // else by category
};

// How many are left after each filter, in the order they are applied.
struct LocateCounts {
  std::int64_t images = 0, objects = 0;
  std::int64_t single = 0;       // objects that are not a crowd
  std::int64_t large = 0;        // of these, large enough
  std::int64_t grouped = 0;      // of these, in a group of enough objects
  std::int64_t groups = 0;       // (picture, category) pairs these make
  std::int64_t separate = 0;     // of the grouped, with three others that do not overlap
  std::int64_t described = 0;    // of these, with an expression
};

struct LocateItems {
  std::vector<LocateItem> items;
  LocateCounts counts;
};

// True if the area the boxes share is at most `limit` wide and at most `limit` high.
bool boxes_are_separate(const Box& a, const Box& b, double limit);

// One item for each object that passes all filters. Three other candidates of its group are
// drawn by `seed` so that all four are pairwise separate, and the four are shuffled. With
// `expressions`, only described objects become answers (the others may be candidates: our
// reading); without, every object does, to be described by someone.
// REQUIRES every object's picture among `images`. Throws Error(input) for an expression
// about an object that does not exist, or two about the same.
LocateItems make_locate_items(const std::vector<LocateImage>& images,
                              const std::vector<LocateObject>& objects,
                              const std::vector<LocateExpression>& expressions,
                              bool need_expressions, const LocateLimits& limits,
                              std::uint64_t seed);

}  // namespace probe
