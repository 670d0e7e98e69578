// The oracle is a naive double loop.
#include "index/flat_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "tests/support/expect_error.h"

namespace probe {
namespace {

RowMatrix random_rows(int n, int d, int seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  RowMatrix rows(n, d);
  for (Eigen::Index i = 0; i < rows.size(); ++i) rows.data()[i] = normal(generator);
  return rows;
}

std::vector<std::int64_t> naive(const RowMatrix& gallery, const RowMatrix& queries, int query,
                                int k, const Excluded& excluded) {
  const RowMatrix g = unit_rows(gallery), q = unit_rows(queries);
  std::vector<std::pair<float, std::int64_t>> scored;
  for (Eigen::Index r = 0; r < g.rows(); ++r) {
    if (std::find(excluded.begin(), excluded.end(), r) != excluded.end()) continue;
    double sum = 0;
    for (Eigen::Index c = 0; c < g.cols(); ++c) sum += double(q(query, c)) * g(r, c);
    scored.emplace_back(-static_cast<float>(std::clamp(sum, -1.0, 1.0)), r);
  }
  std::sort(scored.begin(), scored.end());
  std::vector<std::int64_t> rows;
  for (const auto& [score, row] : scored) rows.push_back(row);
  rows.resize(std::min<std::size_t>(k, rows.size()));
  return rows;
}

std::vector<std::int64_t> rows_of(const Neighbors& neighbors) {
  std::vector<std::int64_t> rows;
  for (const Neighbor& neighbor : neighbors) rows.push_back(neighbor.row);
  return rows;
}

TEST(FlatIndex, EqualsTheNaiveLoop) {
  for (const int n : {1, 2, 7, 100, 700}) {
    const RowMatrix gallery = random_rows(n, 32, n), queries = random_rows(300, 32, 99);
    const auto found = FlatIndex(gallery).search(queries, 5, {});
    for (int q = 0; q < 300; ++q) {
      ASSERT_EQ(rows_of(found[q]), naive(gallery, queries, q, 5, {})) << n << " " << q;
    }
  }
}

// Galleries too small to train anything on: the search is exact at every size.
TEST(FlatIndex, Bugcase32_AnySizeEqualsBruteForce) {
  const RowMatrix queries = random_rows(3, 8, 5);
  for (int n = 1; n <= 200; ++n) {
    const RowMatrix gallery = random_rows(n, 8, n);
    const auto found = FlatIndex(gallery).search(queries, 30, {});
    for (int q = 0; q < 3; ++q) {
      ASSERT_EQ(rows_of(found[q]), naive(gallery, queries, q, 30, {})) << n << " " << q;
    }
  }
}

// Every vector eight times: all cuts fall into ties, which go to the lower rows.
TEST(FlatIndex, TiesGoToTheLowerRow) {
  const RowMatrix base = random_rows(50, 16, 1);
  RowMatrix gallery(400, 16);
  for (int i = 0; i < 400; ++i) gallery.row(i) = base.row(i % 50);
  const auto found = FlatIndex(gallery).search(base, 5, {});
  for (int q = 0; q < 50; ++q) {
    EXPECT_EQ(rows_of(found[q]),
              (std::vector<std::int64_t>{q, q + 50, q + 100, q + 150, q + 200}));
  }
  const RowMatrix same = RowMatrix::Ones(1000, 4);
  EXPECT_EQ(rows_of(FlatIndex(same).search(same.topRows(1), 3, {})[0]),
            (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(FlatIndex, ExcludedRowsNeverAppear) {
  const RowMatrix rows = random_rows(200, 8, 3);
  std::vector<Excluded> excluded;
  for (std::int64_t i = 0; i < 200; ++i) excluded.push_back({i});
  const auto found = FlatIndex(rows).search(rows, 5, excluded);
  for (int q = 0; q < 200; ++q) {
    ASSERT_EQ(rows_of(found[q]), naive(rows, rows, q, 5, excluded[q]));
  }
}

TEST(Bugcase28, FewerItemsThanK) {
  const RowMatrix three = random_rows(3, 8, 4);
  const auto found = FlatIndex(three).search(three, 5, {{0}, {1}, {2}});
  for (const Neighbors& neighbors : found) EXPECT_EQ(neighbors.size(), 2u);
  const RowMatrix one = three.topRows(1);
  EXPECT_TRUE(FlatIndex(one).search(one, 5, {{0}})[0].empty());
}

TEST(Bugcase29, LengthDoesNotMatterAndCosineIsAtMostOne) {
  const RowMatrix rows = random_rows(8, 512, 5);
  RowMatrix longer = rows;
  longer.row(5) *= 10;
  const auto plain = FlatIndex(rows).search(rows, 8, {});
  const auto scaled = FlatIndex(longer).search(longer, 8, {});
  for (int q = 0; q < 8; ++q) {
    EXPECT_EQ(rows_of(plain[q]), rows_of(scaled[q]));
    EXPECT_EQ(rows_of(plain[q])[0], q);
    EXPECT_LE(scaled[q][0].score, 1.0f);
  }
}

// Large enough for the scan of bytes, with every vector four times (ties at every cut), one part
// of them indistinguishable by bytes; blocks cut through the ties.
TEST(FlatIndex, EveryWayGivesTheSameNeighbours) {
  const RowMatrix base = random_rows(1500, 48, 11);
  RowMatrix gallery(6000, 48);
  for (int i = 0; i < 6000; ++i) gallery.row(i) = base.row(i % 1500);
  const RowMatrix queries = random_rows(40, 48, 12);
  std::vector<Excluded> excluded(40);
  for (int q = 0; q < 40; ++q) excluded[q] = {q, 1500 + q, 4000};
  for (const int k : {1, 5, 90, 200}) {
    const auto faiss = FlatIndex(gallery, SearchWay::faiss).search(queries, k, excluded);
    EXPECT_EQ(FlatIndex(gallery).search(queries, k, excluded), faiss) << k;
    for (const int block : {700, 2500, 6000, 9000}) {
      std::int64_t asked = 0;
      const auto rows = [&](std::int64_t begin, std::int64_t count) {
        EXPECT_LE(count, block);
        asked += count;
        return RowMatrix(gallery.middleRows(begin, count));
      };
      EXPECT_EQ(search_in_blocks(6000, block, rows, queries, k, excluded), faiss) << block;
      EXPECT_EQ(asked, 6000);
    }
    for (int q = 0; q < 40; ++q) {
      ASSERT_EQ(rows_of(faiss[q]), naive(gallery, queries, q, k, excluded[q])) << k << " " << q;
    }
  }
}

// FAISS itself drops a NaN row without a word.
TEST(FlatIndex, RefusesNaNZeroAndOtherWidths) {
  RowMatrix rows = random_rows(4, 8, 6);
  const FlatIndex index(rows);
  EXPECT_PROBE_ERROR(index.search(random_rows(1, 9, 1), 5, {}), ErrorKind::input,
                     "search: expected queries of 8 dimensions, got 9");
  EXPECT_PROBE_ERROR(index.search(rows, 0, {}), ErrorKind::input, "expected k of 1 or more");
  rows(2, 3) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_PROBE_ERROR(FlatIndex{rows}, ErrorKind::input, "row 2: expected finite values");
}

}  // namespace
}  // namespace probe
