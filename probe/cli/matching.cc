#include "probe/cli/matching.h"

#include <map>

#include "index/flat_index.h"
#include "probe/cli/sources.h"
#include "probe/core/error.h"

namespace probe {
Matching match_images(const EmbeddingSet& set, MatchMode mode, bool keep_source, int k) {
  if (set.mean_tokens.cols() == 0) {
    throw Error(ErrorKind::input, "the embedding file has no /image/mean_tokens to match");
  }
  Matching matching;
  matching.plan = plan_matching(set.items, mode, keep_source);
  const MatchPlan& plan = matching.plan;
  if (plan.queries.empty() || plan.gallery.empty()) {
    throw Error(ErrorKind::input,
                std::string("nothing to match: ") + std::to_string(plan.queries.size()) +
                    (mode == MatchMode::o2o ? " originals" : " modified images") + " ask and " +
                    std::to_string(plan.gallery.size()) + " originals answer");
  }
  const FlatIndex index(rows_of(set.mean_tokens, plan.gallery));
  const std::vector<Neighbors> found =
      index.search(rows_of(set.mean_tokens, plan.queries), k, plan.excluded);
  std::map<std::string, std::int64_t> gallery_size;  // by category
  for (const std::int64_t row : plan.gallery) ++gallery_size[set.items.category[row]];
  for (std::size_t q = 0; q < plan.queries.size(); ++q) {
    QueryMatch match;
    match.query = plan.queries[q];
    for (const Neighbor& neighbor : found[q]) {
      match.neighbors.push_back(plan.gallery[neighbor.row]);
      match.scores.push_back(neighbor.score);
    }
    const std::string& category = set.items.category[match.query];
    match.candidates = std::ssize(plan.gallery) - std::ssize(plan.excluded[q]);
    match.positives = gallery_size[category];
    for (const std::int64_t position : plan.excluded[q]) {
      match.positives -= set.items.category[plan.gallery[position]] == category ? 1 : 0;
    }
    matching.matches.push_back(std::move(match));
  }
  return matching;
}

}  // namespace probe
