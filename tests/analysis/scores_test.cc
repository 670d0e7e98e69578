// Calibration, rejection, risk and coverage.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/calibration.h"
#include "analysis/choice_details.h"
#include "analysis/rejection.h"

namespace probe {
namespace {

using nlohmann::json;

// Made by golden/make_scores.py (numpy, scikit-learn).
class ScoresGolden : public testing::Test {
 protected:
  const json golden_ =
      json::parse(std::ifstream(PROBE_SOURCE_DIR "/tests/analysis/golden/scores.json"));

  std::vector<double> numbers(const char* field) const {
    return golden_.at(field).get<std::vector<double>>();
  }
};

TEST_F(ScoresGolden, AurocAndDelongsInterval) {
  const Auroc area = auroc(numbers("positives"), numbers("negatives")).value();
  EXPECT_NEAR(area.value, golden_.at("auroc").get<double>(), 1e-12);
  EXPECT_NEAR(area.interval.high - area.value, golden_.at("half_width").get<double>(), 1e-9);
  EXPECT_FALSE(auroc({}, {1.0}));
  EXPECT_FALSE(auroc({1.0}, {}));
}

TEST_F(ScoresGolden, ExpectedCalibrationError) {
  std::vector<Confidence> answers;
  const std::vector<double> probabilities = numbers("probabilities");
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    answers.push_back({probabilities[i], golden_.at("correct").at(i) == 1});
  }
  const Calibration calibration = calibrate(answers);
  EXPECT_NEAR(calibration.expected_error, golden_.at("ece").get<double>(), 1e-12);
  EXPECT_NEAR(calibration.largest_error, golden_.at("largest").get<double>(), 1e-12);
  EXPECT_EQ(calibration.accuracy.total, 120);
}

TEST_F(ScoresGolden, RiskAndCoverage) {
  std::vector<bool> answered;
  for (const json& one : golden_.at("answered")) answered.push_back(one == 1);
  const std::vector<RiskPoint> points = risk_coverage(numbers("confidence"), answered);
  EXPECT_EQ(points.size(), 60u);
  EXPECT_EQ(points.back().coverage, 1.0);
  EXPECT_NEAR(area_under_risk(points), golden_.at("aurc").get<double>(), 1e-12);
}

TEST(Calibration, EdgesOfBinsBelongBelow) {
  const Calibration calibration =
      calibrate({{0.0, false}, {0.5, true}, {0.51, true}, {1.0, true}}, 2);
  EXPECT_EQ(calibration.bins[0].accuracy, (Accuracy{1, 2}));
  EXPECT_EQ(calibration.bins[1].accuracy, (Accuracy{2, 2}));
  // |1/2 - 0.25| * 2/4 + |1 - 0.755| * 2/4
  EXPECT_NEAR(calibration.expected_error, 0.125 + 0.1225, 1e-12);
  EXPECT_EQ(calibrate({}).accuracy.total, 0);
}

// OC#716: SigLIP's sigmoid probabilities of choices need not sum to 1.
TEST(Calibration, UsesTheBundlesRule) {
  ChoiceOutcome outcome{"q", "i", 0, 0, false, {0.2f, 0.1f}};
  const auto softmax = choice_confidences({outcome}, {false, 10.0, 0.0});
  EXPECT_NEAR(softmax[0].probability, 1 / (1 + std::exp(-1.0)), 1e-6);
  const auto sigmoid = choice_confidences({outcome}, {true, 10.0, -3.0});
  EXPECT_NEAR(sigmoid[0].probability, 1 / (1 + std::exp(1.0)), 1e-6);
  const Table unknown = calibration_table(std::nullopt, std::nullopt);
  for (const Cell& cell : unknown.rows.at(0)) EXPECT_EQ(cell.kind, Cell::Kind::unknown);
  EXPECT_NE(unknown.note.find("no learned scale"), std::string::npos);
}

TEST(RiskCoverage, EqualConfidencesEnterTogether) {
  const std::vector<RiskPoint> points = risk_coverage({1, 1, 0.5}, {true, false, true});
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].answered, (Accuracy{1, 2}));
  EXPECT_NEAR(points[0].coverage, 2.0 / 3, 1e-12);
  // Two items at risk 1/2, one at 1/3.
  EXPECT_NEAR(area_under_risk(points), (0.5 + 0.5 + 1.0 / 3) / 3, 1e-12);
}

