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
constexpr std::int64_t kPanel = 2 * kSide;      // columns: as many as a step of the next product is deep
// Of rows that meet all weights before the next ones do, and of weights that meet them before the next ones do.
// Both stay in the second cache, of 2 MiB where there is AMX.
constexpr std::int64_t kBytesOfRows = 3 << 18, kBytesOfWeights = 1 << 18;
// Pairs of rows up to which weights are asked for ahead: reading them from memory is most of the work then.
constexpr std::int64_t kFewPairs = 20;
// Steps by which every second tile of columns is behind.
constexpr std::int64_t kMostLag = 16;

std::int64_t packed_depth(std::int64_t depth) { return (depth + kDepth - 1) / kDepth * kDepth; }

std::int64_t packed_rows(std::int64_t rows, std::int64_t depth) {
  const PairedRows all = paired(rows, depth);
  return all.pairs * all.a_pair();
}

// In memory that is written before the program runs, see kWholeTiles.
constexpr std::array<TileShapes, kSide + 1> kShapes = [] {
  std::array<TileShapes, kSide + 1> shapes;
  for (int height = 1; height <= kSide; ++height) {
    for (int tile = 0; tile < 6; ++tile) shapes[height].rows[tile] = static_cast<std::uint8_t>(height);
  }
  return shapes;
}();

PROBE_AMX void pack(const Bfloat16* weight, std::int64_t columns, std::int64_t depth, Bfloat16* out) {
  pack_columns(weight, depth, columns, (columns + kPanel - 1) / kPanel * kPanel, depth, out);
}

PROBE_AMX void pack_rows(const Product<Bfloat16>& product, const PairedRows& rows, std::int64_t begin,
                         std::int64_t end, Bfloat16* out) {
  for (std::int64_t pair = begin; pair < end; ++pair) {
    for (std::int64_t i = 0; i < product.depth; i += kDepth) {
      const __mmask32 some = first_halves(product.depth - i);
      for (std::int64_t r = 0; r < 2 * rows.height; ++r, out += kDepth) {
        const std::int64_t row = std::min(pair * 2 * rows.height + r, product.rows - 1);
        _mm512_storeu_si512(out, _mm512_maskz_loadu_epi16(some, product.x + row * product.depth + i));
      }
    }
  }
  // GCC does not know that tiles are loaded from memory.
  asm volatile("" ::: "memory");
}

// Sums [.., 16] that become rows of the result, `left` more of them.
struct Unfinished {
  const float* sums = nullptr;
  std::int64_t left = 0;
  Bfloat16* out = nullptr;
  const Bfloat16* residual = nullptr;
  std::int64_t stride = 0;  // of both
  __mmask16 columns = 0;
  __m512 bias = {};
};

// What is done beside the tiles, some rows at each step: they leave the other units idle. The sums that were
// stored last wait until the store before the next, since the products they come from are still under way.
struct Beside {
  Unfinished now, later;
  Activation activation = Activation::none;
  std::int64_t rows_a_step = 1;
  const Bfloat16 *coming = nullptr, *coming_end = nullptr;  // weights that are asked for, from memory
  std::int64_t lines_a_step = 0;
  int buffer = 0;  // where the next sums go: not where those of `later` are
  alignas(64) float sums[2][2 * kSide * kSide];
};

PROBE_AMX_INLINE void finish_row(Unfinished& rows, Activation activation) {
  __m512 y = _mm512_add_ps(_mm512_load_ps(rows.sums), rows.bias);
  if (activation != Activation::none) y = activate_roughly(y, activation);
  if (rows.residual != nullptr) {
    y = _mm512_add_ps(y, load(rows.residual, rows.columns));
    rows.residual += rows.stride;
  }
  store(rows.out, rows.columns, y);
  rows.sums += kSide;
  rows.out += rows.stride;
  --rows.left;
}

