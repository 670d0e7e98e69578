#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "encoders/tower_kernel_sets.h"

#ifdef PROBE_HAS_X86_KERNELS

#include "encoders/amx_tiles.h"

namespace probe {
namespace {

constexpr std::int64_t kTile = kSide * kDepth;  // halves
// Of weights that meet all rows before the next ones do. They stay in the second cache, of 2 MiB where
// there is AMX, beside the rows.
constexpr std::int64_t kMostBytes = 1 << 19;
// Steps by which every second tile of columns is behind.
constexpr std::int64_t kMostLag = 16;

std::int64_t steps_of(std::int64_t depth) { return (depth + kDepth - 1) / kDepth; }
std::int64_t packed_depth(std::int64_t depth) { return steps_of(depth) * kDepth; }

// Tiles of rows may be lower than sixteen, so that 50 rows are four tiles of 13. In memory that is
// written before the program runs, see kWholeTiles.
constexpr std::array<TileShapes, kSide + 1> kShapes = [] {
  std::array<TileShapes, kSide + 1> shapes;
  for (int height = 1; height <= kSide; ++height) {
    for (int tile = 0; tile < 6; ++tile) shapes[height].rows[tile] = static_cast<std::uint8_t>(height);
  }
  return shapes;
}();

PROBE_AMX void pack(const Bfloat16* weight, std::int64_t columns, std::int64_t depth, Bfloat16* out) {
  pack_columns(weight, depth, columns, (columns + kSide - 1) / kSide * kSide, depth, out);
}

// The rows of a product as tiles [count][steps][height][32].
struct Rows {
  std::int64_t count = 0, height = 0, steps = 0;
  const Bfloat16* tiles = nullptr;
  std::int64_t tile() const { return height * kDepth; }
};

// Past the end of either the last row once more, and zeros.
PROBE_AMX void pack_rows(const Product<Bfloat16>& product, const Rows& rows, Bfloat16* out) {
  for (std::int64_t tile = 0; tile < rows.count; ++tile) {
    for (std::int64_t i = 0; i < product.depth; i += kDepth) {
      const std::int64_t rest = product.depth - i;
      const auto some = static_cast<__mmask32>(rest >= kDepth ? ~0u : (1u << rest) - 1);
      for (std::int64_t r = 0; r < rows.height; ++r, out += kDepth) {
        const std::int64_t row = std::min(tile * rows.height + r, product.rows - 1);
        _mm512_storeu_si512(out, _mm512_maskz_loadu_epi16(some, product.x + row * product.depth + i));
      }
    }
  }
}

// Sums [.., 16] that become rows of the result, `left` more of them.
struct Unfinished {
  const float* sums = nullptr;
  std::int64_t left = 0;
  Bfloat16* out = nullptr;
  const Bfloat16* residual = nullptr;
  __mmask16 columns = 0;
  __m512 bias = {};
};

// What is done beside the tiles, some rows at each step: they leave the other units idle. The sums that were
// stored last wait until the store before the next, since the products they come from are still under way.
struct Beside {
  Unfinished now, later;
  std::int64_t rows_a_step = 1;
  int buffer = 0;  // where the next sums go: not where those of `later` are
};

PROBE_AMX_INLINE void finish_row(const Product<Bfloat16>& product, Unfinished& rows) {
  __m512 y = _mm512_add_ps(_mm512_load_ps(rows.sums), rows.bias);
  if (product.activation != Activation::none) y = activate_roughly(y, product.activation);
  if (rows.residual != nullptr) {
    y = _mm512_add_ps(y, load(rows.residual, rows.columns));
    rows.residual += product.columns;
  }
  store(rows.out, rows.columns, y);
  rows.sums += kSide;
  rows.out += product.columns;
  --rows.left;
}

PROBE_AMX_INLINE void finish_all(const Product<Bfloat16>& product, Unfinished& rows) {
  while (rows.left > 0) finish_row(product, rows);
}

// One or two tiles of rows times one or two of columns, `steps` tiles deep, is added to tiles 0 and 1 (even
// column) and 2 and 3 (odd).
template <bool two_rows, bool even, bool odd>
PROBE_AMX void multiply_steps(const Product<Bfloat16>& product, const Rows& rows, const Bfloat16* left,
                              const Bfloat16* even_column, const Bfloat16* odd_column, std::int64_t steps,
                              Beside& beside) {
  const Bfloat16* const below = left + rows.steps * rows.tile();
  for (std::int64_t step = 0; step < steps; ++step) {
    _tile_loadd(4, left + step * rows.tile(), 64);
    if constexpr (even) {
      _tile_loadd(6, even_column + step * kTile, 64);
      _tile_dpbf16ps(0, 4, 6);
    }
    if constexpr (odd) {
      _tile_loadd(7, odd_column + step * kTile, 64);
      _tile_dpbf16ps(2, 4, 7);
    }
    if constexpr (two_rows) {
      _tile_loadd(5, below + step * rows.tile(), 64);
      if constexpr (even) _tile_dpbf16ps(1, 5, 6);
      if constexpr (odd) _tile_dpbf16ps(3, 5, 7);
    }
    for (std::int64_t row = 0; row < beside.rows_a_step && beside.now.left > 0; ++row) {
      finish_row(product, beside.now);
    }
  }
}

// The sums of two tiles are stored, and their rows are what is to be done beside the next steps.
template <bool even>
PROBE_AMX_INLINE void store_sums(const Product<Bfloat16>& product, const Rows& rows, std::int64_t tile,
                                 std::int64_t column, float (*buffers)[2 * kSide * kSide], Beside& beside) {
  finish_all(product, beside.now);
  float* const sums = buffers[beside.buffer];
  beside.buffer ^= 1;
  float* const below = sums + rows.height * kSide;
  if constexpr (even) {
    _tile_stored(0, sums, 64);
    _tile_stored(1, below, 64);
    _tile_zero(0);
    _tile_zero(1);
  } else {
    _tile_stored(2, sums, 64);
    _tile_stored(3, below, 64);
    _tile_zero(2);
    _tile_zero(3);
  }
  const std::int64_t row = tile * rows.height, at = row * product.columns + column;
  const __mmask16 some = first_lanes(product.columns - column);
  beside.now = beside.later;
  beside.later = {sums, std::min(2 * rows.height, product.rows - row), product.out + at,
                  product.residual == nullptr ? nullptr : product.residual + at, some,
                  product.bias == nullptr ? _mm512_setzero_ps() : load(product.bias + column, some)};
}

std::int64_t lag_of(std::int64_t steps) { return std::min(steps / 2, kMostLag); }

// Two tiles of rows, or the last one, times `count` tiles of columns.
//
// Storing sums waits for all products before it; four stores at once leave the tiles idle for as long as
// ten steps take. So every second tile of columns begins some way down and wraps around: the sums of the one
// are stored while those of the other are under way.
template <bool two_rows>
PROBE_AMX void multiply_rows(const Product<Bfloat16>& product, const Rows& rows, std::int64_t tile,
                             const Bfloat16* columns, std::int64_t begin, std::int64_t count,
                             float (*sums)[2 * kSide * kSide], Beside& beside) {
  const std::int64_t lag = lag_of(rows.steps);
  for (std::int64_t half = 0; half < count + count % 2 + 1; ++half) {
    const bool upper = half % 2 == 1;
    const std::int64_t from = upper ? lag : 0, steps = upper ? rows.steps - lag : lag;
    const std::int64_t even = upper ? half - 1 : half, odd = upper ? half : half - 1;
    const bool has_even = even < count, has_odd = odd >= 0 && odd < count;
    const Bfloat16* const left = rows.tiles + (tile * rows.steps + from) * rows.tile();
    const Bfloat16* const even_column = columns + (even * rows.steps + from) * kTile;
    const Bfloat16* const odd_column = columns + (odd * rows.steps + from) * kTile;
    if (has_even && has_odd) {
      multiply_steps<two_rows, true, true>(product, rows, left, even_column, odd_column, steps, beside);
    } else if (has_even) {
      multiply_steps<two_rows, true, false>(product, rows, left, even_column, nullptr, steps, beside);
    } else if (has_odd) {
      multiply_steps<two_rows, false, true>(product, rows, left, nullptr, odd_column, steps, beside);
    }
    if (upper && has_even) store_sums<true>(product, rows, tile, begin + even * kSide, sums, beside);
    if (!upper && has_odd) store_sums<false>(product, rows, tile, begin + odd * kSide, sums, beside);
  }
}

PROBE_AMX void multiply(const Product<Bfloat16>& product) {
  Rows rows;
  rows.count = (product.rows + kSide - 1) / kSide;
  rows.height = (product.rows + rows.count - 1) / rows.count;
  rows.count = (product.rows + rows.height - 1) / rows.height;
  rows.steps = steps_of(product.depth);
  const auto packed = std::make_unique_for_overwrite<Bfloat16[]>(rows.count * rows.steps * rows.tile() + kDepth);
  const auto address = reinterpret_cast<std::uintptr_t>(packed.get());
  Bfloat16* const tiles = packed.get() + (64 - address % 64) % 64 / sizeof(Bfloat16);
  pack_rows(product, rows, tiles);
  // GCC does not know that tiles are loaded from memory.
  asm volatile("" ::: "memory");
  rows.tiles = tiles;
  alignas(64) float sums[2][2 * kSide * kSide];
  Beside beside;
  const std::int64_t lag = lag_of(rows.steps), shorter = std::max<std::int64_t>(1, std::min(lag, rows.steps - lag));
  beside.rows_a_step = (2 * rows.height + shorter - 1) / shorter;
  _tile_loadconfig(&kShapes[rows.height]);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  // Blocks of as equal counts of tiles of columns.
  const std::int64_t all = (product.end - product.begin + kSide - 1) / kSide;
  const std::int64_t most = std::max<std::int64_t>(2, kMostBytes / (rows.steps * kTile * 2));
  const std::int64_t blocks = (all + most - 1) / most, per_block = ((all + blocks - 1) / blocks + 1) / 2 * 2;
  for (std::int64_t first = 0; first < all; first += per_block) {
    const std::int64_t count = std::min(per_block, all - first), begin = product.begin + first * kSide;
    const Bfloat16* const columns = product.weight + begin / kSide * rows.steps * kTile;
    for (std::int64_t tile = 0; tile < rows.count; tile += 2) {
      if (tile + 1 < rows.count) multiply_rows<true>(product, rows, tile, columns, begin, count, sums, beside);
      else multiply_rows<false>(product, rows, tile, columns, begin, count, sums, beside);
    }
  }
  finish_all(product, beside.now);
  finish_all(product, beside.later);
  _tile_release();
}

}  // namespace

ProductKernels<Bfloat16> amx_products() {
  return {kSide, packed_depth, pack, multiply, std::numeric_limits<std::int64_t>::max()};
}

}  // namespace probe

#endif
