// The kernels of every set of instructions that this CPU has, against loops in double.
#include "encoders/tower_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <type_traits>

namespace probe {
namespace {

std::vector<float> random_values(std::size_t count, float spread) {
  std::mt19937 generator(7);
  std::normal_distribution<float> normal(0.0f, spread);
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

float to_float(float value) { return value; }
float to_float(Bfloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}
template <typename T>
T from_float(float value) {  // to the nearest, of two the even one
  if constexpr (std::is_same_v<T, float>) return value;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<T>((bits >> 16) | 0x40);
  return static_cast<T>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Each set of instructions that has kernels for the type.
template <typename T>
std::vector<std::pair<std::string, KernelsFor<T>>> sets_for() {
  std::vector<std::pair<std::string, KernelsFor<T>>> sets;
  for (const TowerKernels& set : tower_kernels()) {
    KernelsFor<T> kernels;
    if constexpr (std::is_same_v<T, float>) kernels = set.floats;
    else kernels = set.halves;
    if (kernels.attend != nullptr) sets.emplace_back(set.name, kernels);
  }
  return sets;
}

template <typename T>
class TowerKernelsOf : public testing::Test {
 protected:
  void SetUp() override {
    if (sets_for<T>().empty()) GTEST_SKIP() << "this CPU runs LibTorch's own";
  }
};
using Types = testing::Types<float, Bfloat16>;
TYPED_TEST_SUITE(TowerKernelsOf, Types);

// Of results of about 1: float32's rounding of scores of a hundred, or the last of bfloat16's 8 bits, twice: of
// the weights and of the result.
template <typename T>
constexpr double kClose = std::is_same_v<T, float> ? 1e-4 : 0.02;

// q, k and v side by side, as one product gives them for all heads.
template <typename T>
struct Heads {
  std::int64_t tokens, width;
  std::vector<T> values;

  Heads(std::int64_t token_count, std::int64_t head_width, float spread = 1.0f)
      : tokens(token_count), width(head_width) {
    for (const float value : random_values(tokens * stride(), spread)) values.push_back(from_float<T>(value));
  }
  std::int64_t stride() const { return 3 * width + 5; }
  double at(int which, std::int64_t row, std::int64_t i) const {
    return to_float(values[row * stride() + which * width + i]);
  }
  std::vector<double> attend_all(const KernelsFor<T>& kernels, float scale) const {
    std::vector<T> out((tokens + 1) * width, from_float<T>(-1.0f));
    Head<T> head;
    head.q = values.data(), head.k = head.q + width, head.v = head.k + width;
    head.q_stride = head.k_stride = head.v_stride = stride();
    head.out = out.data(), head.out_stride = width;
    head.rows = head.keys = tokens, head.width = width, head.scale = scale;
    Scratch scratch(11, 5.0f);  // what an earlier call left
    kernels.attend(head, scratch);
    std::vector<double> result;
    for (const T value : out) result.push_back(to_float(value));
    for (std::int64_t i = 0; i < width; ++i) EXPECT_EQ(result[tokens * width + i], -1.0) << "written past the end";
    return result;
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
TYPED_TEST(TowerKernelsOf, AttentionEqualsTheNaiveLoop) {
  for (const auto& [name, kernels] : sets_for<TypeParam>()) {
    for (const std::int64_t width : {1, 7, 16, 64, 72, 80, 88, 130}) {
      for (const std::int64_t tokens : {1, 5, 6, 7, 16, 17, 33, 50, 64, 65, 197}) {
        const Heads<TypeParam> heads(tokens, width);
        for (const float scale : {0.125f, 3.0f}) {
          const std::vector<double> out = heads.attend_all(kernels, scale);
          for (std::int64_t row = 0; row < tokens; row += std::max<std::int64_t>(1, tokens / 7)) {
            const std::vector<double> wanted = heads.naive(row, scale);
            for (std::int64_t i = 0; i < width; ++i) {
              ASSERT_NEAR(out[row * width + i], wanted[i], kClose<TypeParam> * std::max(1.0, std::abs(wanted[i])))
                  << name << " " << width << " " << tokens << " " << row;
            }
          }
        }
      }
    }
  }
}

// A row of scores of 4096 bytes and more keys than a picture has.
TYPED_TEST(TowerKernelsOf, ManyKeys) {
  for (const auto& [name, kernels] : sets_for<TypeParam>()) {
    const Heads<TypeParam> heads(1024, 32);
    const std::vector<double> out = heads.attend_all(kernels, 0.2f);
    for (const std::int64_t row : {0, 511, 1023}) {
      const std::vector<double> wanted = heads.naive(row, 0.2f);
      for (std::int64_t i = 0; i < 32; ++i) {
        ASSERT_NEAR(out[row * 32 + i], wanted[i], kClose<TypeParam>) << name << " " << row;
      }
    }
  }
}

TYPED_TEST(TowerKernelsOf, ScoresFarApartDoNotOverflow) {
  for (const auto& [name, kernels] : sets_for<TypeParam>()) {
    const Heads<TypeParam> heads(20, 16, 100.0f);
    const std::vector<double> out = heads.attend_all(kernels, 1.0f);
    for (std::int64_t row = 0; row < 20; ++row) {
      const std::vector<double> wanted = heads.naive(row, 1.0);
      for (std::int64_t i = 0; i < 16; ++i) {
        ASSERT_NEAR(out[row * 16 + i], wanted[i], std::max(0.05, kClose<TypeParam> * std::abs(wanted[i]))) << name;
      }
    }
  }
}

TYPED_TEST(TowerKernelsOf, NaNIsNotLost) {
  for (const auto& [name, kernels] : sets_for<TypeParam>()) {
    for (const int part : {0, 1, 2}) {
      Heads<TypeParam> heads(20, 16);
      heads.values[3 * heads.stride() + part * 16 + 2] =
          from_float<TypeParam>(std::numeric_limits<float>::quiet_NaN());
      const std::vector<double> out = heads.attend_all(kernels, 0.25f);
      for (std::int64_t row = 0; row < 20; ++row) {
        // A query of NaN spoils its row, a key all rows, a value its column.
        const bool spoilt = part > 0 || row == 3;
        EXPECT_EQ(std::isnan(out[row * 16 + 2]), spoilt) << name << " " << part << " " << row;
      }
    }
  }
}

double activated(double x, Activation activation) {
  switch (activation) {
    case Activation::none: return x;
    case Activation::quick_gelu: return x / (1.0 + std::exp(-1.702 * x));
    case Activation::tanh_gelu:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::gelu: return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
  }
  return 0.0;
}

// Shapes around tiles, panels, groups of rows, blocks and parts of the depth, and SigLIP's 4304.
TYPED_TEST(TowerKernelsOf, ProductsEqualTheNaiveLoop) {
  struct Shape {
    std::int64_t rows, columns, depth;
  };
  const auto values_of = [](std::size_t count, float spread) {
    std::vector<TypeParam> values;
    for (const float value : random_values(count, spread)) values.push_back(from_float<TypeParam>(value));
    return values;
  };
  for (const auto& [name, kernels] : sets_for<TypeParam>()) {
    const ProductKernels<TypeParam>& products = kernels.products;
    if (products.multiply == nullptr) continue;
    for (const auto [rows, columns, depth] :
         {Shape{1, 1, 1}, {1, 17, 33}, {2, 16, 32}, {13, 33, 31}, {16, 32, 64}, {17, 100, 65}, {33, 48, 800},
          {50, 768, 100}, {50, 40, 1600}, {197, 31, 96}, {700, 20, 40}, {3, 4304, 40}, {40, 24, 4304}}) {
      const auto x = values_of(rows * depth, 1.0f), weight = values_of(columns * depth, 1.0f / std::sqrt(float(depth)));
      const auto bias = values_of(columns, 1.0f), residual = values_of(rows * columns, 1.0f);
      const std::int64_t panels = products.panels(columns);
      std::vector<TypeParam> packed(panels * products.panel * products.packed_depth(depth), from_float<TypeParam>(7.0f));
      products.pack(weight.data(), columns, depth, packed.data());
      for (const Activation activation :
           {Activation::none, Activation::quick_gelu, Activation::tanh_gelu, Activation::gelu}) {
        const bool with_residual = activation == Activation::none || activation == Activation::gelu;
        std::vector<TypeParam> out(rows * columns + 64, from_float<TypeParam>(-9.0f));
        Product<TypeParam> product;
        product.x = x.data(), product.weight = packed.data(), product.out = out.data();
        product.bias = activation == Activation::tanh_gelu ? nullptr : bias.data();
        product.residual = with_residual ? residual.data() : nullptr;
        product.rows = rows, product.depth = depth, product.columns = columns, product.activation = activation;
        // In two calls, as two threads share it.
        const std::int64_t middle = panels / 2 * products.panel;
        for (const auto& [begin, end] : {std::pair{std::int64_t{0}, middle}, std::pair{middle, columns}}) {
          product.begin = begin, product.end = end;
          if (begin < end) products.multiply(product);
        }
        for (std::size_t i = rows * columns; i < out.size(); ++i) ASSERT_EQ(to_float(out[i]), -9.0f) << "past the end";
        std::mt19937 generator(5);
        for (int sample = 0; sample < 200; ++sample) {
          const std::int64_t r = sample == 0 ? rows - 1 : generator() % rows;
          const std::int64_t c = sample == 0 ? columns - 1 : generator() % columns;
          double wanted = product.bias == nullptr ? 0.0 : to_float(bias[c]);
          for (std::int64_t i = 0; i < depth; ++i) wanted += double(to_float(x[r * depth + i])) * to_float(weight[c * depth + i]);
          wanted = activated(wanted, activation) + (with_residual ? to_float(residual[r * columns + c]) : 0.0);
          const double close = (std::is_same_v<TypeParam, float> ? 1e-5 : 0.005) * std::max(1.0, std::abs(wanted));
          ASSERT_NEAR(to_float(out[r * columns + c]), wanted, close)
              << name << " " << rows << " x " << columns << " x " << depth << " at " << r << ", " << c;
        }
      }
    }
  }
}

// A picture's vector must not depend on where in a batch it is.
TYPED_TEST(TowerKernelsOf, EqualRowsGiveEqualResults) {
  constexpr std::int64_t kRowCount = 75, kColumns = 50, kDepth = 1000;
  for (const auto& [name, kernels] : sets_for<TypeParam>()) {
    const ProductKernels<TypeParam>& products = kernels.products;
    if (products.multiply == nullptr) continue;
    std::vector<TypeParam> x, weight;
    for (const float value : random_values(kDepth, 1.0f)) x.push_back(from_float<TypeParam>(value));
    for (const float value : random_values(kDepth * kColumns, 1.0f)) weight.push_back(from_float<TypeParam>(value));
    for (std::int64_t i = 0; i < (kRowCount - 1) * kDepth; ++i) x.push_back(x[i]);
    const std::int64_t panels = products.panels(kColumns);
    std::vector<TypeParam> packed(panels * products.panel * products.packed_depth(kDepth)), out(kRowCount * kColumns);
    products.pack(weight.data(), kColumns, kDepth, packed.data());
    Product<TypeParam> product;
    product.x = x.data(), product.weight = packed.data(), product.out = out.data();
    product.rows = kRowCount, product.depth = kDepth, product.columns = product.end = kColumns;
    products.multiply(product);
    for (std::int64_t i = kColumns; i < kRowCount * kColumns; ++i) {
      ASSERT_EQ(to_float(out[i]), to_float(out[i - kColumns])) << name << " " << i;
    }
  }
}

// A layer norm, a product with an activation and another product, rows packed between them.
TEST(PackedRows, LeadFromOneStepToTheNext) {
  struct Shape {
    std::int64_t rows, depth, hidden;
  };
  const auto rounded = [](double value) { return to_float(from_float<Bfloat16>(static_cast<float>(value))); };
  const auto halves_of = [](std::size_t count, float spread, float middle) {
    std::vector<Bfloat16> values;
    for (const float value : random_values(count, spread)) values.push_back(from_float<Bfloat16>(value + middle));
    return values;
  };
  int tried = 0;
  for (const auto& [name, kernels] : sets_for<Bfloat16>()) {
    const ProductKernels<Bfloat16>& products = kernels.products;
    if (products.packed_rows == nullptr) continue;
    ++tried;
    ASSERT_NE(kernels.normalize, nullptr) << name;
    const auto multiply = [&](const std::vector<Bfloat16>& weight, Product<Bfloat16> product) {
      std::vector<Bfloat16> packed(products.panels(product.columns) * products.panel * products.packed_depth(product.depth));
      products.pack(weight.data(), product.columns, product.depth, packed.data());
      product.weight = packed.data(), product.end = product.columns;
      products.multiply(product);
    };
    for (const auto [rows, depth, hidden] : {Shape{1, 8, 24}, {3, 32, 16}, {17, 40, 80}, {50, 100, 48}, {100, 64, 4304}, {1300, 512, 33}}) {
      const auto x = halves_of(rows * depth, 2.0f, 0.5f), scale = halves_of(depth, 0.2f, 1.0f), shift = halves_of(depth, 0.2f, 0.0f);
      const auto up = halves_of(hidden * depth, 0.2f, 0.0f), down = halves_of(depth * hidden, 0.1f, 0.0f);
      // Memory that holds NaN wherever nothing was written.
      const Bfloat16 nan = from_float<Bfloat16>(std::numeric_limits<float>::quiet_NaN());
      std::vector<Bfloat16> normal(products.packed_rows(rows, depth), nan), middle(products.packed_rows(rows, hidden), nan);
      std::vector<Bfloat16> out(rows * depth, nan);
      LayerNorm<Bfloat16> norm{x.data(), scale.data(), shift.data(), normal.data(), rows, depth};
      norm.epsilon = 1e-5f;
      const std::int64_t places = products.packed_rows(rows, depth) / products.packed_depth(depth);
      for (const auto& [begin, end] : {std::pair{std::int64_t{0}, places / 3}, std::pair{places / 3, places}}) {
        norm.begin = begin, norm.end = end;
        kernels.normalize(norm);
      }
      Product<Bfloat16> first, second;
      first.x = normal.data(), first.out = middle.data(), first.rows = rows, first.depth = depth, first.columns = hidden;
      first.activation = Activation::quick_gelu, first.x_packed = first.pack_out = true;
      second.x = middle.data(), second.out = out.data(), second.rows = rows, second.depth = hidden, second.columns = depth;
      second.residual = x.data(), second.x_packed = true;
      multiply(up, first);
      multiply(down, second);
      for (const std::int64_t r : {std::int64_t{0}, rows / 2, rows - 1}) {
        double mean = 0, square = 0;
        for (std::int64_t i = 0; i < depth; ++i) mean += to_float(x[r * depth + i]) / double(depth);
        for (std::int64_t i = 0; i < depth; ++i) square += std::pow(to_float(x[r * depth + i]) - mean, 2) / double(depth);
        std::vector<double> normalised(depth), inner(hidden);
        for (std::int64_t i = 0; i < depth; ++i) {
          const double value = (to_float(x[r * depth + i]) - mean) / std::sqrt(square + 1e-5);
          normalised[i] = rounded(value * to_float(scale[i]) + to_float(shift[i]));
        }
        for (std::int64_t h = 0; h < hidden; ++h) {
          for (std::int64_t i = 0; i < depth; ++i) inner[h] += normalised[i] * to_float(up[h * depth + i]);
          inner[h] = rounded(activated(inner[h], Activation::quick_gelu));
        }
        for (std::int64_t c = 0; c < depth; ++c) {
          double wanted = to_float(x[r * depth + c]);
          for (std::int64_t h = 0; h < hidden; ++h) wanted += inner[h] * to_float(down[c * hidden + h]);
          ASSERT_NEAR(to_float(out[r * depth + c]), wanted, 0.01 * std::max(1.0, std::abs(wanted)))
              << name << " " << rows << " x " << depth << " x " << hidden << " at " << r << ", " << c;
        }
      }
    }
  }
  if (tried == 0) GTEST_SKIP() << "this CPU has no packed rows";
}

TYPED_TEST(TowerKernelsOf, ActivationsEqualTheirFormulas) {
  for (const auto& [name, kernels] : sets_for<TypeParam>()) {
    const auto run = [](auto activation, std::vector<float> values) {
      std::vector<TypeParam> held;
      for (const float value : values) held.push_back(from_float<TypeParam>(value));
      held.push_back(from_float<TypeParam>(3.0f));
      activation(held.data(), static_cast<std::int64_t>(values.size()));
      EXPECT_EQ(to_float(held.back()), 3.0f) << "written past the end";
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = to_float(held[i]);
      return values;
    };
    for (const std::size_t count : {1u, 7u, 8u, 9u, 16u, 17u, 1000u}) {
      std::vector<float> values = random_values(count, 4.0f);
      for (float& value : values) value = to_float(from_float<TypeParam>(value));
      const std::vector<float> quick = run(kernels.quick_gelu, values), tanh = run(kernels.tanh_gelu, values);
      for (std::size_t i = 0; i < count; ++i) {
        const double x = values[i];
        // float32: an absolute 2e-6; bfloat16: half a unit of the last of 8 bits.
        const double close = std::is_same_v<TypeParam, float> ? 2e-6 : std::abs(x) / 250.0;
        ASSERT_NEAR(quick[i], x / (1.0 + std::exp(-1.702 * x)), close) << name << " " << x;
        ASSERT_NEAR(tanh[i], 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x))),
                    close)
            << name << " " << x;
      }
    }
    for (const auto activation : {kernels.quick_gelu, kernels.tanh_gelu}) {
      const std::vector<float> out =
          run(activation, {-1e30f, -200.0f, 200.0f, 1e30f, std::numeric_limits<float>::quiet_NaN()});
      EXPECT_NEAR(out[1], 0.0f, 1e-30f) << name;
      EXPECT_EQ(out[2], 200.0f) << name;
      EXPECT_NEAR(out[3] / 1e30f, 1.0f, 0.004f) << name;
      EXPECT_TRUE(std::isnan(out[4])) << name;
    }
  }
}

}  // namespace
}  // namespace probe
