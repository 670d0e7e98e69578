// Exact top-k by bytes first: every row is scored by its byte codes, and those that the bound of
// byte_codes.h cannot rule out are scored again exactly. Private to index.
#pragma once

#include <optional>

#include "index/byte_codes.h"
#include "index/flat_index.h"

namespace probe {

// The k best of each query, best first, equal scores in the order of rows. Nothing if the bound
// rules out too little for this to pay (vectors that bytes cannot tell apart).
//   codes of `gallery`; gallery [n, d] and queries [q, d] of unit rows; excluded: one list a query.
// REQUIRES can_use_byte_codes().
std::optional<std::vector<Neighbors>> scan_codes(const GalleryCodes& codes,
                                                 const RowMatrix& gallery,
                                                 const RowMatrix& queries, int k,
                                                 const std::vector<Excluded>& excluded);

}  // namespace probe