PROBE_AMX_INLINE void finish_all(Unfinished& rows, Activation activation) {
  while (rows.left > 0) finish_row(rows, activation);
}

// A pair of tiles of rows times one or two of columns, `steps` tiles deep, is added to tiles 0 and 1 (even
// column) and 2 and 3 (odd).
template <bool even, bool odd>
PROBE_AMX void multiply_steps(const Bfloat16* pair, std::int64_t a_step, const Bfloat16* even_column,
                              const Bfloat16* odd_column, std::int64_t steps, Beside& beside) {
  for (std::int64_t step = 0; step < steps; ++step, pair += a_step) {
    _tile_loadd(4, pair, 64);
    if constexpr (even) {
      _tile_loadd(6, even_column + step * kTile, 64);
      _tile_dpbf16ps(0, 4, 6);
    }
    if constexpr (odd) {
      _tile_loadd(7, odd_column + step * kTile, 64);
      _tile_dpbf16ps(2, 4, 7);
    }
    _tile_loadd(5, pair + a_step / 2, 64);
    if constexpr (even) _tile_dpbf16ps(1, 5, 6);
    if constexpr (odd) _tile_dpbf16ps(3, 5, 7);
    for (std::int64_t line = 0; line < beside.lines_a_step && beside.coming < beside.coming_end; ++line) {
      _mm_prefetch(reinterpret_cast<const char*>(beside.coming), _MM_HINT_T1);
      beside.coming += kDepth;
    }
    for (std::int64_t row = 0; row < beside.rows_a_step && beside.now.left > 0; ++row) {
      finish_row(beside.now, beside.activation);
    }
  }
}

// The sums of a pair are stored, and their rows are what is to be done beside the next steps.
template <bool even>
PROBE_AMX_INLINE void store_sums(const Product<Bfloat16>& product, std::int64_t height, std::int64_t pair,
                                 std::int64_t column, Beside& beside) {
  finish_all(beside.now, beside.activation);
  float* const sums = beside.sums[beside.buffer];
  beside.buffer ^= 1;
  float* const below = sums + height * kSide;
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
  beside.now = beside.later;
  const __mmask16 some = first_lanes(std::max<std::int64_t>(0, product.columns - column));
  const __m512 bias = product.bias == nullptr ? _mm512_setzero_ps() : load(product.bias + column, some);
  const std::int64_t row = pair * 2 * height, at = row * product.columns + column;
  if (product.pack_out) {
    const std::int64_t steps = packed_depth(product.columns) / kDepth;
    Bfloat16* const out = product.out + (pair * steps + column / kDepth) * 2 * height * kDepth + column % kDepth;
    beside.later = {sums, 2 * height, out, nullptr, kDepth, 0xffff, bias};
  } else {
    beside.later = {sums, std::min(2 * height, product.rows - row), product.out + at,
                    product.residual == nullptr ? nullptr : product.residual + at, product.columns, some, bias};
  }
}

std::int64_t lag_of(std::int64_t steps) { return std::min(steps / 2, kMostLag); }

// A pair of tiles of rows, from `tiles` on, times `count` (even) tiles of columns, from `columns` on.
//
// Storing sums waits for all products before it; four stores at once leave the tiles idle for as long as
// ten steps take. So every second tile of columns begins some way down and wraps around: the sums of the one
// are stored while those of the other are under way.
PROBE_AMX void multiply_pair(const Product<Bfloat16>& product, const PairedRows& rows, std::int64_t pair,
                             const Bfloat16* tiles, const Bfloat16* columns, std::int64_t begin, std::int64_t count,
                             Beside& beside) {
  const std::int64_t lag = lag_of(rows.steps);
  for (std::int64_t half = 0; half <= count; ++half) {
    const bool upper = half % 2 == 1;
    const std::int64_t from = upper ? lag : 0, steps = upper ? rows.steps - lag : lag;
    const std::int64_t even = upper ? half - 1 : half, odd = upper ? half : half - 1;
    const bool has_even = even < count, has_odd = odd >= 0;
    const Bfloat16* const left = tiles + from * rows.a_step();
    const Bfloat16* const even_column = columns + (even * rows.steps + from) * kTile;
    const Bfloat16* const odd_column = columns + (odd * rows.steps + from) * kTile;
    if (has_even && has_odd) {
      multiply_steps<true, true>(left, rows.a_step(), even_column, odd_column, steps, beside);
    } else if (has_even) {
      multiply_steps<true, false>(left, rows.a_step(), even_column, nullptr, steps, beside);
    } else {
      multiply_steps<false, true>(left, rows.a_step(), nullptr, odd_column, steps, beside);
    }
    if (upper && has_even) store_sums<true>(product, rows.height, pair, begin + even * kSide, beside);
    if (!upper && has_odd) store_sums<false>(product, rows.height, pair, begin + odd * kSide, beside);
  }
}

