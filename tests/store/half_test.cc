#include "probe/store/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace probe {
namespace {

// IEEE 754-2019 binary16 by its definition: every finite pattern, both ways.
TEST(Half, AllPatternsAgreeWithTheDefinition) {
  std::vector<std::uint16_t> halves;
  std::vector<float> expected;
  for (int bits = 0; bits < 0x10000; ++bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) continue;
    const double magnitude = exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
    halves.push_back(static_cast<std::uint16_t>(bits));
    expected.push_back(static_cast<float>(bits & 0x8000 ? -magnitude : magnitude));
  }
  std::vector<float> floats(halves.size());
  halves_to_floats(halves.data(), floats.data(), halves.size());
  EXPECT_EQ(floats, expected);
  std::vector<std::uint16_t> back(halves.size());
  floats_to_halves(floats.data(), back.data(), floats.size());
  EXPECT_EQ(back, halves);
}

TEST(Half, RoundsToNearestEven) {
  const std::vector<float> floats{2049.0f, 2051.0f, 65519.0f, 65520.0f, 1e-9f, 2049.0f, 1, 2, 3};
  std::vector<std::uint16_t> halves(floats.size());
  floats_to_halves(floats.data(), halves.data(), floats.size());
  EXPECT_EQ(halves[0], 0x6800);  // 2048: the tie goes to the even fraction
  EXPECT_EQ(halves[1], 0x6802);  // 2052
  EXPECT_EQ(halves[2], 0x7BFF);  // largest finite, 65504
  EXPECT_EQ(halves[3], 0x7C00);  // infinity
  EXPECT_EQ(halves[4], 0x0000);
  EXPECT_EQ(halves[8], 0x4200);
}

}  // namespace
}  // namespace probe
