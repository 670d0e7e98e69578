// The kernels against loops in double.
#include "encoders/tower_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace probe {
namespace {

std::vector<float> random_values(std::size_t count, float spread) {
  std::mt19937 generator(7);
  std::normal_distribution<float> normal(0.0f, spread);
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

class TowerKernels : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_use_tower_kernels()) GTEST_SKIP() << "this CPU runs LibTorch's own";
  }
};

// q, k and v side by side, as one product gives them for all heads.
struct Heads {
  std::int64_t tokens, width;
  std::vector<float> values = random_values(tokens * stride(), 1.0f);

  std::int64_t stride() const { return 3 * width + 5; }
  FloatRows part(int which) const { return {values.data() + which * width, stride()}; }
  double at(int which, std::int64_t row, std::int64_t i) const {
    return part(which).data[row * stride() + i];
  }
  std::vector<float> attend_all(float scale) const {
    std::vector<float> out(tokens * width, -1.0f), scratch;
    attend(part(0), part(1), part(2), out.data(), width, tokens, tokens, width, scale, scratch);
    return out;
  }
  std::vector<double> naive(std::int64_t row, double scale) const {
    std::vector<double> weights(tokens), out(width, 0.0);
    for (std::int64_t key = 0; key < tokens; ++key) {
      for (std::int64_t i = 0; i < width; ++i) weights[key] += at(0, row, i) * at(1, key, i);
      weights[key] *= scale;
    }
    const double most = *std::max_element(weights.begin(), weights.end());
    double sum = 0.0;
    for (double& weight : weights) sum += weight = std::exp(weight - most);
    for (std::int64_t key = 0; key < tokens; ++key) {
      for (std::int64_t i = 0; i < width; ++i) out[i] += weights[key] / sum * at(2, key, i);
    }
    return out;
  }
};

// Widths of real heads (64: CLIP, 72: SigLIP SO400M, 80: H/14, 88: EVA01-g) and odd ones; tokens
// around the sizes of a block of queries and of a panel of keys.
TEST_F(TowerKernels, AttentionEqualsTheNaiveLoop) {
  for (const std::int64_t width : {1, 7, 16, 64, 72, 80, 88}) {
    for (const std::int64_t tokens : {1, 5, 6, 7, 16, 17, 50, 197}) {
      const Heads heads{tokens, width};
      for (const float scale : {0.125f, 3.0f}) {
        const std::vector<float> out = heads.attend_all(scale);
        for (std::int64_t row = 0; row < tokens; row += std::max<std::int64_t>(1, tokens / 7)) {
          const std::vector<double> wanted = heads.naive(row, scale);
          for (std::int64_t i = 0; i < width; ++i) {
            ASSERT_NEAR(out[row * width + i], wanted[i], 2e-5) << width << " " << tokens << " " << row;
          }
        }
      }
    }
  }
}

TEST_F(TowerKernels, ScoresFarApartDoNotOverflow) {
  Heads heads{20, 16};
  for (float& value : heads.values) value *= 100.0f;
  const std::vector<float> out = heads.attend_all(1.0f);
  for (std::int64_t row = 0; row < 20; ++row) {
    const std::vector<double> wanted = heads.naive(row, 1.0);
    for (std::int64_t i = 0; i < 16; ++i) ASSERT_NEAR(out[row * 16 + i], wanted[i], 0.05);
  }
}

TEST_F(TowerKernels, NaNIsNotLost) {
  for (const int part : {0, 1, 2}) {
    Heads heads{20, 16};
    heads.values[3 * heads.stride() + part * 16 + 2] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> out = heads.attend_all(0.25f);
    for (std::int64_t row = 0; row < 20; ++row) {
      // A query of NaN spoils its row, a key all rows, a value its column.
      const bool spoilt = part > 0 || row == 3;
      EXPECT_EQ(std::isnan(out[row * 16 + 2]), spoilt) << part << " " << row;
    }
  }
}

TEST_F(TowerKernels, ActivationsEqualTheirFormulas) {
  for (const std::size_t count : {1u, 7u, 8u, 9u, 1000u}) {
    const std::vector<float> values = random_values(count, 4.0f);
    std::vector<float> quick = values, tanh = values;
    quick_gelu(quick.data(), static_cast<std::int64_t>(count));
    tanh_gelu(tanh.data(), static_cast<std::int64_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const double x = values[i];
      ASSERT_NEAR(quick[i], x / (1.0 + std::exp(-1.702 * x)), 2e-6) << x;
      ASSERT_NEAR(tanh[i], 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x))), 2e-6)
          << x;
    }
  }
  std::vector<float> ends{-1e30f, -200.0f, 200.0f, 1e30f, std::numeric_limits<float>::quiet_NaN()};
  for (const auto activation : {quick_gelu, tanh_gelu}) {
    std::vector<float> out = ends;
    activation(out.data(), 5);
    EXPECT_NEAR(out[1], 0.0f, 1e-30f);
    EXPECT_EQ(out[2], 200.0f);
    EXPECT_EQ(out[3], 1e30f);
    EXPECT_TRUE(std::isnan(out[4]));
  }
}

}  // namespace
}  // namespace probe