// Of `all` parts a count for each of blocks as equal as can be, none above `most`.
std::int64_t per_block(std::int64_t all, std::int64_t most) {
  const std::int64_t blocks = (all + most - 1) / most;
  return (all + blocks - 1) / blocks;
}

PROBE_AMX void multiply(const Product<Bfloat16>& product) {
  const PairedRows rows = paired(product.rows, product.depth);
  const std::int64_t pairs = per_block(rows.pairs, std::max<std::int64_t>(1, kBytesOfRows / (rows.a_pair() * 2)));
  const std::int64_t all = (product.end - product.begin + kPanel - 1) / kPanel;
  const std::int64_t panels = per_block(all, std::max<std::int64_t>(1, kBytesOfWeights / (rows.steps * kTile * 4)));
  const auto packed = std::make_unique_for_overwrite<Bfloat16[]>(product.x_packed ? 0 : pairs * rows.a_pair() + kDepth);
  Bfloat16* const own = packed.get() + (64 - reinterpret_cast<std::uintptr_t>(packed.get()) % 64) % 64 / sizeof(Bfloat16);
  Beside beside;
  const std::int64_t lag = lag_of(rows.steps), shorter = std::max<std::int64_t>(1, std::min(lag, rows.steps - lag));
  beside.activation = product.activation;
  beside.rows_a_step = (2 * rows.height + shorter - 1) / shorter;
  _tile_loadconfig(&kShapes[rows.height]);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::int64_t first = 0; first < rows.pairs; first += pairs) {
    const std::int64_t last = std::min(rows.pairs, first + pairs);
    if (!product.x_packed) pack_rows(product, rows, first, last, own);
    // Each step reads two tiles of weights, of which a pair has its share.
    beside.lines_a_step = rows.pairs <= kFewPairs ? (2 * kSide + last - first - 1) / (last - first) : 0;
    const Bfloat16* const tiles = product.x_packed ? product.x + first * rows.a_pair() : own;
    for (std::int64_t panel = 0; panel < all; panel += panels) {
      const std::int64_t begin = product.begin + panel * kPanel, count = 2 * std::min(panels, all - panel);
      const Bfloat16* const weight = product.weight + begin / kSide * rows.steps * kTile;
      beside.coming = weight + count * rows.steps * kTile;
      beside.coming_end = beside.coming + 2 * std::clamp<std::int64_t>(all - panel - panels, 0, panels) * rows.steps * kTile;
      for (std::int64_t pair = first; pair < last; ++pair) {
        multiply_pair(product, rows, pair, tiles + (pair - first) * rows.a_pair(), weight, begin, count, beside);
      }
    }
  }
  finish_all(beside.now, product.activation);
  finish_all(beside.later, product.activation);
  _tile_release();
}

}  // namespace

ProductKernels<Bfloat16> amx_products() {
  return {kPanel, packed_depth, pack, multiply, std::numeric_limits<std::int64_t>::max(), packed_rows};
}

}  // namespace probe

#endif
