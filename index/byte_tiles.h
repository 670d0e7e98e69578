// The bound of byte_codes.h for 32 rows and 32 queries at a time, by AMX. Private to index.
#pragma once

#include <cstdint>
#include <vector>

#include "index/byte_codes.h"

namespace probe {

inline constexpr std::int64_t kTiledRows = 32, kTiledQueries = kQueryStep;

static_assert(kTiledRows <= kSpareRows + 1);

// True if this CPU has AMX and AVX-512. Galleries of `tiled` codes need both.
bool can_use_tiles();

// The codes of queries as right factors: [q / 16][stride / 64] tiles, queries of zeros after the last.
std::vector<CodeBlock> tile_queries(const QueryCodes& queries, std::int64_t stride);

// Lends the tiles to this thread while it lives.
class TileLoan {
 public:
  TileLoan();
  ~TileLoan();
  TileLoan(const TileLoan&) = delete;
  TileLoan& operator=(const TileLoan&) = delete;
};

// open[r], bit q: whether row `row` + r may reach floors[q] for query `query` + q. Of rows past the end
// anything. `query`: a multiple of kTiledQueries. REQUIRES a TileLoan.
void judge_tiles(const GalleryCodes& gallery, std::int64_t row, const QueryCodes& queries,
                 const std::vector<CodeBlock>& tiles, std::int64_t query, const float* floors,
                 std::uint32_t* open);

}  // namespace probe
