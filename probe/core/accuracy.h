// Counts first; percentages only when rendered.
#pragma once

#include <cstdint>

namespace probe {

struct Accuracy {
  std::int64_t correct = 0;
  std::int64_t total = 0;

  bool operator==(const Accuracy&) const = default;
  void add(bool is_correct) {
    correct += is_correct ? 1 : 0;
    ++total;
  }
};

// Closed interval of proportions, 0 to 1.
struct Interval {
  double low = 0.0;
  double high = 1.0;
};

}  // namespace probe
