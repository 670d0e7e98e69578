#include <algorithm>

#include "encoders/tower_kernel_sets.h"

#ifdef PROBE_HAS_X86_KERNELS

#include <immintrin.h>

#define PROBE_AVX2 __attribute__((target("avx2,fma")))
#define PROBE_AVX2_INLINE __attribute__((target("avx2,fma"), always_inline)) inline

namespace probe {
namespace {

constexpr std::int64_t kPanel = 16;  // keys, or values of a row: two vectors of eight
constexpr int kRows = 6;             // queries at a time: 12 sums, 2 loads and 2 to spare of 16 registers

// e^x for -87 <= x <= 88, to about one unit in the last place; NaN stays. The polynomial is that of
// Cephes' expf (Moshier), after ln 2 in two parts (Cody and Waite).
PROBE_AVX2_INLINE __m256 exp_between(__m256 x) {
  const __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)),
                                   _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
  __m256 sum = _mm256_set1_ps(1.9875691500e-4f);
  sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1.3981999507e-3f));
  sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(8.3334519073e-3f));
  sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(4.1665795894e-2f));
  sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1.6666665459e-1f));
  sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(5.0000001201e-1f));
  sum = _mm256_fmadd_ps(sum, _mm256_mul_ps(r, r), _mm256_add_ps(r, _mm256_set1_ps(1.0f)));
  const __m256i power = _mm256_slli_epi32(
      _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
  return _mm256_mul_ps(sum, _mm256_castsi256_ps(power));
}

// The nearest to x of that range. The order of operands keeps NaN.
PROBE_AVX2_INLINE __m256 bounded(__m256 x) {
  return _mm256_min_ps(_mm256_set1_ps(88.0f), _mm256_max_ps(_mm256_set1_ps(-87.0f), x));
}

