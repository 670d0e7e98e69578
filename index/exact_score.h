// What decides between rows, whichever way proposed them. Private to index.
#pragma once

#include <algorithm>

#include "index/flat_index.h"

namespace probe {

inline bool better(const Neighbor& a, const Neighbor& b) {
  return a.score != b.score ? a.score > b.score : a.row < b.row;
}

// Puts the k best first and drops the others.
inline void keep_best(Neighbors& neighbors, int k) {
  std::sort(neighbors.begin(), neighbors.end(), better);
  if (std::ssize(neighbors) > k) neighbors.resize(k);
}

// Cosine of two unit vectors [d]: one plain sum in double, in the order of dimensions.
inline float exact_score(const float* query, const float* row, Eigen::Index d) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < d; ++i) sum += double{query[i]} * row[i];
  return static_cast<float>(std::clamp(sum, -1.0, 1.0));
}

}  // namespace probe
