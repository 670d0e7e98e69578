#include "analysis/linear_probe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "analysis/knn_vote.h"
#include "probe/core/matrix.h"
#include "tests/support/expect_error.h"

namespace probe {
namespace {

using nlohmann::json;

Eigen::MatrixXd matrix_of(const json& rows) {
  Eigen::MatrixXd matrix(std::ssize(rows), std::ssize(rows.at(0)));
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) matrix(i, j) = rows.at(i).at(j).get<double>();
  }
  return matrix;
}

// Made by golden/make_linear.py: scikit-learn's LogisticRegression and DINOv2's vote in
// numpy, on vectors of demo photos. Two of the cases are multinomial, one is binary.
class LinearGolden : public testing::TestWithParam<int> {
 protected:
  const json all_ =
      json::parse(std::ifstream(PROBE_SOURCE_DIR "/tests/analysis/golden/linear.json"));
  const json golden_ = all_.at("cases").at(GetParam());
  const Eigen::MatrixXd train_ = matrix_of(golden_.at("train"));
  const Eigen::MatrixXd test_ = matrix_of(golden_.at("test"));
  const std::vector<int> train_classes_ = golden_.at("train_classes").get<std::vector<int>>();
  const int count_ = static_cast<int>(golden_.at("names").size());
};

INSTANTIATE_TEST_SUITE_P(Cases, LinearGolden, testing::Values(0, 1, 2));

TEST_P(LinearGolden, LogisticRegressionIsScikitLearns) {
  ProbeOptions options;
  options.c = golden_.at("c").get<double>();
  options.tolerance = 1e-9;
  const LinearProbe probe = fit_linear_probe(train_, train_classes_, count_, options, nullptr);
  EXPECT_EQ(probe.trouble, "");
  EXPECT_GT(probe.iterations, 0);
  // The optimum is unique; both stop within 1e-4 of the largest coefficient of it.
  const Eigen::MatrixXd weights = matrix_of(golden_.at("weights"));
  ASSERT_EQ(probe.weights.rows(), weights.rows());
  const double scale = weights.cwiseAbs().maxCoeff();
  EXPECT_LT((probe.weights - weights).cwiseAbs().maxCoeff(), 1e-4 * scale);
  // scikit-learn's intercepts of the multinomial case are free up to a common shift.
  Eigen::VectorXd shift(probe.intercepts.size());
  for (Eigen::Index c = 0; c < shift.size(); ++c) {
    shift[c] = probe.intercepts[c] - golden_.at("intercepts").at(c).get<double>();
  }
  if (count_ > 2) shift.array() -= shift.mean();
  EXPECT_LT(shift.cwiseAbs().maxCoeff(), 1e-4 * scale);
  const Eigen::MatrixXd logits = probe_logits(probe, test_);
  const Eigen::MatrixXd probabilities = matrix_of(golden_.at("probabilities"));
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    Eigen::Index best = 0;
    logits.row(i).maxCoeff(&best);
    EXPECT_EQ(best, golden_.at("predicted").at(i).get<int>()) << i;
    const Eigen::RowVectorXd own =
        (logits.row(i).array() - logits.row(i).maxCoeff()).exp().matrix();
    EXPECT_LT((own / own.sum() - probabilities.row(i)).cwiseAbs().maxCoeff(), 1e-4) << i;
  }
}

TEST_P(LinearGolden, AWarmStartEndsInTheSamePlace) {
  ProbeOptions options;
  options.tolerance = 1e-9;
  const LinearProbe first = fit_linear_probe(train_, train_classes_, count_, options, nullptr);
  options.c = golden_.at("c").get<double>();
  const LinearProbe warm = fit_linear_probe(train_, train_classes_, count_, options, &first);
  const LinearProbe cold = fit_linear_probe(train_, train_classes_, count_, options, nullptr);
  EXPECT_LT((warm.weights - cold.weights).cwiseAbs().maxCoeff(),
            1e-4 * cold.weights.cwiseAbs().maxCoeff());
}

