#include "analysis/chance.h"

#include <algorithm>

namespace probe {

double chance_of_hit(std::int64_t candidates, std::int64_t positives, int k) {
  const std::int64_t negatives = candidates - positives;
  const std::int64_t draws = std::min<std::int64_t>(k, candidates);
  double all_wrong = 1.0;
  for (std::int64_t i = 0; i < draws; ++i) {
    all_wrong *= static_cast<double>(std::max<std::int64_t>(0, negatives - i)) /
                 static_cast<double>(candidates - i);
  }
  return positives == 0 ? 0.0 : 1.0 - all_wrong;
}

}  // namespace probe
