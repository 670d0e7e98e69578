// The oracle is a naive double loop; the bound is checked against vectors rounded by hand.
#include "index/byte_scan.h"

#include "index/byte_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace probe {
namespace {

RowMatrix random_rows(int n, int d, unsigned seed, float shared = 0.0f) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  RowMatrix rows(n, d);
  for (Eigen::Index i = 0; i < rows.size(); ++i) rows.data()[i] = shared + normal(generator);
  return rows;
}

float naive_score(const RowMatrix& q, std::int64_t query, const RowMatrix& g, std::int64_t row) {
  double sum = 0;
  for (Eigen::Index c = 0; c < g.cols(); ++c) sum += double{q(query, c)} * g(row, c);
  return static_cast<float>(std::clamp(sum, -1.0, 1.0));
}

std::vector<Neighbors> naive(const RowMatrix& g, const RowMatrix& q, int k) {
  std::vector<Neighbors> all(q.rows());
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    for (Eigen::Index r = 0; r < g.rows(); ++r) all[i].push_back({r, naive_score(q, i, g, r)});
    std::stable_sort(all[i].begin(), all[i].end(),
                     [](const Neighbor& a, const Neighbor& b) { return a.score > b.score; });
    all[i].resize(std::min<std::size_t>(k, all[i].size()));
  }
  return all;
}

class ByteScan : public testing::TestWithParam<bool> {  // tiled
 protected:
  void SetUp() override {
    if (!can_use_byte_codes()) GTEST_SKIP() << "this CPU has no AVX2";
    if (GetParam() && !can_use_tiles()) GTEST_SKIP() << "this CPU has no AMX";
  }
};

// Widths that are and are not a multiple of 64, odd numbers of rows and queries, vectors that
// share most of their direction (as mean tokens do), and one outlying dimension.
TEST_P(ByteScan, EqualsTheNaiveLoop) {
  struct Case {
    int n, d, queries, k;
    float shared;
    bool outlier;
  };
  for (const Case& c : {Case{5001, 96, 33, 5, 0.0f, false}, Case{4999, 50, 7, 1, 0.0f, false},
                        Case{6000, 64, 130, 20, 2.0f, false}, Case{4098, 100, 1, 5, 0.5f, true},
                        Case{3, 40, 5, 2, 0.0f, false}}) {
    RowMatrix gallery = random_rows(c.n, c.d, 1, c.shared);
    RowMatrix queries = random_rows(c.queries, c.d, 2, c.shared);
    if (c.outlier) gallery.col(7) *= 8, queries.col(7) *= 8;
    normalize_rows(gallery);
    normalize_rows(queries);
    const GalleryCodes codes = encode_gallery(gallery, GetParam());
    const auto found =
        scan_codes(codes, gallery, queries, c.k, std::vector<Excluded>(c.queries));
    ASSERT_TRUE(found.has_value()) << c.n;
    EXPECT_EQ(*found, naive(gallery, queries, c.k)) << c.n;
  }
}

TEST_P(ByteScan, RowsThatAQueryMustNotBeGivenAreLeftOut) {
  const RowMatrix rows = unit_rows(random_rows(3000, 32, 3));
  const GalleryCodes codes = encode_gallery(rows, GetParam());
  const RowMatrix queries = rows.topRows(8);
  std::vector<Excluded> itself;
  for (std::int64_t q = 0; q < 8; ++q) itself.push_back({q});
  const auto found = scan_codes(codes, rows, queries, 1, itself);
  ASSERT_TRUE(found.has_value());
  const auto all = naive(rows, queries, 2);
  for (int q = 0; q < 8; ++q) EXPECT_EQ(found->at(q).at(0), all[q][1]);
}

// The largest products that codes can have, all of one sign: 16 bits must hold four of them.
TEST_P(ByteScan, LargestCodesDoNotOverflow) {
  RowMatrix gallery = RowMatrix::Ones(8, 128);
  for (int i = 0; i < 8; ++i) gallery.row(i) *= i % 2 == 0 ? 1.0f : -1.0f;
  normalize_rows(gallery);
  const GalleryCodes codes = encode_gallery(gallery, GetParam());
  EXPECT_EQ(row_codes(codes, 0)[0], GetParam() ? 255 : 127);
  EXPECT_EQ(row_codes(codes, 1)[0], 1);
  const auto found = scan_codes(codes, gallery, gallery, 8, std::vector<Excluded>(8));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, naive(gallery, gallery, 8));
  // One best alone: it is kept only if the scan scores it right.
  EXPECT_EQ(*scan_codes(codes, gallery, gallery, 1, std::vector<Excluded>(8)),
            naive(gallery, gallery, 1));
}

// Bytes cannot order them, so nearly every row would be scored twice.
TEST_P(ByteScan, GivesUpOnVectorsThatBytesCannotTellApart) {
  const RowMatrix same = unit_rows(RowMatrix::Ones(9000, 32));
  const GalleryCodes codes = encode_gallery(same, GetParam());
  const RowMatrix queries = same.topRows(4);
  EXPECT_FALSE(scan_codes(codes, same, queries, 5, std::vector<Excluded>(4)).has_value());
}

// |r - r^|, |r^| and r.m of byte_codes.h, computed from the codes in double.
TEST_P(ByteScan, ErrorsAndLengthsAreUpperBounds) {
  const RowMatrix rows = unit_rows(random_rows(500, 70, 4, 0.3f));
  const GalleryCodes codes = encode_gallery(rows, GetParam());
  const QueryCodes queries = encode_queries(rows, codes);
  for (int i = 0; i < 500; ++i) {
    double error = 0, length = 0, query_error = 0, rest_length = 0;
    for (int j = 0; j < 70; ++j) {
      const double rest = double{rows(i, j)} - codes.mean(j);
      const double back = double{codes.scale[i]} * (row_codes(codes, i)[j] - (GetParam() ? 128 : 64));
      const double query_back = double{queries.scale[i]} * query_codes(queries, i, codes.stride)[j];
      error += (rest - back) * (rest - back);
      length += back * back;
      query_error += (rest - query_back) * (rest - query_back);
      rest_length += rest * rest;
    }
    EXPECT_GE(codes.error[i], std::sqrt(error));
    EXPECT_LE(codes.error[i], 1.01 * std::sqrt(error));
    EXPECT_GE(codes.length[i], std::sqrt(length));
    EXPECT_GE(queries.error[i], std::sqrt(query_error));
    EXPECT_LE(queries.error[i], 1.01 * std::sqrt(query_error));
    EXPECT_GE(queries.length[i], std::sqrt(rest_length));
  }
}

INSTANTIATE_TEST_SUITE_P(ByteScanWith, ByteScan, testing::Bool(),
                         [](const auto& tiled) { return tiled.param ? "tiles" : "avx2"; });

}  // namespace
}  // namespace probe
