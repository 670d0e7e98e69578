#include "analysis/statistics.h"

#include <gtest/gtest.h>

namespace probe {
namespace {

// statsmodels 0.14: proportion_confint(count, nobs, method="wilson").
TEST(Wilson, AgreesWithStatsmodels) {
  Interval interval = wilson_interval({8, 10});
  EXPECT_NEAR(interval.low, 0.49016247153664183, 1e-9);
  EXPECT_NEAR(interval.high, 0.9433178485456247, 1e-9);
  interval = wilson_interval({0, 10});
  EXPECT_NEAR(interval.low, 0.0, 1e-12);
  EXPECT_NEAR(interval.high, 0.27753279986288926, 1e-9);
  interval = wilson_interval({0, 0});
  EXPECT_EQ(interval.low, 0.0);
  EXPECT_EQ(interval.high, 1.0);
}

// scipy.stats.binomtest(2, 12, 0.5).pvalue and binomtest(5, 5, 0.5).pvalue.
TEST(McNemar, AgreesWithTheBinomialTest) {
  EXPECT_NEAR(mcnemar_exact(2, 10), 0.03857421875, 1e-12);
  EXPECT_NEAR(mcnemar_exact(5, 0), 0.0625, 1e-12);
  EXPECT_EQ(mcnemar_exact(3, 3), 1.0);
  EXPECT_EQ(mcnemar_exact(0, 0), 1.0);
}

// statsmodels multipletests([0.01, 0.04, 0.03, 0.005], method="holm").
TEST(Holm, AgreesWithStatsmodels) {
  const std::vector<double> adjusted = holm_adjust({0.01, 0.04, 0.03, 0.005});
  const std::vector<double> expected{0.03, 0.06, 0.06, 0.02};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-12);
}

// The bootstrap of a mean approaches the normal interval: for 400 coin flips, 0.5 +- 0.049.
TEST(Bootstrap, ApproachesTheNormalInterval) {
  std::vector<double> a, b(400, 0.0);
  for (int i = 0; i < 400; ++i) a.push_back(i % 2);
  const Interval interval = paired_bootstrap(a, b, 7);
  EXPECT_NEAR(interval.low, 0.451, 0.006);
  EXPECT_NEAR(interval.high, 0.549, 0.006);
  EXPECT_EQ(paired_bootstrap(a, b, 7).low, interval.low);  // seeded
  EXPECT_EQ(paired_bootstrap(a, a, 7).high, 0.0);
}

// numpy: std([1, 2, 4], ddof=1).
TEST(Spread, AgreesWithNumpy) {
  EXPECT_NEAR(standard_deviation({1, 2, 4}), 1.5275252316519468, 1e-12);
  EXPECT_NEAR(mean_of({1, 2, 4}), 7.0 / 3, 1e-12);
  EXPECT_EQ(standard_deviation({5}), 0.0);
}

}  // namespace
}  // namespace probe
