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

// Rows of a gallery that is asked for whole are read so many at a time by an approximate index.
constexpr std::int64_t kRowsAtATime = 8192;
constexpr std::int64_t kQueriesForRecall = 200;

// The plan's queries and gallery as vectors.
struct Search {
  const MatchPlan& plan;
  const MatchedRows& rows;
  int k = 0;
  bool quiet = false;

  std::int64_t gallery_size() const { return std::ssize(plan.gallery); }
  std::int64_t gallery_block() const { return rows.block == 0 ? kRowsAtATime : rows.block; }
  RowMatrix gallery(std::int64_t begin, std::int64_t count) const {
    return rows.at(std::span(plan.gallery).subspan(begin, count));
  }

  // `find(queries, their vectors, what each must not be given)`, some queries at a time.
  template <typename Find>
  std::vector<Neighbors> for_all_queries(const Find& find) const {
    const auto queries = std::ssize(plan.queries);
    const double pairs = static_cast<double>(queries) * static_cast<double>(gallery_size());
    Progress progress("matching", queries, quiet || pairs < kPairsWithoutProgress);
    const std::int64_t step = rows.block == 0 ? kQueriesAtATime : rows.block;
    std::vector<Neighbors> found;
    for (std::int64_t begin = 0; begin < queries; begin += step) {
      const std::int64_t count = std::min(step, queries - begin);
      std::vector<Neighbors> some =
          find(rows.at(std::span(plan.queries).subspan(begin, count)),
               std::vector<Excluded>(plan.excluded.begin() + begin,
                                     plan.excluded.begin() + begin + count));
      std::move(some.begin(), some.end(), std::back_inserter(found));
      progress.advance(count);
    }
    return found;
  }

  std::vector<Neighbors> in_blocks(const RowMatrix& asked,
                                   const std::vector<Excluded>& excluded) const {
    return search_in_blocks(
        gallery_size(), gallery_block(),
        [this](std::int64_t begin, std::int64_t count) { return gallery(begin, count); }, asked, k,
        excluded);
  }

  std::vector<Neighbors> exact() const {
    std::optional<FlatIndex> index;
    if (rows.block == 0) index.emplace(rows.at(plan.gallery));
    return for_all_queries([&](const RowMatrix& asked, const std::vector<Excluded>& excluded) {
      return index ? index->search(asked, k, excluded) : in_blocks(asked, excluded);
    });
  }

  std::vector<Neighbors> approximate(ApproximateOptions options, ApproximateUse& use) const {
    // What does not fit in memory does not fit there as lists either.
    if (rows.block > 0) options.folder = std::filesystem::temp_directory_path();
    const ApproximateIndex index(
        gallery_size(), gallery_block(),
        [this](std::int64_t begin, std::int64_t count) { return gallery(begin, count); }, options);
    use.index = index.description();
    std::vector<Neighbors> found =
        for_all_queries([&](const RowMatrix& asked, const std::vector<Excluded>& excluded) {
          return index.search(asked, k, excluded);
        });
    measure_recall(found, use);
    return found;
  }

  void measure_recall(const std::vector<Neighbors>& found, ApproximateUse& use) const {
    const auto queries = std::ssize(plan.queries);
    use.queries = std::min(queries, kQueriesForRecall);
    std::vector<std::int64_t> places;
    std::vector<Excluded> excluded;
    for (std::int64_t i = 0; i < use.queries; ++i) {
      const std::int64_t query = i * queries / use.queries;
      places.push_back(plan.queries[query]);
      excluded.push_back(plan.excluded[query]);
    }
    const std::vector<Neighbors> exact = in_blocks(rows.at(places), excluded);
    for (std::int64_t i = 0; i < use.queries; ++i) {
      const Neighbors& mine = found[i * queries / use.queries];
      use.recall.total += std::ssize(exact[i]);
      for (const Neighbor& wanted : exact[i]) {
        use.recall.correct += std::any_of(mine.begin(), mine.end(), [&](const Neighbor& neighbor) {
          return neighbor.row == wanted.row;
        });
      }
    }
  }
};

}  // namespace

Matching match_images(const ItemColumns& items, const MatchedRows& rows, MatchMode mode,
                      bool keep_source, int k, bool quiet,
                      const std::optional<ApproximateOptions>& approximate) {
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
  const Search search{plan, rows, k, quiet};
  std::vector<Neighbors> found;
  if (approximate && search.gallery_size() >= kFewestRowsToApproximate) {
    matching.approximate.emplace();
    found = search.approximate(*approximate, *matching.approximate);
  } else {
    found = search.exact();
  }
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
