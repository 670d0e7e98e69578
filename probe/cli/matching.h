// Planning, searching and judging image matches: what `match` and `compare` share.
#pragma once

#include <vector>

#include <optional>
#include <string>

#include "analysis/retrieval.h"
#include "index/approximate_index.h"
#include "probe/cli/matched_rows.h"

namespace probe {

// An approximate search, and what it missed.
struct ApproximateUse {
  std::string index;   // ApproximateIndex::description
  Accuracy recall;     // of the neighbours that exact search gives, those that were found
  std::int64_t queries = 0;  // that this was measured on, spread evenly
};

struct Matching {
  MatchPlan plan;
  std::vector<QueryMatch> matches;  // in the order of plan.queries
  std::optional<ApproximateUse> approximate;
};

// Cosine search over the items' vectors; lists of `k`. Where the vectors come in blocks, so do queries
// and gallery, and the lists are the same. Large searches show their progress unless `quiet`.
// The search is exact without `approximate`, and where the gallery is smaller than
// kFewestRowsToApproximate.
// Throws Error(input) if there is nothing to match.
Matching match_images(const ItemColumns& items, const MatchedRows& rows, MatchMode mode,
                      bool keep_source, int k, bool quiet,
                      const std::optional<ApproximateOptions>& approximate = std::nullopt);

}  // namespace probe
