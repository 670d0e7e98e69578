#include "analysis/sampling.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace probe {

std::vector<std::int64_t> shuffled_rows(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  std::mt19937_64 generator(seed);
  for (std::int64_t i = count; i > 1; --i) {
    // Multiply-shift: std::uniform_int_distribution differs between standard libraries.
    const auto draw = static_cast<std::int64_t>(
        (static_cast<unsigned __int128>(generator()) * static_cast<unsigned __int128>(i)) >> 64);
    std::swap(rows[i - 1], rows[draw]);
  }
  return rows;
}

std::vector<std::int64_t> sample_rows(std::int64_t count, std::int64_t wanted,
                                      std::uint64_t seed) {
  std::vector<std::int64_t> rows = shuffled_rows(count, seed);
  if (wanted < count) rows.resize(static_cast<std::size_t>(wanted));
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace probe