PROBE_AVX2_INLINE float sum_of(__m256 x) {
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

PROBE_AVX2_INLINE float max_of(__m256 x) {
  __m128 half = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  half = _mm_max_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}

// Sums of one query: 16 columns of a panel.
struct Sums {
  __m256 first, second;
};

PROBE_AVX2_INLINE Sums no_sums() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
PROBE_AVX2_INLINE void add_product(Sums& sums, const float* value, __m256 first, __m256 second) {
  const __m256 all = _mm256_broadcast_ss(value);
  sums.first = _mm256_fmadd_ps(all, first, sums.first);
  sums.second = _mm256_fmadd_ps(all, second, sums.second);
}
PROBE_AVX2_INLINE void store(const Sums& sums, float factor, float* out) {
  const __m256 all = _mm256_set1_ps(factor);
  _mm256_storeu_ps(out, _mm256_mul_ps(sums.first, all));
  _mm256_storeu_ps(out + 8, _mm256_mul_ps(sums.second, all));
}

// out[r][0..15] = sum over i of left[r][i] panel[i][0..15], times factor[r]. Written out row by row:
// in a loop GCC 12 keeps the sums in memory.
PROBE_AVX2_INLINE void multiply(const float* const* left, const float* panel, std::int64_t count,
                                float* const* out, const float* factor) {
  static_assert(kRows == 6);
  Sums sums0 = no_sums(), sums1 = no_sums(), sums2 = no_sums();
  Sums sums3 = no_sums(), sums4 = no_sums(), sums5 = no_sums();
  const float *left0 = left[0], *left1 = left[1], *left2 = left[2];
  const float *left3 = left[3], *left4 = left[4], *left5 = left[5];
  for (std::int64_t i = 0; i < count; ++i) {
    const __m256 first = _mm256_loadu_ps(panel + i * kPanel);
    const __m256 second = _mm256_loadu_ps(panel + i * kPanel + 8);
    add_product(sums0, left0 + i, first, second);
    add_product(sums1, left1 + i, first, second);
    add_product(sums2, left2 + i, first, second);
    add_product(sums3, left3 + i, first, second);
    add_product(sums4, left4 + i, first, second);
    add_product(sums5, left5 + i, first, second);
  }
  store(sums0, factor[0], out[0]);
  store(sums1, factor[1], out[1]);
  store(sums2, factor[2], out[2]);
  store(sums3, factor[3], out[3]);
  store(sums4, factor[4], out[4]);
  store(sums5, factor[5], out[5]);
}

// Scores to weights that are not yet divided by their sum, which is returned. Those of the padding
// become as good as 0 (e^-87), and meet values of 0.
PROBE_AVX2_INLINE float softmax(float* scores, std::int64_t keys, std::int64_t padded) {
  std::fill(scores + keys, scores + padded, -1e30f);
  __m256 most = _mm256_loadu_ps(scores);
  for (std::int64_t i = 8; i < padded; i += 8) {
    most = _mm256_max_ps(most, _mm256_loadu_ps(scores + i));
  }
  const __m256 largest = _mm256_set1_ps(max_of(most));
  __m256 sum = _mm256_setzero_ps();
  for (std::int64_t i = 0; i < padded; i += 8) {
    const __m256 below = _mm256_sub_ps(_mm256_loadu_ps(scores + i), largest);
    const __m256 weight = exp_between(_mm256_max_ps(_mm256_set1_ps(-87.0f), below));
    _mm256_storeu_ps(scores + i, weight);
    sum = _mm256_add_ps(sum, weight);
  }
  return sum_of(sum);
}

// Keys as panels [keys / 16][width][16], zeros after the last.
void pack_keys(const Head<float>& head, float* out) {
  for (std::int64_t first = 0; first < head.keys; first += kPanel, out += head.width * kPanel) {
    const std::int64_t count = std::min(kPanel, head.keys - first);
    for (std::int64_t j = 0; j < kPanel; ++j) {
      const float* row = head.k + (first + j) * head.k_stride;
      for (std::int64_t i = 0; i < head.width; ++i) out[i * kPanel + j] = j < count ? row[i] : 0.0f;
    }
  }
}

// Values as panels [width / 16][padded keys][16], zeros after the last row and column.
void pack_values(const Head<float>& head, std::int64_t padded, float* out) {
  for (std::int64_t first = 0; first < head.width; first += kPanel) {
    const std::int64_t count = std::min(kPanel, head.width - first);
    for (std::int64_t row = 0; row < padded; ++row, out += kPanel) {
      if (row < head.keys) std::copy_n(head.v + row * head.v_stride + first, count, out);
      std::fill(row < head.keys ? out + count : out, out + kPanel, 0.0f);
    }
  }
}

PROBE_AVX2 void attend(const Head<float>& head, Scratch& scratch) {
  const auto up = [](std::int64_t n) { return (n + kPanel - 1) / kPanel * kPanel; };
  const std::int64_t padded = up(head.keys);
  scratch.resize(padded * head.width + padded * up(head.width) + kRows * padded);
  float* const keys = scratch.data();
  float* const values = keys + padded * head.width;
  float* const scores = values + padded * up(head.width);
  pack_keys(head, keys);
  pack_values(head, padded, values);
  const float* query[kRows];
  float* score[kRows];
  float factor[kRows], sum[kRows], spill[kRows][kPanel];
  for (std::int64_t begin = 0; begin < head.rows; begin += kRows) {
    const int count = static_cast<int>(std::min<std::int64_t>(kRows, head.rows - begin));
    for (int r = 0; r < kRows; ++r) {  // past the end: the last row once more
      query[r] = head.q + (begin + std::min(r, count - 1)) * head.q_stride;
      factor[r] = head.scale;
    }
    for (std::int64_t key = 0; key < padded; key += kPanel) {
      for (int r = 0; r < kRows; ++r) score[r] = scores + r * padded + key;
      multiply(query, keys + key * head.width, head.width, score, factor);
    }
    const float* weights[kRows];
    for (int r = 0; r < kRows; ++r) {
      weights[r] = scores + r * padded;
      sum[r] = 1.0f / softmax(scores + r * padded, head.keys, padded);
    }
    for (std::int64_t column = 0; column < head.width; column += kPanel) {
      float* target[kRows];
      const bool whole = column + kPanel <= head.width;
      for (int r = 0; r < kRows; ++r) {
        target[r] = whole && r < count ? head.out + (begin + r) * head.out_stride + column : spill[r];
      }
      multiply(weights, values + column * padded, padded, target, sum);
      if (whole) continue;
      for (int r = 0; r < count; ++r) {
        std::copy_n(spill[r], head.width - column, head.out + (begin + r) * head.out_stride + column);
      }
    }
  }
}

// x / (1 + e^-g(x)), eight at a time; `tanh`: g(x) = 2 sqrt(2 / pi) (x + 0.044715 x^3).
PROBE_AVX2_INLINE __m256 gate(__m256 x, bool tanh) {
  const __m256 cubic = _mm256_fmadd_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(0.044715f), _mm256_set1_ps(1.0f));
  const __m256 g = tanh ? _mm256_mul_ps(_mm256_mul_ps(x, _mm256_set1_ps(-1.5957691f)), cubic)
                        : _mm256_mul_ps(x, _mm256_set1_ps(-1.702f));
  return _mm256_div_ps(x, _mm256_add_ps(_mm256_set1_ps(1.0f), exp_between(bounded(g))));
}

PROBE_AVX2_INLINE void gate_all(float* values, std::int64_t count, bool tanh) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) _mm256_storeu_ps(values + i, gate(_mm256_loadu_ps(values + i), tanh));
  if (i == count) return;
  float rest[8] = {};
  std::copy(values + i, values + count, rest);
  _mm256_storeu_ps(rest, gate(_mm256_loadu_ps(rest), tanh));
  std::copy_n(rest, count - i, values + i);
}

PROBE_AVX2 void quick_gelu(float* values, std::int64_t count) { gate_all(values, count, false); }
PROBE_AVX2 void tanh_gelu(float* values, std::int64_t count) { gate_all(values, count, true); }

}  // namespace

TowerKernels avx2_kernels() { return {"avx2", {attend, quick_gelu, tanh_gelu, {}}, {}}; }

}  // namespace probe

#endif
