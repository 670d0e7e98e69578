// Inner loops of resample.cc: exact integer dot products of 8-bit levels with 22-bit
// fixed-point weights. Every path gives the same bits; the fastest one that the processor
// can run is chosen at run time.
#pragma once

#include <cstdint>
#include <vector>

namespace probe::resample_kernels {

// Fraction bits of a weight: 32 bits less 8 of a level and 2 of headroom, as in Pillow.
inline constexpr int kWeightBits = 22;

// A weight w is kept as w == high * 4096 + low, 0 <= low < 4096, so that both halves fit
// the 16-bit multiply-add instruction.
inline constexpr int kLowBits = 12;

// Weights of consecutive output positions; position i reads `taps` source positions from
// first[i]. Rows are `taps` long, a multiple of 4, filled up with zero weights.
struct Weights {
  int taps = 0;
  std::vector<int> first;
  std::vector<int> used;                // of `taps`, how many the filter covers
  std::vector<std::int16_t> high, low;  // [positions * taps]
};

enum class Path { automatic, portable };

// One source row (3 bytes a pixel) to one output row: out[3*i + c] for every position.
// REQUIRES 16 readable bytes behind the last pixel of `row`.
void horizontal(const std::uint8_t* row, const Weights& weights, std::uint8_t* out,
                Path path = Path::automatic);

// sums[c] += sum over t of weight[t] * rows[t][c], for c < columns.
// REQUIRES an even `count` of rows with 32 readable bytes behind column `columns`, and
// room for 32 more sums.
void vertical(const std::uint8_t* const* rows, const std::int16_t* high,
              const std::int16_t* low, int count, int columns, std::int32_t* sums,
              Path path = Path::automatic);

// out[c] = level of sums[c], rounded half up and clamped to 0..255.
void finish(const std::int32_t* sums, int columns, std::uint8_t* out);

}  // namespace probe::resample_kernels
