#include <algorithm>
#include <cstring>
#include <utility>

#include "encoders/tower_kernel_sets.h"

#ifdef PROBE_HAS_X86_KERNELS

#include "encoders/amx_tiles.h"

namespace probe {
namespace {

constexpr std::int64_t kTile = 256;      // floats of memory in a tile
constexpr std::int64_t kQueries = 32;    // at a time: two tiles of them
constexpr std::int64_t kCacheLine = 16;  // floats

std::int64_t up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

// out[32 or 16][32 or 16] (floats, `out_stride` between rows) = left right. left: halves in rows of
// `left_stride` floats; right: tiles [depth / 32] of a column of tiles, the second column
// `next_column` floats on.
template <bool two_rows, bool two_columns>
PROBE_AMX void multiply(const float* left, std::int64_t left_stride, const float* right,
                        std::int64_t next_column, std::int64_t steps, float* out,
                        std::int64_t out_stride) {
  _tile_zero(0);
  if constexpr (two_columns) _tile_zero(1);
  if constexpr (two_rows) _tile_zero(2);
  if constexpr (two_rows && two_columns) _tile_zero(3);
  for (std::int64_t step = 0; step < steps; ++step) {
    const float* const rows = left + step * (kDepth / 2);
    const float* const columns = right + step * kTile;
    _tile_loadd(4, rows, left_stride * 4);
    _tile_loadd(6, columns, 64);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (two_columns) {
      _tile_loadd(7, columns + next_column, 64);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (two_rows) {
      _tile_loadd(5, rows + kSide * left_stride, left_stride * 4);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (two_columns) _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, out, out_stride * 4);
  if constexpr (two_columns) _tile_stored(1, out + kSide, out_stride * 4);
  if constexpr (two_rows) _tile_stored(2, out + kSide * out_stride, out_stride * 4);
  if constexpr (two_rows && two_columns) {
    _tile_stored(3, out + kSide * out_stride + kSide, out_stride * 4);
  }
}

// All columns of tiles, two at a time.
template <bool two_rows>
PROBE_AMX void multiply_all(const float* left, std::int64_t left_stride, const float* right,
                            std::int64_t steps, std::int64_t columns, float* out,
                            std::int64_t out_stride) {
  const std::int64_t next = steps * kTile;
  std::int64_t i = 0;
  for (; i + 2 * kSide <= columns; i += 2 * kSide) {
    multiply<two_rows, true>(left, left_stride, right + i / kSide * next, next, steps, out + i, out_stride);
  }
  if (i < columns) {
    multiply<two_rows, false>(left, left_stride, right + i / kSide * next, next, steps, out + i, out_stride);
  }
}

// Tiles 0 and 1, or 2 and 3, are one column of tiles.
template <bool two_rows, bool odd>
PROBE_AMX_INLINE void multiply_column(const float* left, std::int64_t left_stride, const float* right,
                                      std::int64_t steps) {
  if constexpr (odd) { _tile_zero(2); _tile_zero(3); } else { _tile_zero(0); _tile_zero(1); }
  for (std::int64_t step = 0; step < steps; ++step) {
    const float* const rows = left + step * (kDepth / 2);
    _tile_loadd(6, right + step * kTile, 64);
    _tile_loadd(4, rows, left_stride * 4);
    if constexpr (odd) _tile_dpbf16ps(2, 4, 6); else _tile_dpbf16ps(0, 4, 6);
    if constexpr (two_rows) {
      _tile_loadd(5, rows + kSide * left_stride, left_stride * 4);
      if constexpr (odd) _tile_dpbf16ps(3, 5, 6); else _tile_dpbf16ps(1, 5, 6);
    }
  }
}
template <bool two_rows, bool odd>
PROBE_AMX_INLINE void store_column(float* out, std::int64_t out_stride) {
  if constexpr (odd) _tile_stored(2, out, out_stride * 4); else _tile_stored(0, out, out_stride * 4);
  if constexpr (two_rows) {
    if constexpr (odd) _tile_stored(3, out + kSide * out_stride, out_stride * 4);
    else _tile_stored(1, out + kSide * out_stride, out_stride * 4);
  }
}

// The largest of each row's scores: of lanes first.
using Largest = float[kQueries][kLanes];

PROBE_AMX_INLINE void find_largest(const float* scores, std::int64_t stride, std::int64_t rows, Largest& largest) {
  for (std::int64_t r = 0; r < rows; ++r, scores += stride) {
    const __m512 low = _mm512_max_ps(_mm512_load_ps(largest[r]), _mm512_load_ps(scores));
    _mm512_store_ps(largest[r], _mm512_max_ps(low, _mm512_load_ps(scores + kLanes)));
  }
}

// Queries times `keys` keys, -1e30 from there to `padded`. Each column of tiles is stored while the next one is
// under way, for a store waits for the products it comes from; beside them the last scores are looked through.
template <bool two_rows>
PROBE_AMX void multiply_scores(const float* queries, std::int64_t steps, const float* right, std::int64_t keys,
                               std::int64_t padded, float* scores, std::int64_t stride, Largest& largest) {
  constexpr std::int64_t kRows = two_rows ? kQueries : kSide;
  const std::int64_t left_stride = steps * kDepth / 2, next = steps * kTile;
  for (std::int64_t r = 0; r < kRows; ++r) std::fill_n(largest[r], kLanes, -1e30f);
  multiply_column<two_rows, false>(queries, left_stride, right, steps);
  for (std::int64_t i = 0; i < padded; i += 2 * kSide, right += 2 * next) {
    multiply_column<two_rows, true>(queries, left_stride, right + next, steps);
    store_column<two_rows, false>(scores + i, stride);
    if (i + 2 * kSide < padded) multiply_column<two_rows, false>(queries, left_stride, right + 2 * next, steps);
    store_column<two_rows, true>(scores + i + kSide, stride);
    if (i > 0) find_largest(scores + i - 2 * kSide, stride, kRows, largest);
  }
  for (std::int64_t r = 0; r < kRows; ++r) std::fill(scores + r * stride + keys, scores + r * stride + padded, -1e30f);
  find_largest(scores + padded - 2 * kSide, stride, kRows, largest);
}

// Halves of a row from `from` on, zeros after the last of `count`.
PROBE_AMX_INLINE void copy_halves(const Bfloat16* from, std::int64_t count, std::int64_t padded, float* to) {
  std::memcpy(to, from, count * sizeof(Bfloat16));
  std::memset(reinterpret_cast<Bfloat16*>(to) + count, 0, (padded - count) * sizeof(Bfloat16));
}

// Sixteen of a key's values from `i` on, zeros after the last.
PROBE_AMX_INLINE __m512i load_values(const Head<Bfloat16>& head, std::int64_t key, std::int64_t i) {
  if (key >= head.keys) return _mm512_setzero_si512();
  return _mm512_cvtepu16_epi32(
      _mm256_maskz_loadu_epi16(first_lanes(head.width - i), head.v + key * head.v_stride + i));
}

// v as tiles [columns / 16][padded / 32]: a pair of rows are two keys.
PROBE_AMX void pack_values(const Head<Bfloat16>& head, std::int64_t padded, std::int64_t columns, float* out) {
  for (std::int64_t i = 0; i < columns; i += kSide) {
    for (std::int64_t key = 0; key < padded; key += 2, out += kSide) {
      const __m512i second = _mm512_slli_epi32(load_values(head, key + 1, i), 16);
      _mm512_store_epi32(out, _mm512_or_epi32(load_values(head, key, i), second));
    }
  }
}

// Scores to halves of weights, written over them, that are not yet divided by their sum, which is
// returned. The padding's are 0.
PROBE_AMX float softmax(float* scores, const float* most, std::int64_t padded, float scale) {
  const __m512 factors = _mm512_set1_ps(scale * 1.44269504f);
  const __m512 largest = _mm512_mul_ps(_mm512_set1_ps(_mm512_reduce_max_ps(_mm512_load_ps(most))), factors);
  __m512 sum = _mm512_setzero_ps(), sum_of_others = sum;
  for (std::int64_t i = 0; i < padded; i += 2 * kLanes) {
    const __m512 low = power_of_two(_mm512_fmsub_ps(_mm512_load_ps(scores + i), factors, largest));
    const __m512 high = power_of_two(_mm512_fmsub_ps(_mm512_load_ps(scores + i + kLanes), factors, largest));
    sum = _mm512_add_ps(sum, low);
    sum_of_others = _mm512_add_ps(sum_of_others, high);
    // Halves take half of the place: never beyond what is read.
    _mm512_store_si512(scores + i / 2, (__m512i)_mm512_cvtne2ps_pbh(high, low));
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(sum, sum_of_others));
}

// A multiple of a cache line that is not one of 4096 bytes, whose rows would share few sets.
std::int64_t row_stride(std::int64_t floats) { return floats % 1024 == 0 ? floats + kCacheLine : floats; }

PROBE_AMX void attend(const Head<Bfloat16>& head, Scratch& scratch) {
  const std::int64_t padded = up(head.keys, kDepth), depth = up(head.width, kDepth);
  const std::int64_t columns = up(head.width, kSide), stride = row_stride(padded);
  scratch.resize(padded * depth / 2 + padded * columns / 2 +
                 kQueries * (depth / 2 + stride + columns) + kCacheLine);
  float* next = scratch.data();
  next += (64 - reinterpret_cast<std::uintptr_t>(next) % 64) % 64 / sizeof(float);
  const auto take = [&](std::int64_t floats) { return std::exchange(next, next + floats); };
  float* const keys = take(padded * depth / 2);
  float* const values = take(padded * columns / 2);
  float* const queries = take(kQueries * depth / 2);
  float* const scores = take(kQueries * stride);
  float* const out = take(kQueries * columns);
  pack_columns(head.k, head.k_stride, head.keys, padded, head.width, reinterpret_cast<Bfloat16*>(keys));
  pack_values(head, padded, columns, values);
  _tile_loadconfig(&kWholeTiles);
  for (std::int64_t begin = 0; begin < head.rows; begin += kQueries) {
    const std::int64_t count = std::min(kQueries, head.rows - begin);
    const std::int64_t tiled = up(count, kSide);
    for (std::int64_t r = 0; r < tiled; ++r) {  // past the end: the last row once more
      copy_halves(head.q + std::min(begin + r, head.rows - 1) * head.q_stride, head.width, depth,
                  queries + r * depth / 2);
    }
    alignas(64) Largest largest;
    const auto score = tiled > kSide ? multiply_scores<true> : multiply_scores<false>;
    const auto multiply_rows = tiled > kSide ? multiply_all<true> : multiply_all<false>;
    score(queries, depth / kDepth, keys, head.keys, padded, scores, stride, largest);
    float share[kQueries];
    for (std::int64_t r = 0; r < tiled; ++r) {
      share[r] = 1.0f / softmax(scores + r * stride, largest[r], padded, head.scale);
    }
    multiply_rows(scores, stride, values, padded / kDepth, columns, out, columns);
    for (std::int64_t r = 0; r < count; ++r) {
      const __m512 factor = _mm512_set1_ps(share[r]);
      for (std::int64_t i = 0; i < head.width; i += kLanes) {
        store(head.out + (begin + r) * head.out_stride + i, first_lanes(head.width - i),
              _mm512_mul_ps(_mm512_load_ps(out + r * columns + i), factor));
      }
    }
  }
  _tile_release();
}

}  // namespace

TowerKernels amx_kernels() {
  TowerKernels kernels = avx512_kernels();
  kernels.name = "amx";
  kernels.halves.attend = attend;
  kernels.halves.products = amx_products();
  kernels.halves.normalize = amx_layer_norm;
  return kernels;
}

}  // namespace probe

#endif
