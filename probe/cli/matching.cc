#include "probe/cli/matching.h"

#include <algorithm>
#include <map>
#include <optional>

#include "index/flat_index.h"
#include "probe/cli/progress.h"
#include "probe/core/error.h"

namespace probe {
namespace {

// Queries that are searched between two signs of progress.
constexpr std::int64_t kQueriesAtATime = 4096;
// Pairs of a query and a gallery row; fewer are compared before anyone asks.
constexpr double kPairsWithoutProgress = 3e8;

std::vector<Neighbors> search(const MatchPlan& plan, const MatchedRows& rows, int k, bool quiet) {
  const auto queries = std::ssize(plan.queries), gallery = std::ssize(plan.gallery);
  const double pairs = static_cast<double>(queries) * static_cast<double>(gallery);
  Progress progress("matching", queries, quiet || pairs < kPairsWithoutProgress);
  std::optional<FlatIndex> index;
  if (rows.block == 0) index.emplace(rows.at(plan.gallery));
  const std::int64_t step = rows.block == 0 ? kQueriesAtATime : rows.block;
  std::vector<Neighbors> found;
  for (std::int64_t begin = 0; begin < queries; begin += step) {
    const std::int64_t count = std::min(step, queries - begin);
    const RowMatrix asked = rows.at(std::span(plan.queries).subspan(begin, count));
    const std::vector<Excluded> excluded(plan.excluded.begin() + begin,
                                         plan.excluded.begin() + begin + count);
    const auto gallery_rows = [&](std::int64_t first, std::int64_t size) {
      return rows.at(std::span(plan.gallery).subspan(first, size));
    };
    std::vector<Neighbors> some =
        index ? index->search(asked, k, excluded)
              : search_in_blocks(gallery, rows.block, gallery_rows, asked, k, excluded);
    std::move(some.begin(), some.end(), std::back_inserter(found));
    progress.advance(count);
  }
  return found;
}

}  // namespace

Matching match_images(const ItemColumns& items, const MatchedRows& rows, MatchMode mode,
                      bool keep_source, int k, bool quiet) {
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
  const std::vector<Neighbors> found = search(plan, rows, k, quiet);
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
