// Seeded draws that are the same with every standard library.
#pragma once

#include <cstdint>
#include <vector>

namespace probe {

// 0 .. count-1 in a seeded random order (Fisher-Yates).
std::vector<std::int64_t> shuffled_rows(std::int64_t count, std::uint64_t seed);

// `wanted` of the rows 0 .. count-1, without replacement, ascending; all of them if there
// are no more.
std::vector<std::int64_t> sample_rows(std::int64_t count, std::int64_t wanted,
                                      std::uint64_t seed);

}  // namespace probe
