// Unit vectors as bytes, with a proven bound on what that costs. Private to index.
//
// Rows are centred first, since vectors of one encoder share most of their direction: x = m + r,
// q = m + p, with m the mean of the gallery, and
//     x.q = m.q + r.m + r.p.
// The first two parts are kept exactly; r and p are rounded to bytes, r^ and p^. By Cauchy and
// Schwarz the error of r^.p^ is at most |r - r^| |p| + |r^| |p - p^|, so no row whose score plus
// that bound is below the k-th best exact score can be among the k best.
#pragma once

#include <cstdint>
#include <vector>

#include "probe/core/matrix.h"

namespace probe {

// What the scan loads at once; aligned, since a load across two cache lines costs two.
struct alignas(64) CodeBlock {
  std::uint8_t bytes[64];
};

inline constexpr std::int64_t kSpareRows = 31;

// Gallery rows [n, d]: r_j ~ scale (code_j - shift). AVX2 adds products in 16 bits, of which four fit
// if codes are 1 to 127 and shift is 64; AMX adds in 32 bits, so that `tiled` codes are 1 to 255 and
// shift is 128, with half the error. Rows are padded to whole blocks, and there is room for kSpareRows more, so that some at a time can be read.
struct GalleryCodes {
  bool tiled = false;                 // for byte_tiles.h
  std::int64_t rows = 0, stride = 0;  // stride: bytes of a row
  std::vector<CodeBlock> codes;       // [n, stride / 64]
  std::vector<float> scale;          // [n]
  std::vector<float> mean_part;      // [n] r.m
  std::vector<float> error;          // [n] |r - r^|, rounded up
  std::vector<float> length;         // [n] |r^|, rounded up
  Eigen::RowVectorXf mean;           // [d]
};

// Query rows [q, d]: p_j ~ scale code_j, code -64 to 64, or -127 to 127 for tiled rows. There is room
// for one row of codes more, and the other members hold zeros up to a multiple of kQueryStep.
inline constexpr std::int64_t kQueryStep = 32;
struct QueryCodes {
  std::vector<CodeBlock> codes;       // [q, stride / 64], int8
  std::vector<std::int32_t> offset;   // [q] shift times the sum of the codes
  std::vector<float> scale;           // [q]
  std::vector<float> mean_part;       // [q] m.q
  std::vector<float> length;          // [q] |p|, rounded up
  std::vector<float> error;           // [q] |p - p^|, rounded up
};

inline const std::uint8_t* row_codes(const GalleryCodes& gallery, std::int64_t row) {
  return gallery.codes.front().bytes + row * gallery.stride;
}
inline const std::int8_t* query_codes(const QueryCodes& queries, std::int64_t query,
                                      std::int64_t stride) {
  return reinterpret_cast<const std::int8_t*>(queries.codes.front().bytes) + query * stride;
}

// True if this CPU has the instructions (AVX2 and FMA).
bool can_use_byte_codes();

// REQUIRE can_use_byte_codes(); rows of length 1.
GalleryCodes encode_gallery(const RowMatrix& unit, bool tiled);
QueryCodes encode_queries(const RowMatrix& unit, const GalleryCodes& gallery);

// Room for the float arithmetic with which scores and bounds are put together.
inline constexpr float kRoundingSlack = 2e-6f;

}  // namespace probe
