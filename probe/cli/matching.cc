#include "probe/cli/matching.h"

#include <map>

#include "index/flat_index.h"
#include "probe/cli/sources.h"
#include "probe/core/error.h"

namespace probe {
Matching match_images(const ItemColumns& items, const RowMatrix& vectors, MatchMode mode,
                      bool keep_source, int k) {
  Matching matching;
  matching.plan = plan_matching(items, mode, keep_source);
  const MatchPlan& plan = matching.plan;
  if (plan.queries.empty() || plan.gallery.empty()) {
    const std::string unknown =
        plan.without_category == 0
            ? ""
            : "; " + std::to_string(plan.without_category) + " items have no category";
    throw Error(ErrorKind::input,
                std::string("nothing to match: ") + std::to_string(plan.queries.size()) +
                    (mode == MatchMode::o2o ? " originals" : " modified images") + " ask and " +
                    std::to_string(plan.gallery.size()) + " originals answer" + unknown);
  }
  const FlatIndex index(rows_of(vectors, plan.gallery));
  const std::vector<Neighbors> found =
      index.search(rows_of(vectors, plan.queries), k, plan.excluded);
  std::map<std::string, std::int64_t> gallery_size;  // by category
  for (const std::int64_t row : plan.gallery) ++gallery_size[items.category[row]];
  for (std::size_t q = 0; q < plan.queries.size(); ++q) {
    QueryMatch match;
    match.query = plan.queries[q];
    for (const Neighbor& neighbor : found[q]) {
      match.neighbors.push_back(plan.gallery[neighbor.row]);
      match.scores.push_back(neighbor.score);
    }
    const std::string& category = items.category[match.query];
    match.candidates = std::ssize(plan.gallery) - std::ssize(plan.excluded[q]);
    match.positives = gallery_size[category];
    for (const std::int64_t position : plan.excluded[q]) {
      match.positives -= items.category[plan.gallery[position]] == category ? 1 : 0;
    }
    matching.matches.push_back(std::move(match));
  }
  return matching;
}

}  // namespace probe
