// Planning, searching and judging image matches: what `match` and `compare` share.
#pragma once

#include <vector>

#include "analysis/retrieval.h"

namespace probe {

struct Matching {
  MatchPlan plan;
  std::vector<QueryMatch> matches;  // in the order of plan.queries
};

// Cosine search over the items' vectors [n, w]; lists of `k`.
// Throws Error(input) if there is nothing to match.
Matching match_images(const ItemColumns& items, const RowMatrix& vectors, MatchMode mode,
                      bool keep_source, int k);

}  // namespace probe