// An image on the x axis; texts at known cosines.
class Rejection : public testing::Test {
 protected:
  Rejection() {
    prompts_ << 1, 0, 0.6f, 0.8f, 0, 1, 0.8f, 0.6f;
    image_ << 1, 0;
    classifier_ = average_prompts({"x", "xy", "y", "yx"}, prompts_, 1);
  }

  RowMatrix prompts_{4, 2}, image_{1, 2};
  TextClassifier classifier_;
  const std::vector<Question> questions_{
      {"c", "i", QuestionType::choice, {"yx", "x", "y", "xy"}, 1, "x"},
      {"u", "i", QuestionType::unsolvable, {"y", "all other options are incorrect", "xy"}, 1, ""},
      {"o", "i", QuestionType::open, {}, -1, "x"},
      {"absent", "other", QuestionType::choice, {"x", "y"}, 0, "x"}};
};

TEST_F(Rejection, ScoresTheNamesThatAreListed) {
  const std::vector<ListedScores> scores =
      score_listed(questions_, {{"i", 0}}, image_, classifier_);
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_TRUE(scores[0].answerable());
  EXPECT_EQ(scores[0].picked(), 1);
  EXPECT_NEAR(scores[0].best(), 1.0, 1e-6);
  EXPECT_NEAR(scores[0].margin(), 0.2, 1e-6);
  EXPECT_FALSE(scores[1].answerable());
  ASSERT_EQ(scores[1].cosines.size(), 2u);
  EXPECT_NEAR(scores[1].best(), 0.6, 1e-6);
}

TEST_F(Rejection, EqualListsKeepTheAnswer) {
  const std::vector<ListedScores> equal =
      with_equal_lists(score_listed(questions_, {{"i", 0}}, image_, classifier_));
  ASSERT_EQ(equal[0].cosines.size(), 2u);
  EXPECT_EQ(equal[0].answer, 1);  // "yx" stays as the first wrong one
  EXPECT_NEAR(equal[0].cosines[1], 1.0, 1e-6);
  EXPECT_EQ(equal[1].cosines.size(), 2u);
}

TEST_F(Rejection, TablesCountBothKinds) {
  const std::vector<ListedScores> scores =
      score_listed(questions_, {{"i", 0}}, image_, classifier_);
  const Table table = rejection_table(scores);
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0][2].real, 1.0);
  EXPECT_EQ(table.rows[0][3].whole, 1);
  EXPECT_EQ(table.rows[0][4].whole, 1);
  const Table sweep = rejection_sweep(scores);
  EXPECT_EQ(sweep.rows.back()[3].accuracy, (Accuracy{1, 1}));
  const Table risk = risk_table(scores);
  ASSERT_EQ(risk.rows.size(), 2u);
  EXPECT_EQ(risk.rows[0][2].accuracy, (Accuracy{1, 1}));
  EXPECT_EQ(risk.rows[1][2].accuracy, (Accuracy{1, 2}));  // the unsolvable one is a mistake
  EXPECT_EQ(risk_figure(scores).marks.size(), 3u);
}

TEST(ChoiceDetails, ListMistakesWithTheirItems) {
  ItemColumns items;
  items.id = {"i", "j"};
  items.condition = {"original", "color"};
  const std::vector<Question> questions{{"1", "i", QuestionType::choice, {"x", "y"}, 0, "x"},
                                        {"2", "j", QuestionType::choice, {"x", "y"}, 1, "y"}};
  const std::vector<ChoiceOutcome> outcomes{{"1", "i", 1, 0, false, {0.1f, 0.4f}},
                                            {"2", "j", 1, 1, false, {0.1f, 0.4f}}};
  const ChoiceDetails details{items, questions, outcomes, std::nullopt};
  const Table errors = choice_error_table(details, 10);
  ASSERT_EQ(errors.rows.size(), 1u);
  EXPECT_TRUE(errors.columns[0].items);
  EXPECT_EQ(errors.rows[0][0].words, "i");
  EXPECT_EQ(errors.rows[0][3].words, "y");
  EXPECT_EQ(errors.rows[0][4].kind, Cell::Kind::unknown);
  EXPECT_NEAR(errors.rows[0][5].real, 0.3, 1e-6);
  const Table all = choice_prediction_table({items, questions, outcomes, {{false, 10, 0}}});
  ASSERT_EQ(all.rows.size(), 2u);
  EXPECT_EQ(all.rows[1][5].words, "yes");
  EXPECT_NEAR(all.rows[1][7].real, 1 / (1 + std::exp(-3.0)), 1e-6);
}

}  // namespace
}  // namespace probe
