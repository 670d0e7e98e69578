#include "index/byte_scan.h"

#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "index/byte_tiles.h"
#include "index/exact_score.h"

namespace probe {
namespace {

constexpr int kRows = 4, kQueries = 2;       // of one kernel call
constexpr std::int64_t kQueryBlock = 128;    // their codes stay in the second-level cache
constexpr std::int64_t kRowBlock = 32;       // and these in the first
static_assert(kQueryBlock % kTiledQueries == 0 && kRowBlock % kTiledRows == 0);

__attribute__((target("avx2"))) inline __m256i load(const void* bytes) {
  return _mm256_load_si256(static_cast<const __m256i*>(bytes));
}

// sums + products of 64 dimensions. Four of them fit 16 bits (byte_codes.h).
__attribute__((target("avx2"))) inline __m256i add_products(__m256i sums, const std::uint8_t* row,
                                                           __m256i query0, __m256i query1) {
  const __m256i fours = _mm256_add_epi16(_mm256_maddubs_epi16(load(row), query0),
                                         _mm256_maddubs_epi16(load(row + 32), query1));
  return _mm256_add_epi32(sums, _mm256_madd_epi16(fours, _mm256_set1_epi16(1)));
}

// The four sums of four registers.
__attribute__((target("avx2"))) inline __m128i add_up(__m256i a, __m256i b, __m256i c, __m256i d) {
  const __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
  return _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

// dots[query][row] = sum of the products of their codes. Eight sums, each in a register of its
// own: as an array they would be kept in memory.
__attribute__((target("avx2"))) void dot_codes(const std::uint8_t* rows, const std::int8_t* queries,
                                               std::int64_t stride, __m128i* dots) {
  static_assert(kRows == 4 && kQueries == 2);
  __m256i a0{}, a1{}, a2{}, a3{}, b0{}, b1{}, b2{}, b3{};
  for (std::int64_t j = 0; j < stride; j += 64) {
    const std::uint8_t* row = rows + j;
    const __m256i a = load(queries + j), a_next = load(queries + j + 32);
    const __m256i b = load(queries + stride + j), b_next = load(queries + stride + j + 32);
    a0 = add_products(a0, row, a, a_next);
    b0 = add_products(b0, row, b, b_next);
    a1 = add_products(a1, row + stride, a, a_next);
    b1 = add_products(b1, row + stride, b, b_next);
    a2 = add_products(a2, row + 2 * stride, a, a_next);
    b2 = add_products(b2, row + 2 * stride, b, b_next);
    a3 = add_products(a3, row + 3 * stride, a, a_next);
    b3 = add_products(b3, row + 3 * stride, b, b_next);
  }
  dots[0] = add_up(a0, a1, a2, a3);
  dots[1] = add_up(b0, b1, b2, b3);
}

// Puts a neighbour among the k best so far of a query, of which the front is the worst. `floor`: the
// score that a row must reach.
void offer(Neighbors& heap, const Neighbor& neighbor, int k, float& floor) {
  if (std::ssize(heap) == k) {
    if (!better(neighbor, heap.front())) return;
    std::pop_heap(heap.begin(), heap.end(), better);
    heap.back() = neighbor;
  } else {
    heap.push_back(neighbor);
  }
  std::push_heap(heap.begin(), heap.end(), better);
  if (std::ssize(heap) == k) floor = std::max(floor, heap.front().score);
}

// A score in float, at most float_slack(d) from the exact one.
__attribute__((target("avx2,fma"))) float float_score(const float* query, const float* row,
                                                     Eigen::Index d) {
  __m256 sums[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  Eigen::Index i = 0;
  for (; i + 16 <= d; i += 16) {
    for (int part = 0; part < 2; ++part) {
      sums[part] = _mm256_fmadd_ps(_mm256_loadu_ps(query + i + 8 * part),
                                   _mm256_loadu_ps(row + i + 8 * part), sums[part]);
    }
  }
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, _mm256_add_ps(sums[0], sums[1]));
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  for (; i < d; ++i) sum += query[i] * row[i];
  return sum;
}

// One rounding of 2^-24 for each addition a product goes through; the products add up to at
// most 1, since both vectors have length 1.
float float_slack(Eigen::Index d) { return 6e-8f * (static_cast<float>(d) / 16 + 30); }

struct Work {
  const GalleryCodes& codes;
  const RowMatrix& gallery;
  const QueryCodes& query_codes;
  const std::vector<CodeBlock>& tiles;  // of the queries; empty: without tiles
  const RowMatrix& queries;
  int k;
  const std::vector<Excluded>& excluded;
  float slack;  // of float_score
  // What some thread's k-th best reaches, for each query: no worse row is among the k best of all.
  std::vector<std::atomic<float>>& reached;
};

// What one thread does: some queries against some rows.
class Scan {
 public:
  Scan(const Work& work, std::int64_t begin, std::int64_t end)
      : work_(work), begin_(begin), end_(end), best_(end - begin),
        // Queries of the padding ask for nothing.
        floors_(kQueryBlock, std::numeric_limits<float>::infinity()) {
    std::fill_n(floors_.begin(), end - begin, -std::numeric_limits<float>::infinity());
  }

  // False if too many rows were looked at again; `stop` is set then, and makes others stop.
  bool run(std::int64_t row_begin, std::int64_t row_end, std::atomic<bool>& stop) {
    std::optional<TileLoan> loan;
    if (!work_.tiles.empty()) loan.emplace();
    for (std::int64_t row = row_begin; row < row_end; row += kRowBlock) {
      if (stop) return false;
      const std::int64_t block_end = std::min(row + kRowBlock, row_end);
      share_floors();
      if (loan) {
        scan_tiles(row, block_end);
      } else {
        for (std::int64_t query = begin_; query < end_; query += kQueries) {
          scan_block(query, row, block_end);
        }
      }
      // Early rows are nearly all looked at: the k best are not yet good. Later a share of 1 in
      // 50 costs about what the scan itself does.
      const double seen = static_cast<double>(block_end - row_begin);
      const double share = looked_at_ / (seen * static_cast<double>(end_ - begin_));
      if (seen >= 4096 && share > 0.02 + 800 / seen) {
        stop = true;
        return false;
      }
    }
    return true;
  }

  // The k best of each query, in no order.
  const std::vector<Neighbors>& best() const { return best_; }

 private:
  // A store may undo a higher one of another thread: both are true.
  void share_floors() {
    for (std::int64_t query = begin_; query < end_; ++query) {
      std::atomic<float>& reached = work_.reached[query];
      float& floor = floors_[query - begin_];
      const float other = reached.load(std::memory_order_relaxed);
      if (other > floor) floor = other;
      if (floor > other) reached.store(floor, std::memory_order_relaxed);
    }
  }

  void scan_tiles(std::int64_t row, std::int64_t row_end) {
    const auto rows = row_end - row;
    std::uint32_t open[kTiledRows];
    for (std::int64_t query = begin_; query < end_; query += kTiledQueries) {
      judge_tiles(work_.codes, row, work_.query_codes, work_.tiles, query, &floors_[query - begin_], open);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (; open[r] != 0; open[r] &= open[r] - 1) look_at(query + __builtin_ctz(open[r]), row + r);
      }
    }
  }

  void scan_block(std::int64_t query, std::int64_t row, std::int64_t row_end) {
    const std::int64_t stride = work_.codes.stride;
    const auto queries = static_cast<int>(std::min<std::int64_t>(kQueries, end_ - query));
    for (; row < row_end; row += kRows) {
      const auto rows = static_cast<int>(std::min<std::int64_t>(kRows, row_end - row));
      __m128i dots[kQueries];
      dot_codes(row_codes(work_.codes, row), query_codes(work_.query_codes, query, stride), stride,
                dots);
      for (int q = 0; q < queries; ++q) judge(query + q, row, rows, dots[q]);
    }
  }

  // Rows [row, row + 4), of which the first `rows` count.
  __attribute__((target("avx2,fma"))) void judge(std::int64_t query, std::int64_t row, int rows,
                                                 __m128i dots) {
    const GalleryCodes& codes = work_.codes;
    const QueryCodes& queries = work_.query_codes;
    const float floor = floors_[query - begin_];
    const __m128i dot = _mm_sub_epi32(dots, _mm_set1_epi32(queries.offset[query]));
    const __m128 scale =
        _mm_mul_ps(_mm_set1_ps(queries.scale[query]), _mm_loadu_ps(&codes.scale[row]));
    const __m128 mean_parts =
        _mm_add_ps(_mm_set1_ps(queries.mean_part[query]), _mm_loadu_ps(&codes.mean_part[row]));
    const __m128 score = _mm_fmadd_ps(scale, _mm_cvtepi32_ps(dot), mean_parts);
    __m128 bound = _mm_fmadd_ps(_mm_loadu_ps(&codes.error[row]),
                                _mm_set1_ps(queries.length[query]), _mm_set1_ps(kRoundingSlack));
    bound = _mm_fmadd_ps(_mm_loadu_ps(&codes.length[row]), _mm_set1_ps(queries.error[query]),
                         bound);
    const __m128 reaches = _mm_cmpge_ps(_mm_add_ps(score, bound), _mm_set1_ps(floor));
    int open = _mm_movemask_ps(reaches) & ((1 << rows) - 1);
    for (; open != 0; open &= open - 1) {
      look_at(query, row + __builtin_ctz(static_cast<unsigned>(open)));
    }
  }

  void look_at(std::int64_t query, std::int64_t row) {
    ++looked_at_;
    float& floor = floors_[query - begin_];
    const Eigen::Index d = work_.gallery.cols();
    const float* vector = work_.gallery.data() + row * d;
    const float* asked = work_.queries.data() + query * d;
    if (float_score(asked, vector, d) + work_.slack < floor) return;
    const Excluded& skip = work_.excluded[query];
    if (std::binary_search(skip.begin(), skip.end(), row)) return;
    offer(best_[query - begin_], {row, exact_score(asked, vector, d)}, work_.k, floor);
  }

  const Work& work_;
  std::int64_t begin_, end_;
  std::vector<Neighbors> best_;
  std::vector<float> floors_;
  double looked_at_ = 0;
};

}  // namespace

std::optional<std::vector<Neighbors>> scan_codes(const GalleryCodes& codes,
                                                 const RowMatrix& gallery,
                                                 const RowMatrix& queries, int k,
                                                 const std::vector<Excluded>& excluded) {
  const QueryCodes query_codes = encode_queries(queries, codes);
  std::vector<CodeBlock> tiles;
  if (codes.tiled) tiles = tile_queries(query_codes, codes.stride);
  std::vector<std::atomic<float>> reached(queries.rows());
  for (auto& floor : reached) floor = -std::numeric_limits<float>::infinity();
  const Work work{codes, gallery, query_codes, tiles, queries, k, excluded, float_slack(gallery.cols()),
                  reached};
  std::vector<Neighbors> result(queries.rows());
  std::atomic<bool> stop = false;
#pragma omp parallel
  {
    // A part of the rows for each thread, in whole blocks.
    const std::int64_t blocks = (codes.rows + kRowBlock - 1) / kRowBlock;
    const std::int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const std::int64_t row_begin = std::min(codes.rows, blocks * thread / threads * kRowBlock);
    const std::int64_t row_end = std::min(codes.rows, blocks * (thread + 1) / threads * kRowBlock);
    for (std::int64_t from = 0; from < queries.rows() && !stop; from += kQueryBlock) {
      const std::int64_t to = std::min<std::int64_t>(from + kQueryBlock, queries.rows());
      Scan scan(work, from, to);
      if (!scan.run(row_begin, row_end, stop)) break;
#pragma omp critical(probe_merge_best)
      for (std::int64_t q = from; q < to; ++q) {
        const Neighbors& part = scan.best()[q - from];
        result[q].insert(result[q].end(), part.begin(), part.end());
      }
    }
  }
  if (stop) return std::nullopt;
  for (Neighbors& neighbors : result) {
    keep_best(neighbors, k);
  }
  return result;
}

}  // namespace probe
