#include "index/byte_tiles.h"

#include <immintrin.h>

#include <cstring>

#include "probe/core/amx.h"
#include "probe/core/avx512.h"

#define PROBE_TILES \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,amx-tile,amx-int8")))

namespace probe {
namespace {

constexpr std::int64_t kSide = 16;    // rows of a tile, and columns of a product
constexpr std::int64_t kDepth = 64;   // bytes of a row of a tile
constexpr std::int64_t kTileBlocks = 16;

// dots[r][q] = sum of the products of their codes. The left tiles are rows of the gallery as they are.
PROBE_TILES void dot_tiles(const std::uint8_t* rows, std::int64_t stride, const CodeBlock* tiles,
                           std::int32_t (*dots)[kTiledQueries]) {
  static_assert(kTiledRows == 2 * kSide && kTiledQueries == 2 * kSide);
  const std::int64_t steps = stride / kDepth;
  const CodeBlock* const next = tiles + steps * kTileBlocks;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::int64_t step = 0; step < steps; ++step) {
    _tile_loadd(4, rows + step * kDepth, stride);
    _tile_loadd(6, tiles + step * kTileBlocks, kDepth);
    _tile_dpbusd(0, 4, 6);
    _tile_loadd(7, next + step * kTileBlocks, kDepth);
    _tile_dpbusd(1, 4, 7);
    _tile_loadd(5, rows + kSide * stride + step * kDepth, stride);
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
  }
  constexpr std::int64_t kBytes = sizeof(*dots);
  _tile_stored(0, dots[0], kBytes);
  _tile_stored(1, dots[0] + kSide, kBytes);
  _tile_stored(2, dots[kSide], kBytes);
  _tile_stored(3, dots[kSide] + kSide, kBytes);
}

// GCC forgets the target of constructors.
PROBE_TILES void set_shapes() { _tile_loadconfig(&kWholeTiles); }
PROBE_TILES void release() { _tile_release(); }

}  // namespace

bool can_use_tiles() { return can_use_avx512() && can_use_amx(); }

std::vector<CodeBlock> tile_queries(const QueryCodes& queries, std::int64_t stride) {
  const auto padded = static_cast<std::int64_t>(queries.scale.size());
  const auto coded = static_cast<std::int64_t>(queries.codes.size()) * kDepth / stride;
  std::vector<CodeBlock> tiles(padded * stride / kDepth);
  std::uint8_t* out = tiles.front().bytes;
  for (std::int64_t first = 0; first < padded; first += kSide) {
    for (std::int64_t j = 0; j < stride; j += 4) {  // a row of a tile: four dimensions of each query
      for (std::int64_t q = first; q < first + kSide; ++q, out += 4) {
        if (q < coded) std::memcpy(out, query_codes(queries, q, stride) + j, 4);
      }
    }
  }
  return tiles;
}

TileLoan::TileLoan() { set_shapes(); }
TileLoan::~TileLoan() { release(); }

PROBE_TILES void judge_tiles(const GalleryCodes& gallery, std::int64_t row, const QueryCodes& queries,
                             const std::vector<CodeBlock>& tiles, std::int64_t query,
                             const float* floors, std::uint32_t* open) {
  alignas(64) std::int32_t dots[kTiledRows][kTiledQueries];
  dot_tiles(row_codes(gallery, row), gallery.stride, tiles.data() + query * gallery.stride / kDepth, dots);
  std::memset(open, 0, kTiledRows * sizeof(*open));
  for (std::int64_t half = 0; half < kTiledQueries; half += kSide) {
    const std::int64_t q = query + half;
    const __m512i offset = _mm512_loadu_si512(&queries.offset[q]);
    const __m512 scale = _mm512_loadu_ps(&queries.scale[q]), mean_part = _mm512_loadu_ps(&queries.mean_part[q]);
    const __m512 length = _mm512_loadu_ps(&queries.length[q]), error = _mm512_loadu_ps(&queries.error[q]);
    const __m512 floor = _mm512_loadu_ps(floors + half);
    for (std::int64_t r = 0; r < kTiledRows; ++r) {
      const __m512i dot = _mm512_sub_epi32(_mm512_load_si512(&dots[r][half]), offset);
      const __m512 score = _mm512_fmadd_ps(
          _mm512_mul_ps(scale, _mm512_set1_ps(gallery.scale[row + r])), _mm512_cvtepi32_ps(dot),
          _mm512_add_ps(mean_part, _mm512_set1_ps(gallery.mean_part[row + r])));
      __m512 bound = _mm512_fmadd_ps(_mm512_set1_ps(gallery.error[row + r]), length,
                                     _mm512_set1_ps(kRoundingSlack));
      bound = _mm512_fmadd_ps(_mm512_set1_ps(gallery.length[row + r]), error, bound);
      const __mmask16 reaches = _mm512_cmp_ps_mask(_mm512_add_ps(score, bound), floor, _CMP_GE_OQ);
      open[r] |= static_cast<std::uint32_t>(reaches) << half;
    }
  }
}

}  // namespace probe
