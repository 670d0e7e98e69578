#include "analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace probe {
namespace {

constexpr double kZ95 = 1.959963984540054;  // normal quantile of 0.975
constexpr int kResamples = 10'000;

// Linear interpolation between order statistics, as numpy's default percentile.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

Interval wilson_interval(const Accuracy& accuracy) {
  if (accuracy.total == 0) return {0.0, 1.0};
  return wilson_interval(
      static_cast<double>(accuracy.correct) / static_cast<double>(accuracy.total), accuracy.total);
}

Interval wilson_interval(double share, std::int64_t trials) {
  if (trials == 0) return {0.0, 1.0};
  const double n = static_cast<double>(trials);
  const double z2 = kZ95 * kZ95;
  const double centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const double half =
      kZ95 / (1 + z2 / n) * std::sqrt(share * (1 - share) / n + z2 / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

Interval bootstrap_strata(const std::vector<Stratum>& strata, std::uint64_t seed) {
  double weights = 0.0;
  for (const Stratum& stratum : strata) {
    weights += stratum.weight * static_cast<double>(stratum.values.size());
  }
  if (weights == 0.0) return {0.0, 0.0};
  std::mt19937_64 generator(seed);
  std::vector<double> means(kResamples);
  for (double& mean : means) {
    double total = 0.0;
    for (const Stratum& stratum : strata) {
      double sum = 0.0;
      for (std::size_t i = 0; i < stratum.values.size(); ++i) {
        // Multiply-shift instead of std::uniform_int_distribution, whose draws differ
        // between standard libraries; the bias is below 2^-40 for any data set here.
        const auto draw = static_cast<std::size_t>(
            (static_cast<unsigned __int128>(generator()) * stratum.values.size()) >> 64);
        sum += stratum.values[draw];
      }
      total += stratum.weight * sum;
    }
    mean = total / weights;
  }
  std::sort(means.begin(), means.end());
  return {quantile(means, 0.025), quantile(means, 0.975)};
}

Interval bootstrap_mean(const std::vector<double>& values, std::uint64_t seed) {
  return bootstrap_strata({{1.0, values}}, seed);
}

Interval paired_bootstrap(const std::vector<double>& a, const std::vector<double>& b,
                          std::uint64_t seed) {
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return bootstrap_mean(difference, seed);
}

double mcnemar_exact(std::int64_t only_a, std::int64_t only_b) {
  const std::int64_t n = only_a + only_b, fewer = std::min(only_a, only_b);
  if (n == 0) return 1.0;
  double tail = 0.0;  // P(X <= fewer), X ~ Binomial(n, 1/2)
  for (std::int64_t k = 0; k <= fewer; ++k) {
    tail += std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) -
                     static_cast<double>(n) * std::log(2.0));
  }
  return std::min(1.0, 2.0 * tail);
}

std::vector<double> holm_adjust(const std::vector<double>& p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t x, std::size_t y) { return p_values[x] < p_values[y]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double scaled = p_values[order[i]] * static_cast<double>(order.size() - i);
    largest = std::max(largest, scaled);
    adjusted[order[i]] = std::min(1.0, largest);
  }
  return adjusted;
}

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0.0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0.0;
  const double mean = mean_of(values);
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

}  // namespace probe
