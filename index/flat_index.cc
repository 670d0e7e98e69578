#include "index/flat_index.h"

#include <faiss/Index.h>
#include <faiss/utils/distances.h>

#include <algorithm>
#include <optional>

#include "index/byte_scan.h"
#include "index/byte_tiles.h"
#include "index/exact_score.h"
#include "probe/core/error.h"

namespace probe {
namespace {

// Fewer rows are searched faster than they are turned into bytes.
constexpr std::int64_t kFewestRowsForCodes = 2048;

}  // namespace

struct FlatIndex::State {
  RowMatrix gallery;                  // unit rows
  std::optional<GalleryCodes> codes;  // if it is searched by bytes first

  State(RowMatrix rows, SearchWay way) : gallery(std::move(rows)) {
    normalize_rows(gallery);
    if (way == SearchWay::automatic && gallery.rows() >= kFewestRowsForCodes &&
        can_use_byte_codes()) {
      codes = encode_gallery(gallery, can_use_tiles());
    }
  }

  void ask_faiss(const float* queries, std::int64_t count, std::int64_t fetch, float* scores,
                 faiss::Index::idx_t* rows) const {
    faiss::knn_inner_product(queries, gallery.data(), gallery.cols(), count, gallery.rows(), fetch,
                             scores, rows);
  }

  // By bytes first; nothing if they do not tell the vectors apart.
  std::optional<std::vector<Neighbors>> search_codes(const RowMatrix& unit, int k,
                                                     const std::vector<Excluded>& excluded) const {
    if (!codes || k > gallery.rows() / 64) return std::nullopt;
    return scan_codes(*codes, gallery, unit, k, excluded);
  }

  // FAISS scores one query in another order of additions than a batch, and says nothing about
  // the order of ties.
  float score_of(const float* query, std::int64_t row) const {
    return exact_score(query, gallery.data() + row * gallery.cols(), gallery.cols());
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
      found.push_back({rows[i], score_of(query, rows[i])});
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
    ask_faiss(queries, count, fetch, scores.data(), rows.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const float* query = queries + i * gallery.cols();
      auto chosen = choose(query, &scores[i * fetch], &rows[i * fetch], fetch, k, excluded[i]);
      for (std::int64_t more = fetch; !chosen;) {
        more = std::min<std::int64_t>(gallery.rows(), 2 * more);
        std::vector<float> more_scores(more);
        std::vector<faiss::Index::idx_t> more_rows(more);
        ask_faiss(query, 1, more, more_scores.data(), more_rows.data());
        chosen = choose(query, more_scores.data(), more_rows.data(), more, k, excluded[i]);
      }
      result[i] = std::move(*chosen);
    }
  }
};

FlatIndex::FlatIndex(RowMatrix gallery, SearchWay way)
    : state_(std::make_unique<State>(std::move(gallery), way)) {}
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
  const std::vector<Excluded> none(excluded.empty() ? unit.rows() : 0);
  const std::vector<Excluded>& skip = excluded.empty() ? none : excluded;
  if (auto found = state_->search_codes(unit, k, skip)) return *std::move(found);
  constexpr Eigen::Index kBlock = 256;
  for (Eigen::Index begin = 0; begin < unit.rows(); begin += kBlock) {
    const Eigen::Index count = std::min(kBlock, unit.rows() - begin);
    state_->search_block(unit.row(begin).data(), count, k, &skip[begin], &result[begin]);
  }
  return result;
}

std::vector<Neighbors> search_in_blocks(std::int64_t size, std::int64_t block,
                                        const GalleryRows& rows, const RowMatrix& queries, int k,
                                        const std::vector<Excluded>& excluded) {
  std::vector<Neighbors> best(queries.rows());
  for (std::int64_t begin = 0; begin < size; begin += block) {
    const std::int64_t count = std::min(block, size - begin);
    std::vector<Excluded> skip(excluded.size());
    for (std::size_t q = 0; q < excluded.size(); ++q) {
      for (const std::int64_t row : excluded[q]) {
        if (row >= begin && row < begin + count) skip[q].push_back(row - begin);
      }
    }
    const auto found = FlatIndex(rows(begin, count)).search(queries, k, skip);
    for (std::size_t q = 0; q < best.size(); ++q) {
      for (const Neighbor& neighbor : found[q]) {
        best[q].push_back({neighbor.row + begin, neighbor.score});
      }
      keep_best(best[q], k);
    }
  }
  return best;
}

std::string faiss_version() {
  return std::to_string(FAISS_VERSION_MAJOR) + "." + std::to_string(FAISS_VERSION_MINOR) + "." +
         std::to_string(FAISS_VERSION_PATCH);
}

}  // namespace probe
