#include <algorithm>

#include "encoders/tower_kernel_sets.h"

#ifdef PROBE_HAS_X86_KERNELS

#include "encoders/avx512_math.h"

namespace probe {
namespace {

constexpr int kRows = 6;         // queries at a time: 24 sums, 4 loads and 1 broadcast of 32 registers
constexpr int kGroups = 4;       // of queries that meet a panel while it is in the first cache
constexpr int kMostVectors = 4;  // of a panel: 64 keys, or 64 values of a row

std::int64_t up(std::int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

template <int n>
struct Vectors {
  __m512 part[n];
};

template <int n>
PROBE_AVX512_INLINE void clear(Vectors<n>& sums) {
  for (int i = 0; i < n; ++i) sums.part[i] = _mm512_setzero_ps();
}
template <int n>
PROBE_AVX512_INLINE void add_product(Vectors<n>& sums, const float* value, const Vectors<n>& panel) {
  const __m512 all = _mm512_set1_ps(*value);
  for (int i = 0; i < n; ++i) sums.part[i] = _mm512_fmadd_ps(all, panel.part[i], sums.part[i]);
}
template <int n>
PROBE_AVX512_INLINE void write(const Vectors<n>& sums, float factor, float* out) {
  const __m512 all = _mm512_set1_ps(factor);
  for (int i = 0; i < n; ++i) _mm512_storeu_ps(out + i * kLanes, _mm512_mul_ps(sums.part[i], all));
}

struct FloatRows {
  float* data;
  std::int64_t stride;
};

// out[r][j] = factor[r] times the sum over i of left[r][i] panel[i][j], for kRows rows and the 16 n
// columns of a panel. Row by row: in a loop over rows GCC 12 keeps the sums in memory.
template <int n>
PROBE_AVX512 void multiply(FloatRows left, const float* panel, std::int64_t count, FloatRows out,
                           const float* factor) {
  static_assert(kRows == 6);
  Vectors<n> sums0, sums1, sums2, sums3, sums4, sums5, right;
  clear(sums0), clear(sums1), clear(sums2), clear(sums3), clear(sums4), clear(sums5);
  const std::int64_t row = left.stride;
  for (std::int64_t i = 0; i < count; ++i) {
    for (int j = 0; j < n; ++j) right.part[j] = _mm512_loadu_ps(panel + (i * n + j) * kLanes);
    const float* const value = left.data + i;
    add_product(sums0, value, right);
    add_product(sums1, value + row, right);
    add_product(sums2, value + 2 * row, right);
    add_product(sums3, value + 3 * row, right);
    add_product(sums4, value + 4 * row, right);
    add_product(sums5, value + 5 * row, right);
  }
  write(sums0, factor[0], out.data);
  write(sums1, factor[1], out.data + out.stride);
  write(sums2, factor[2], out.data + 2 * out.stride);
  write(sums3, factor[3], out.data + 3 * out.stride);
  write(sums4, factor[4], out.data + 4 * out.stride);
  write(sums5, factor[5], out.data + 5 * out.stride);
}

// All panels for `rows` (a multiple of kRows) rows: `columns` (a multiple of 16) of out, count rows in
// each panel.
PROBE_AVX512 void multiply_all(FloatRows left, std::int64_t rows, const float* panels,
                               std::int64_t count, std::int64_t columns, FloatRows out,
                               const float* factor) {
  constexpr decltype(&multiply<1>) kMultiply[] = {multiply<1>, multiply<2>, multiply<3>, multiply<4>};
  for (std::int64_t first = 0; first < columns; first += kMostVectors * kLanes) {
    const auto n = std::min<std::int64_t>(kMostVectors, (columns - first) / kLanes);
    for (std::int64_t row = 0; row < rows; row += kRows) {
      kMultiply[n - 1]({left.data + row * left.stride, left.stride}, panels + first * count, count,
                       {out.data + row * out.stride + first, out.stride}, factor + row);
    }
  }
}

// Keys as panels [padded / 64][width][64], the last one narrower, zeros after the last key.
template <typename T>
PROBE_AVX512 void pack_keys(const Head<T>& head, std::int64_t padded, float* out) {
  for (std::int64_t first = 0; first < padded; first += kMostVectors * kLanes) {
    const std::int64_t columns = std::min(kMostVectors * kLanes, padded - first);
    for (std::int64_t j = 0; j < columns; ++j) {
      const bool none = first + j >= head.keys;
      const T* const row = head.k + (none ? 0 : first + j) * head.k_stride;
      float values[kLanes];
      for (std::int64_t i = 0; i < head.width; i += kLanes) {
        const std::int64_t count = std::min(kLanes, head.width - i);
        _mm512_storeu_ps(values, load(row + i, none ? __mmask16(0) : first_lanes(count)));
        for (std::int64_t lane = 0; lane < count; ++lane) out[(i + lane) * columns + j] = values[lane];
      }
    }
    out += columns * head.width;
  }
}

// Values as panels [columns / 64][padded keys][64], the last one narrower, zeros after the last row
// and column.
template <typename T>
PROBE_AVX512 void pack_values(const Head<T>& head, std::int64_t padded, float* out) {
  const std::int64_t all = up(head.width);
  for (std::int64_t first = 0; first < all; first += kMostVectors * kLanes) {
    const std::int64_t columns = std::min(kMostVectors * kLanes, all - first);
    for (std::int64_t row = 0; row < padded; ++row) {
      for (std::int64_t i = 0; i < columns; i += kLanes, out += kLanes) {
        const std::int64_t count = row < head.keys ? head.width - first - i : 0;
        _mm512_storeu_ps(out, load(head.v + (count > 0 ? row * head.v_stride + first + i : 0),
                                   first_lanes(std::max<std::int64_t>(0, count))));
      }
    }
  }
}

// Scores to weights that are not yet divided by their sum, which is returned. Those of the padding
// become as good as 0 (e^-87), and meet values of 0.
PROBE_AVX512 float softmax(float* scores, std::int64_t keys, std::int64_t padded) {
  std::fill(scores + keys, scores + padded, -1e30f);
  __m512 most = _mm512_loadu_ps(scores);
  for (std::int64_t i = kLanes; i < padded; i += kLanes) {
    most = _mm512_max_ps(most, _mm512_loadu_ps(scores + i));
  }
  const __m512 largest = _mm512_set1_ps(_mm512_reduce_max_ps(most));
  __m512 sum = _mm512_setzero_ps();
  for (std::int64_t i = 0; i < padded; i += kLanes) {
    const __m512 below = _mm512_sub_ps(_mm512_loadu_ps(scores + i), largest);
    const __m512 weight = exp_between(_mm512_max_ps(_mm512_set1_ps(-87.0f), below));
    _mm512_storeu_ps(scores + i, weight);
    sum = _mm512_add_ps(sum, weight);
  }
  return _mm512_reduce_add_ps(sum);
}

template <typename T>
PROBE_AVX512 void attend(const Head<T>& head, Scratch& scratch) {
  const std::int64_t padded = up(head.keys), columns = up(head.width);
  constexpr std::int64_t kQueries = kRows * kGroups;
  scratch.resize(padded * head.width + padded * columns + kQueries * (2 * columns + padded));
  float* const keys = scratch.data();
  float* const values = keys + padded * head.width;
  const FloatRows queries{values + padded * columns, columns};
  const FloatRows out{queries.data + kQueries * columns, columns};
  const FloatRows scores{out.data + kQueries * columns, padded};
  pack_keys(head, padded, keys);
  pack_values(head, padded, values);
  float scale[kQueries], share[kQueries];
  std::fill_n(scale, kQueries, head.scale);
  for (std::int64_t begin = 0; begin < head.rows; begin += kQueries) {
    const std::int64_t count = std::min(kQueries, head.rows - begin);
    const std::int64_t rows = (count + kRows - 1) / kRows * kRows;
    for (std::int64_t r = 0; r < rows; ++r) {  // past the end: the last row once more
      const T* const query = head.q + std::min(begin + r, head.rows - 1) * head.q_stride;
      for (std::int64_t i = 0; i < head.width; i += kLanes) {
        _mm512_storeu_ps(queries.data + r * columns + i, load(query + i, first_lanes(head.width - i)));
      }
    }
    multiply_all(queries, rows, keys, head.width, padded, scores, scale);
    for (std::int64_t r = 0; r < rows; ++r) {
      share[r] = 1.0f / softmax(scores.data + r * padded, head.keys, padded);
    }
    multiply_all(scores, rows, values, padded, columns, out, share);
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t i = 0; i < head.width; i += kLanes) {
        store(head.out + (begin + r) * head.out_stride + i, first_lanes(head.width - i),
              _mm512_loadu_ps(out.data + r * columns + i));
      }
    }
  }
}

template <typename T, Activation activation>
PROBE_AVX512 void activate_all(T* values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const __mmask16 lanes = first_lanes(count - i);
    store(values + i, lanes, activate(load(values + i, lanes), activation));
  }
}

}  // namespace

TowerKernels avx512_kernels() {
  return {"avx512",
          {attend<float>, activate_all<float, Activation::quick_gelu>, activate_all<float, Activation::tanh_gelu>,
           avx512_products()},
          {attend<Bfloat16>, activate_all<Bfloat16, Activation::quick_gelu>,
           activate_all<Bfloat16, Activation::tanh_gelu>, {}}};
}

}  // namespace probe

#endif
