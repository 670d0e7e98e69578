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

// Rows [count, depth], `stride` apart, transposed into tiles of a right factor [padded / 16][depth / 32], zeros
// beyond the last row and the last of the depth. `padded`: a multiple of 16.
PROBE_AMX_INLINE void pack_columns(const Bfloat16* rows, std::int64_t stride, std::int64_t count, std::int64_t padded,
                                   std::int64_t depth, Bfloat16* out) {
  alignas(64) std::uint32_t pairs[kSide][kSide];
  const __m512i lanes = _mm512_mullo_epi32(
      _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi32(kSide));
  for (std::int64_t first = 0; first < padded; first += kSide) {
    for (std::int64_t i = 0; i < depth; i += kDepth) {
      std::memset(pairs, 0, sizeof(pairs));
      for (std::int64_t j = 0; j < std::min(kSide, count - first); ++j) {
        std::memcpy(pairs[j], rows + (first + j) * stride + i, std::min(kDepth, depth - i) * sizeof(Bfloat16));
      }
      for (std::int64_t pair = 0; pair < kSide; ++pair, out += kDepth) {
        _mm512_storeu_si512(out, _mm512_i32gather_epi32(lanes, pairs[0] + pair, 4));
      }
    }
  }
}

}  // namespace probe
