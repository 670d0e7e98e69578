// Items put into one of many classes, whoever decides: texts (`classify`), a linear probe or
// neighbours (`linear`).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/zero_shot.h"
#include "probe/core/matrix.h"

namespace probe {

inline constexpr int kRankedClasses = 5;  // as many as top-5 needs

struct ClassOutcome {
  std::int64_t row = 0;        // of the items
  int answer = -1;             // its class
  std::vector<int> ranked;     // best first, at most kRankedClasses; equal scores: lower first
  std::vector<double> scores;  // of `ranked`
  bool tied = false;           // another class scored as high as the first

  bool correct() const { return !ranked.empty() && ranked.front() == answer; }
  // The answer is among the first `count`.
  bool within(int count) const;
};

// Ranks the classes by their scores. REQUIRES at least one class.
ClassOutcome rank_classes(std::int64_t row, int answer, const std::vector<double>& scores);

// Cosine of every image with every class vector.
//   images [n, d] raw; answers [n]: the class of each row, or -1: the row is left out.
// Throws Error(input) if widths differ or a row is zero or not finite.
std::vector<ClassOutcome> classify_images(const RowMatrix& images,
                                          const TextClassifier& classifier,
                                          const std::vector<int>& answers);

}  // namespace probe
