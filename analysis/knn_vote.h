// k nearest neighbours as DINOv2 evaluates them: cosine, votes weighed by a softmax of
// cosine / temperature.
#pragma once

#include <vector>

namespace probe {

// Each class's share of the votes, 0 to 1, of the first k neighbours (all, if there are
// fewer). DINOv2 divides by the sum over its largest k, which changes no ranking.
//   classes, cosines: of the neighbours, nearest first, equal sizes.
std::vector<double> knn_votes(const std::vector<int>& classes, const std::vector<float>& cosines,
                              int k, double temperature, int class_count);

}  // namespace probe
