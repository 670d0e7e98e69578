// What guessing gets.
#pragma once

#include <cstdint>

namespace probe {

// Probability that at least one of k items drawn without replacement from `candidates`
// is among its `positives` (hypergeometric). 1 if k exceeds the negatives.
double chance_of_hit(std::int64_t candidates, std::int64_t positives, int k);

}  // namespace probe
