#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "encoders/tower_kernel_sets.h"

#ifdef PROBE_HAS_X86_KERNELS

#include "encoders/avx512_math.h"

namespace probe {
namespace {

constexpr std::int64_t kPanel = 2 * kLanes;  // columns
constexpr int kMostRows = 14;                // at a time: 28 sums, 2 loads and a broadcast of 32 registers
constexpr std::int64_t kMostDepth = 768;     // of a panel, 96 KiB, that meets all rows of a block
constexpr std::int64_t kBlock = 24 * kMostRows;  // rows, 1 MB packed
constexpr std::int64_t kAhead = 12;          // steps that a panel's lines are asked for before they are used

std::int64_t packed_depth(std::int64_t depth) { return depth; }

// weight [columns, depth] as panels [columns / 32][depth][32], zeros beyond the last column.
PROBE_AVX512 void pack(const float* weight, std::int64_t columns, std::int64_t depth, float* out) {
  for (std::int64_t first = 0; first < columns; first += kPanel, out += kPanel * depth) {
    for (std::int64_t j = 0; j < kPanel; ++j) {
      const bool some = first + j < columns;
      const float* const row = weight + (some ? first + j : 0) * depth;
      for (std::int64_t i = 0; i < depth; ++i) out[i * kPanel + j] = some ? row[i] : 0.0f;
    }
  }
}

// Some rows times a panel, `depth` deep.
struct Part {
  const float* rows = nullptr;   // [depth][count of rows]
  const float* panel = nullptr;  // [depth][32]
  const float* coming = nullptr;  // of the next panel, what is asked for beside this part, from memory
  std::int64_t coming_a_step = 0;
  std::int64_t depth = 0;
  bool first = true, last = true;       // of the parts of the whole depth
  std::int64_t row = 0, column = 0;     // of the result
};

// Sums are finished in the result itself, which is float32 as they are. Indices are constants of a fold: of
// a loop over rows GCC 12 keeps the sums in memory.
template <int... r>
PROBE_AVX512_INLINE void multiply_rows(const Product<float>& product, const Part& part, std::integer_sequence<int, r...>) {
  constexpr int kRows = sizeof...(r);
  const __mmask16 low_lanes = first_lanes(product.columns - part.column);
  const __mmask16 high_lanes = first_lanes(std::max<std::int64_t>(0, product.columns - part.column - kLanes));
  float* const out = product.out + part.row * product.columns + part.column;
  const std::int64_t stride = product.columns;
  __m512 low[kRows], high[kRows];
  // What is there already is added at the end, when it has come.
  ((_mm_prefetch(out + r * stride, _MM_HINT_T0), _mm_prefetch(out + r * stride + kLanes, _MM_HINT_T0)), ...);
  ((low[r] = _mm512_setzero_ps(), high[r] = _mm512_setzero_ps()), ...);
  const float *row = part.rows, *panel = part.panel, *coming = part.coming;
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < part.depth; ++i, row += kRows, panel += kPanel, coming += part.coming_a_step) {
    _mm_prefetch(coming, _MM_HINT_T1);
    _mm_prefetch(panel + kAhead * kPanel, _MM_HINT_T0);
    _mm_prefetch(panel + kAhead * kPanel + kLanes, _MM_HINT_T0);
    const __m512 left = _mm512_loadu_ps(panel), right = _mm512_loadu_ps(panel + kLanes);
    ((low[r] = _mm512_fmadd_ps(_mm512_set1_ps(row[r]), left, low[r]),
      high[r] = _mm512_fmadd_ps(_mm512_set1_ps(row[r]), right, high[r])), ...);
  }
  if (!part.first) {
    ((low[r] = _mm512_add_ps(low[r], load(out + r * stride, low_lanes)),
      high[r] = _mm512_add_ps(high[r], load(out + r * stride + kLanes, high_lanes))), ...);
  }
  if (part.last && product.bias != nullptr) {
    const __m512 left = load(product.bias + part.column, low_lanes);
    const __m512 right = load(product.bias + part.column + kLanes, high_lanes);
    ((low[r] = _mm512_add_ps(low[r], left), high[r] = _mm512_add_ps(high[r], right)), ...);
  }
  if (part.last && product.activation != Activation::none) {
    ((low[r] = activate(low[r], product.activation), high[r] = activate(high[r], product.activation)), ...);
  }
  if (part.last && product.residual != nullptr) {
    const float* const residual = product.residual + part.row * stride + part.column;
    ((low[r] = _mm512_add_ps(low[r], load(residual + r * stride, low_lanes)),
      high[r] = _mm512_add_ps(high[r], load(residual + r * stride + kLanes, high_lanes))), ...);
  }
  ((store(out + r * stride, low_lanes, low[r]), store(out + r * stride + kLanes, high_lanes, high[r])), ...);
}

template <int rows>
PROBE_AVX512 void multiply_part(const Product<float>& product, const Part& part) {
  multiply_rows(product, part, std::make_integer_sequence<int, rows>());
}

template <int... r>
constexpr std::array<void (*)(const Product<float>&, const Part&), sizeof...(r)> parts_of(std::integer_sequence<int, r...>) {
  return {multiply_part<r + 1>...};
}
constexpr auto kMultiply = parts_of(std::make_integer_sequence<int, kMostRows>());

// A run of rows, cut into as equal parts as can be: which rows part `i` of `count` has.
struct Span {
  std::int64_t begin = 0, size = 0;
  Span part(std::int64_t i, std::int64_t count) const {
    const std::int64_t from = size * i / count;
    return {begin + from, size * (i + 1) / count - from};
  }
};

// A group of rows, a part of their depth, as [depth][rows].
void pack_rows(const Product<float>& product, Span group, std::int64_t begin, std::int64_t depth, float* out) {
  for (std::int64_t r = 0; r < group.size; ++r) {
    const float* const row = product.x + (group.begin + r) * product.depth + begin;
    for (std::int64_t i = 0; i < depth; ++i) out[i * group.size + r] = row[i];
  }
}

PROBE_AVX512 void multiply(const Product<float>& product) {
  const std::int64_t blocks = (product.rows + kBlock - 1) / kBlock;
  const auto packed = std::make_unique_for_overwrite<float[]>(std::min(product.rows, kBlock) * kMostDepth);
  for (std::int64_t i = 0; i < blocks; ++i) {
    const Span block = Span{0, product.rows}.part(i, blocks);
    const std::int64_t groups = (block.size + kMostRows - 1) / kMostRows;
    for (std::int64_t begin = 0; begin < product.depth; begin += kMostDepth) {
      Part part;
      part.depth = std::min(kMostDepth, product.depth - begin);
      part.coming_a_step = (kPanel + groups - 1) / groups;
      part.first = begin == 0, part.last = begin + part.depth == product.depth;
      const auto packed_at = [&](Span group) { return packed.get() + (group.begin - block.begin) * part.depth; };
      for (std::int64_t g = 0; g < groups; ++g) {
        const Span group = block.part(g, groups);
        pack_rows(product, group, begin, part.depth, packed_at(group));
      }
      for (part.column = product.begin; part.column < product.end; part.column += kPanel) {
        part.panel = product.weight + part.column * product.depth + begin * kPanel;
        for (std::int64_t g = 0; g < groups; ++g) {
          const Span group = block.part(g, groups);
          part.rows = packed_at(group);
          part.row = group.begin;
          part.coming = part.panel + kPanel * product.depth + g * part.coming_a_step * part.depth;
          kMultiply[group.size - 1](product, part);
        }
      }
    }
  }
}

}  // namespace

// MKL's is up to a tenth faster beyond.
ProductKernels<float> avx512_products() { return {kPanel, packed_depth, pack, multiply, 512}; }

}  // namespace probe

#endif
