#include "analysis/similarity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/projection.h"
#include "analysis/sampling.h"
#include "tests/support/expect_error.h"

namespace probe {
namespace {

using nlohmann::json;

RowMatrix matrix_of(const json& rows) {
  RowMatrix matrix(std::ssize(rows), std::ssize(rows.at(0)));
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) matrix(i, j) = rows.at(i).at(j).get<float>();
  }
  return matrix;
}

// Made by golden/make_similarity.py (numpy, scipy).
class SimilarityGolden : public testing::TestWithParam<int> {
 protected:
  const json golden_ =
      json::parse(std::ifstream(PROBE_SOURCE_DIR "/tests/analysis/golden/similarity.json"))
          .at("cases")
          .at(GetParam());
  const RowMatrix a_ = matrix_of(golden_.at("a")), b_ = matrix_of(golden_.at("b"));
};

// One case takes the products of features, the other those of items.
INSTANTIATE_TEST_SUITE_P(Cases, SimilarityGolden, testing::Values(0, 1));

TEST_P(SimilarityGolden, LinearCkaIsNumpys) {
  const RowMatrix a = centered(a_), b = centered(b_);
  const Cka cka =
      linear_cka(kernel_product(a, a), kernel_product(a, b), kernel_product(b, b));
  EXPECT_NEAR(cka.biased.value(), golden_.at("cka").get<double>(), 1e-6);
  EXPECT_NEAR(cka.debiased.value(), golden_.at("cka_debiased").get<double>(), 1e-5);
}

TEST_P(SimilarityGolden, OverlapsAreThoseOfSets) {
  using Lists = std::vector<std::vector<std::int64_t>>;
  EXPECT_EQ(neighbor_overlaps(golden_.at("neighbors_a").get<Lists>(),
                              golden_.at("neighbors_b").get<Lists>(), golden_.at("k").get<int>()),
            golden_.at("overlaps").get<std::vector<double>>());
}

TEST_P(SimilarityGolden, RsaIsScipys) {
  EXPECT_NEAR(correlation(distance_ranks(a_), distance_ranks(b_)).value(),
              golden_.at("rsa").get<double>(), 1e-9);
}

TEST_P(SimilarityGolden, ProjectionIsThatOfTheSingularVectors) {
  const Projection projection = project_to_plane(a_);
  for (int c = 0; c < 2; ++c) {
    EXPECT_NEAR(projection.explained[c], golden_.at("explained").at(c).get<double>(), 1e-6);
    for (Eigen::Index i = 0; i < a_.rows(); ++i) {
      EXPECT_NEAR(projection.coordinates(i, c), golden_.at("points").at(i).at(c).get<double>(),
                  1e-4);
    }
  }
}

// Kornblith et al. 2019, section 2: invariant to rotation, scale and shift.
TEST(Similarity, CkaOfARotatedScaledAndShiftedCopyIsOne) {
  RowMatrix a(5, 2), b(5, 2);
  a << 1, 2, -3, 0.5f, 4, 4, 0, -1, 2, 7;
  for (int i = 0; i < 5; ++i) b.row(i) << -3 * a(i, 1) + 10, 3 * a(i, 0) - 4;
  const RowMatrix x = centered(a), y = centered(b);
  const Cka cka = linear_cka(kernel_product(x, x), kernel_product(x, y), kernel_product(y, y));
  EXPECT_NEAR(cka.biased.value(), 1.0, 1e-6);
  EXPECT_NEAR(cka.debiased.value(), 1.0, 1e-5);
}

TEST(Similarity, WhatDoesNotVaryIsUnknown) {
  const RowMatrix same = RowMatrix::Constant(5, 3, 0.1f);
  RowMatrix other(5, 3);
  other << 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1;
  const RowMatrix x = centered(same), y = centered(other);
  const Cka cka = linear_cka(kernel_product(x, x), kernel_product(x, y), kernel_product(y, y));
  EXPECT_FALSE(cka.biased);
  EXPECT_FALSE(cka.debiased);
  EXPECT_FALSE(correlation({1, 1, 1}, {1, 2, 3}));
  EXPECT_FALSE(correlation({1}, {2}));
  const Projection flat = project_to_plane(same);
  EXPECT_EQ(flat.explained[0], 0.0);
  EXPECT_TRUE(flat.coordinates.isZero());
  // Three items are too few for the debiased form only.
  const RowMatrix three = centered(other.topRows(3));
  const KernelProduct product = kernel_product(three, three);
  EXPECT_TRUE(linear_cka(product, product, product).biased);
  EXPECT_FALSE(linear_cka(product, product, product).debiased);
}

TEST(Similarity, EqualDistancesShareTheirRank) {
  RowMatrix corners(4, 2);
  corners << 1, 0, 0, 1, -1, 0, 0, -2;
  // Distances: 01:1 02:2 03:1 12:1 13:2 23:1.
  EXPECT_EQ(distance_ranks(corners), (std::vector<double>{2.5, 5.5, 2.5, 2.5, 5.5, 2.5}));
  corners.row(2).setZero();
  EXPECT_PROBE_ERROR(distance_ranks(corners), ErrorKind::input,
                     "row 2: a zero vector has no direction");
}

TEST(Sampling, DrawsEveryRowOnceAndDependsOnTheSeedOnly) {
  std::vector<std::int64_t> rows = shuffled_rows(50, 7);
  EXPECT_EQ(rows, shuffled_rows(50, 7));
  EXPECT_NE(rows, shuffled_rows(50, 8));
  std::sort(rows.begin(), rows.end());
  for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(rows[i], i);
  EXPECT_EQ(sample_rows(50, 60, 0).size(), 50u);
  const std::vector<std::int64_t> some = sample_rows(50, 5, 0);
  EXPECT_EQ(some.size(), 5u);
  EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
}

}  // namespace
}  // namespace probe