TEST_P(LinearGolden, NeighboursVoteAsInDinov2) {
  const int k = all_.at("k").get<int>();
  const RowMatrix train = unit_rows(train_.cast<float>()), test = unit_rows(test_.cast<float>());
  for (Eigen::Index i = 0; i < test.rows(); ++i) {
    std::vector<std::pair<float, int>> order;
    for (Eigen::Index j = 0; j < train.rows(); ++j) {
      order.push_back({-test.row(i).dot(train.row(j)), static_cast<int>(j)});
    }
    std::sort(order.begin(), order.end());
    std::vector<int> classes;
    std::vector<float> cosines;
    for (const auto& [cosine, row] : order) {
      classes.push_back(train_classes_[row]);
      cosines.push_back(-cosine);
    }
    const std::vector<double> votes =
        knn_votes(classes, cosines, k, all_.at("temperature").get<double>(), count_);
    for (int c = 0; c < count_; ++c) {
      EXPECT_NEAR(votes[c], golden_.at("votes").at(i).at(c).get<double>(), 1e-4);
    }
  }
}

// By hand: exp(0) and exp(-1) for cosines that differ by the temperature.
TEST(KnnVote, ByHand) {
  const double e = std::exp(-1.0);
  const std::vector<double> votes = knn_votes({2, 0, 2}, {0.9f, 0.8f, 0.8f}, 2, 0.1, 3);
  EXPECT_NEAR(votes[2], 1 / (1 + e), 1e-6);
  EXPECT_NEAR(votes[0], e / (1 + e), 1e-6);
  EXPECT_EQ(votes[1], 0.0);
  // Fewer neighbours than k: those there are vote.
  EXPECT_EQ(knn_votes({1}, {0.5f}, 20, 0.07, 2), (std::vector<double>{0.0, 1.0}));
}

TEST(LinearProbe, RefusesWhatItCannotFit) {
  Eigen::MatrixXd vectors(3, 2);
  vectors << 1, 0, 0, 1, 1, 1;
  EXPECT_PROBE_ERROR(fit_linear_probe(vectors, {1, 1, 1}, 3, {}, nullptr), ErrorKind::input,
                     "expected vectors of two classes or more, got 1");
  ProbeOptions options;
  options.c = -1;
  EXPECT_PROBE_ERROR(fit_linear_probe(vectors, {0, 1, 1}, 2, options, nullptr), ErrorKind::usage,
                     "expected a positive C");
  vectors(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_PROBE_ERROR(fit_linear_probe(vectors, {0, 1, 1}, 2, {}, nullptr), ErrorKind::input,
                     "expected finite values, got NaN");
}

TEST(LinearProbe, SaysWhenItStoppedShort) {
  Eigen::MatrixXd vectors(4, 2);
  vectors << 1, 0.1, -1, 0.2, 0.9, -0.3, -1.1, 0.4;
  ProbeOptions options;
  options.c = 1e6;  // separable: the weights run away
  options.max_iterations = 2;
  EXPECT_EQ(fit_linear_probe(vectors, {0, 1, 0, 1}, 2, options, nullptr).trouble,
            "stopped after 2 iterations");
}

// DINOv2: 10 ** linspace(-6, 5, 45).
TEST(LinearProbe, SweepCoversDinov2sRange) {
  const std::vector<double> values = sweep_values(45);
  ASSERT_EQ(values.size(), 45u);
  EXPECT_NEAR(values.front(), 1e-6, 1e-18);
  EXPECT_NEAR(values[1], std::pow(10.0, -5.75), 1e-12);
  EXPECT_NEAR(values.back(), 1e5, 1e-6);
  EXPECT_EQ(best_c({{0.1, 0.5, 2}, {1, 0.8, 0.9}, {10, 0.8, 0.4}, {100, 0.8, 0.4}}), 10);
}

}  // namespace
}  // namespace probe
