// Intervals and tests. Proportions are 0 to 1; all intervals are at 95 %.
#pragma once

#include <cstdint>
#include <vector>

#include "probe/core/accuracy.h"

namespace probe {

// Wilson's score interval (Wilson 1927; no continuity correction).
// [0, 1] if total is 0: nothing is known.
Interval wilson_interval(const Accuracy& accuracy);
// The same of a share (0 to 1) of n trials that need not be a whole number of them.
Interval wilson_interval(double share, std::int64_t trials);

// Percentile bootstrap of mean(a) - mean(b) over items that both sides answered, drawn
// together (paired): 10,000 resamples, seeded. REQUIRES equal sizes; {0, 0} if empty.
Interval paired_bootstrap(const std::vector<double>& a, const std::vector<double>& b,
                          std::uint64_t seed);

// Percentile bootstrap of mean(values), as above.
Interval bootstrap_mean(const std::vector<double>& values, std::uint64_t seed);

// One group of values that a resample draws within, and the weight of each of them.
struct Stratum {
  double weight = 1.0;
  std::vector<double> values;
};

// Percentile bootstrap of sum(weight * value) / sum(weight) over all strata, each drawn
// with replacement within itself, 10,000 resamples, seeded. {0, 0} if all are empty.
Interval bootstrap_strata(const std::vector<Stratum>& strata, std::uint64_t seed);

// McNemar's exact two-sided test: p of `only_a` against `only_b` discordant pairs under
// a fair coin. 1 if there are none.
double mcnemar_exact(std::int64_t only_a, std::int64_t only_b);

// Holm's step-down adjustment; results in the order given, at most 1.
std::vector<double> holm_adjust(const std::vector<double>& p_values);

// Mean, and standard deviation with n - 1 (0 for fewer than two values).
double mean_of(const std::vector<double>& values);
double standard_deviation(const std::vector<double>& values);

}  // namespace probe
