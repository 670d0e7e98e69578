#include "analysis/knn_vote.h"

#include <algorithm>
#include <cmath>

namespace probe {

std::vector<double> knn_votes(const std::vector<int>& classes, const std::vector<float>& cosines,
                              int k, double temperature, int class_count) {
  std::vector<double> votes(static_cast<std::size_t>(class_count), 0.0);
  double sum = 0.0;
  const auto count = std::min<std::ptrdiff_t>(k, std::ssize(classes));
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const double vote = std::exp((double{cosines[i]} - double{cosines[0]}) / temperature);
    votes[classes[i]] += vote;
    sum += vote;
  }
  if (sum > 0) {
    for (double& vote : votes) vote /= sum;
  }
  return votes;
}

}  // namespace probe
