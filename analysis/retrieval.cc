#include "analysis/retrieval.h"

#include <algorithm>
#include <map>

#include "analysis/chance.h"
#include "probe/core/item.h"

namespace probe {

MatchPlan plan_matching(const ItemColumns& items, MatchMode mode, bool keep_source) {
  MatchPlan plan;
  std::map<std::string, std::int64_t> position;  // id -> position in the gallery
  for (std::size_t row = 0; row < items.size(); ++row) {
    if (items.category[row].empty()) {
      ++plan.without_category;
      continue;
    }
    const bool original = items.condition[row] == kOriginal;
    if (original) {
      position.emplace(items.id[row], static_cast<std::int64_t>(plan.gallery.size()));
      plan.gallery.push_back(static_cast<std::int64_t>(row));
    }
    if (original == (mode == MatchMode::o2o)) {
      plan.queries.push_back(static_cast<std::int64_t>(row));
    }
  }
  for (const std::int64_t query : plan.queries) {
    const std::string& own =
        mode == MatchMode::o2o ? items.id[query] : items.original_id[query];
    std::vector<std::int64_t>& excluded = plan.excluded.emplace_back();
    const auto it = position.find(own);
    if (it == position.end() && !own.empty()) ++plan.sources_unknown;
    const bool leave_out = mode == MatchMode::o2o || !keep_source;
    if (it == position.end() || !leave_out) continue;
    excluded.push_back(it->second);
    if (mode == MatchMode::a2o) ++plan.sources_left_out;
  }
  return plan;
}

bool is_hit(const QueryMatch& match, const ItemColumns& items, int k) {
  const auto end = match.neighbors.begin() +
                   std::min<std::ptrdiff_t>(k, std::ssize(match.neighbors));
  return std::any_of(match.neighbors.begin(), end, [&](std::int64_t row) {
    return items.category[row] == items.category[match.query];
  });
}

MatchScore score_matches(const std::vector<QueryMatch>& matches, const ItemColumns& items,
                         int k) {
  MatchScore score;
  for (const QueryMatch& match : matches) {
    if (match.positives == 0) {
      ++score.no_positive;
      continue;
    }
    const std::int64_t shown = std::min<std::int64_t>(k, std::ssize(match.neighbors));
    std::int64_t right = 0, first = -1;
    for (std::int64_t i = 0; i < shown; ++i) {
      if (items.category[match.neighbors[i]] != items.category[match.query]) continue;
      ++right;
      if (first < 0) first = i;
    }
    score.hit.add(right > 0);
    score.mean_fraction += static_cast<double>(right) / static_cast<double>(shown);
    if (first >= 0) score.mrr += 1.0 / static_cast<double>(first + 1);
    score.chance += chance_of_hit(match.candidates, match.positives, k);
  }
  if (score.hit.total > 0) {
    const auto total = static_cast<double>(score.hit.total);
    score.mean_fraction /= total;
    score.mrr /= total;
    score.chance /= total;
  }
  return score;
}

}  // namespace probe
