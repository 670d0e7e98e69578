// What the kernels for AMX share: halves in tiles. Private to them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "encoders/avx512_math.h"
#include "probe/core/amx.h"

#define PROBE_AMX __attribute__((target(PROBE_AVX512_TARGET ",amx-tile,amx-bf16")))
#define PROBE_AMX_INLINE __attribute__((target(PROBE_AVX512_TARGET ",amx-tile,amx-bf16"), always_inline)) inline

namespace probe {

// A tile is 16 rows of 64 bytes: of a left factor 16 x 32 halves, of a right factor 16 pairs of rows
// x 16 columns, each pair side by side, of a product 16 x 16 floats.
inline constexpr std::int64_t kSide = 16, kDepth = 32;

// The first `count` of 32 halves, all of them from 32 on.
PROBE_AMX_INLINE __mmask32 first_halves(std::int64_t count) {
  return static_cast<__mmask32>(count >= kDepth ? ~0u : (1u << count) - 1);
}

// A left factor [rows, depth] as pairs of tiles [pairs][steps][2 height][32]. Tiles may be lower than sixteen, so
// that 50 rows are four of 13. Past the last row it stands once more; past the depth there are zeros.
struct PairedRows {
  std::int64_t pairs = 0, height = 0, steps = 0;
  std::int64_t a_step() const { return 2 * height * kDepth; }
  std::int64_t a_pair() const { return steps * a_step(); }
};

inline PairedRows paired(std::int64_t rows, std::int64_t depth) {
  const std::int64_t pairs = (rows + 2 * kSide - 1) / (2 * kSide);
  return {pairs, (rows + 2 * pairs - 1) / (2 * pairs), (depth + kDepth - 1) / kDepth};
}

// Sixteen rows of sixteen words: first fours of words within lanes of 128 bits, then the lanes.
PROBE_AMX_INLINE void transpose(__m512i (&rows)[kSide]) {
  __m512i lanes[kSide];
  for (int four = 0; four < kSide; four += 4) {
    const __m512i a = _mm512_unpacklo_epi32(rows[four], rows[four + 1]), b = _mm512_unpackhi_epi32(rows[four], rows[four + 1]);
    const __m512i c = _mm512_unpacklo_epi32(rows[four + 2], rows[four + 3]), d = _mm512_unpackhi_epi32(rows[four + 2], rows[four + 3]);
    lanes[four] = _mm512_unpacklo_epi64(a, c), lanes[four + 1] = _mm512_unpackhi_epi64(a, c);
    lanes[four + 2] = _mm512_unpacklo_epi64(b, d), lanes[four + 3] = _mm512_unpackhi_epi64(b, d);
  }
  for (int word = 0; word < 4; ++word) {  // lane l of lanes[4 f + word] holds word 4 l + word of rows 4 f to 4 f + 3
    const __m512i a = _mm512_shuffle_i32x4(lanes[word], lanes[4 + word], 0x88), b = _mm512_shuffle_i32x4(lanes[word], lanes[4 + word], 0xdd);
    const __m512i c = _mm512_shuffle_i32x4(lanes[8 + word], lanes[12 + word], 0x88), d = _mm512_shuffle_i32x4(lanes[8 + word], lanes[12 + word], 0xdd);
    rows[word] = _mm512_shuffle_i32x4(a, c, 0x88), rows[8 + word] = _mm512_shuffle_i32x4(a, c, 0xdd);
    rows[4 + word] = _mm512_shuffle_i32x4(b, d, 0x88), rows[12 + word] = _mm512_shuffle_i32x4(b, d, 0xdd);
  }
}

// Rows [count, depth], `stride` apart, transposed into tiles of a right factor [padded / 16][depth / 32], zeros
// beyond the last row and the last of the depth. `padded`: a multiple of 16.
PROBE_AMX_INLINE void pack_columns(const Bfloat16* rows, std::int64_t stride, std::int64_t count, std::int64_t padded,
                                   std::int64_t depth, Bfloat16* out) {
  for (std::int64_t first = 0; first < padded; first += kSide) {
    for (std::int64_t i = 0; i < depth; i += kDepth, out += kSide * kDepth) {
      const __mmask32 some = first_halves(depth - i);
      __m512i pairs[kSide];
      for (std::int64_t j = 0; j < kSide; ++j) {
        const bool there = first + j < count;
        pairs[j] = _mm512_maskz_loadu_epi16(there ? some : 0, rows + (there ? first + j : 0) * stride + i);
      }
      transpose(pairs);
      for (std::int64_t pair = 0; pair < kSide; ++pair) _mm512_storeu_si512(out + pair * kDepth, pairs[pair]);
    }
  }
}

}  // namespace probe
