// Planning, searching and judging image matches: what `match` and `compare` share.
#pragma once

#include <vector>

#include "analysis/retrieval.h"
#include "probe/cli/matched_rows.h"

namespace probe {

struct Matching {
  MatchPlan plan;
  std::vector<QueryMatch> matches;  // in the order of plan.queries
};

// Cosine search over the items' vectors; lists of `k`. Where the vectors come in blocks, so do queries
// and gallery, and the lists are the same. Large searches show their progress unless `quiet`.
// Throws Error(input) if there is nothing to match.
Matching match_images(const ItemColumns& items, const MatchedRows& rows, MatchMode mode,
                      bool keep_source, int k, bool quiet);

}  // namespace probe
