// Image-to-image matching (NEMO Sec. 5.2 question 3, C.4): a query is right at k if one
// of its k nearest gallery images has its category.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probe/core/accuracy.h"
#include "probe/core/embedding_set.h"

namespace probe {

enum class MatchMode { o2o, a2o };

// Who asks, who answers, and which rows a query must not be given.
struct MatchPlan {
  std::vector<std::int64_t> queries, gallery;        // rows of the embedding set
  std::vector<std::vector<std::int64_t>> excluded;   // per query: positions in `gallery`
  std::int64_t sources_left_out = 0;  // queries whose own source image was excluded
  std::int64_t sources_unknown = 0;   // queries whose source is named but not in the gallery
  std::int64_t without_category = 0;  // items left out since they have no category
};

// O2O: queries and gallery are the originals, each query without itself (by id).
// A2O: queries are the items of other conditions, gallery the originals; the image a
// query was made from (`original_id`) is left out unless `keep_source` (DESIGN.md,
// ruling 5).
MatchPlan plan_matching(const ItemColumns& items, MatchMode mode, bool keep_source);

// One query's neighbours, best first, judged.
struct QueryMatch {
  std::int64_t query = 0;                 // row of the embedding set
  std::vector<std::int64_t> neighbors;    // rows of the embedding set
  std::vector<float> scores;
  std::int64_t positives = 0;             // gallery images of its category it could find
  std::int64_t candidates = 0;            // gallery images it could be given
};

struct MatchScore {
  Accuracy hit;               // hit@k over queries that have a positive
  double mean_fraction = 0;   // mean over queries of (right among first k) / min(k, list)
  double mrr = 0;             // mean of 1/rank of the first right one within the list
  double chance = 0;          // expected hit@k of a random order of the actual gallery
  std::int64_t no_positive = 0;  // queries that no order could get right; left out
};

// Scores at `k`; lists may be longer than k. REQUIRES k >= 1.
MatchScore score_matches(const std::vector<QueryMatch>& matches, const ItemColumns& items, int k);

// True if one of the first k neighbours has the query's category.
bool is_hit(const QueryMatch& match, const ItemColumns& items, int k);

}  // namespace probe
