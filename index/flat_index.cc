#include "index/flat_index.h"

#include <faiss/Index.h>
#include <faiss/IndexFlat.h>

#include <algorithm>
#include <optional>

#include "probe/core/error.h"

namespace probe {
namespace {

bool better(const Neighbor& a, const Neighbor& b) {
  return a.score != b.score ? a.score > b.score : a.row < b.row;
}

}  // namespace

struct FlatIndex::State {
  RowMatrix gallery;  // unit rows
  faiss::IndexFlatIP flat;

  explicit State(const RowMatrix& rows) : gallery(unit_rows(rows)), flat(rows.cols()) {
    flat.add(gallery.rows(), gallery.data());
  }

  // FAISS scores one query in another order of additions than a batch, and says nothing
  // about the order of ties. Scores are therefore computed again by one plain sum in
  // double, and the candidates sorted by (score, row).
  float exact_score(const float* query, std::int64_t row) const {
    const float* vector = gallery.data() + row * gallery.cols();
    double sum = 0.0;
    for (Eigen::Index i = 0; i < gallery.cols(); ++i) sum += double{query[i]} * vector[i];
    return static_cast<float>(std::clamp(sum, -1.0, 1.0));
  }

  // The k best among FAISS's `fetch` candidates of one query, or nullopt if a row that was
  // not fetched might belong to them: FAISS's rounding differs from ours by less than
  // `slack`, so the last candidate must lie below the k-th best by more.
  std::optional<Neighbors> choose(const float* query, const float* scores,
                                  const faiss::Index::idx_t* rows, std::int64_t fetch, int k,
                                  const Excluded& excluded) const {
    Neighbors found;
    for (std::int64_t i = 0; i < fetch; ++i) {
      if (rows[i] < 0 ||
          std::binary_search(excluded.begin(), excluded.end(), std::int64_t{rows[i]})) {
        continue;
      }
      found.push_back({rows[i], exact_score(query, rows[i])});
    }
    std::sort(found.begin(), found.end(), better);
    const auto wanted = std::min<std::size_t>(static_cast<std::size_t>(k), found.size());
    const float slack = 1e-6f * static_cast<float>(gallery.cols());
    const bool certain = fetch == gallery.rows() ||
                         (found.size() > wanted &&
                          scores[fetch - 1] < found[wanted - 1].score - slack);
    if (!certain) return std::nullopt;
    found.resize(wanted);
    return found;
  }

  // One block of queries [q, d] at a time, since FAISS is many times faster on batches;
  // the few that remain uncertain (ties at the cut) are asked for again with more room.
  void search_block(const float* queries, std::int64_t count, int k, const Excluded* excluded,
                    Neighbors* result) const {
    std::int64_t fetch = k + 16;
    for (std::int64_t i = 0; i < count; ++i) {
      fetch = std::max<std::int64_t>(fetch, k + 16 + std::ssize(excluded[i]));
    }
    fetch = std::min<std::int64_t>(fetch, gallery.rows());
    std::vector<float> scores(count * fetch);
    std::vector<faiss::Index::idx_t> rows(count * fetch);
    flat.search(count, queries, fetch, scores.data(), rows.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const float* query = queries + i * gallery.cols();
      auto chosen = choose(query, &scores[i * fetch], &rows[i * fetch], fetch, k, excluded[i]);
      for (std::int64_t more = fetch; !chosen;) {
        more = std::min<std::int64_t>(gallery.rows(), 2 * more);
        std::vector<float> more_scores(more);
        std::vector<faiss::Index::idx_t> more_rows(more);
        flat.search(1, query, more, more_scores.data(), more_rows.data());
        chosen = choose(query, more_scores.data(), more_rows.data(), more, k, excluded[i]);
      }
      result[i] = std::move(*chosen);
    }
  }
};

FlatIndex::FlatIndex(const RowMatrix& gallery) : state_(std::make_unique<State>(gallery)) {}
FlatIndex::~FlatIndex() = default;

std::int64_t FlatIndex::size() const { return state_->gallery.rows(); }

std::vector<Neighbors> FlatIndex::search(const RowMatrix& queries, int k,
                                         const std::vector<Excluded>& excluded) const {
  if (k < 1) throw Error(ErrorKind::input, "search: expected k of 1 or more, got " + std::to_string(k));
  if (queries.cols() != state_->gallery.cols()) {
    throw Error(ErrorKind::input, "search: expected queries of " +
                                      std::to_string(state_->gallery.cols()) +
                                      " dimensions, got " + std::to_string(queries.cols()));
  }
  const RowMatrix unit = unit_rows(queries);
  std::vector<Neighbors> result(static_cast<std::size_t>(unit.rows()));
  if (size() == 0) return result;
  constexpr Eigen::Index kBlock = 256;
  const std::vector<Excluded> none(excluded.empty() ? unit.rows() : 0);
  const std::vector<Excluded>& skip = excluded.empty() ? none : excluded;
  for (Eigen::Index begin = 0; begin < unit.rows(); begin += kBlock) {
    const Eigen::Index count = std::min(kBlock, unit.rows() - begin);
    state_->search_block(unit.row(begin).data(), count, k, &skip[begin], &result[begin]);
  }
  return result;
}

std::string faiss_version() {
  return std::to_string(FAISS_VERSION_MAJOR) + "." + std::to_string(FAISS_VERSION_MINOR) + "." +
         std::to_string(FAISS_VERSION_PATCH);
}

}  // namespace probe
