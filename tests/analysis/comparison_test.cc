#include "analysis/comparison.h"

#include <gtest/gtest.h>

#include "analysis/published_scores.h"
#include "tests/support/expect_error.h"

namespace probe {
namespace {

EncoderResult result(const std::string& name, const std::string& answers) {
  EncoderResult out;
  out.name = name;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    out.choice_original["q" + std::to_string(i)] = answers[i] == '1';
  }
  return out;
}

TEST(Comparison, UnknownStaysUnknown) {
  const Table table = comparison_table({result("a", "1101")}, 5);
  EXPECT_EQ(table.rows[0][2].accuracy, (Accuracy{3, 4}));
  EXPECT_EQ(table.rows[0][3].kind, Cell::Kind::unknown);
  EXPECT_EQ(table.rows[0][5].kind, Cell::Kind::unknown);
}

TEST(Comparison, EncodersMustAnswerTheSameQuestions) {
  // Also behind an encoder that answered none.
  EXPECT_PROBE_ERROR(
      comparison_table({result("x", ""), result("a", "1101"), result("b", "110")}, 5),
      ErrorKind::input, "answered 3 questions and a 4");
  EncoderResult other = result("b", "1101");
  other.items = {"another image"};
  EXPECT_PROBE_ERROR(comparison_table({result("a", "1101"), other}, 5), ErrorKind::input,
                     "they must be the same images");
}

// 6 only a, 0 only b: exact p = 2 * 0.5^6.
TEST(Comparison, PairsAreTestedQuestionByQuestion) {
  const Table table = paired_table({result("a", "11111111"), result("b", "00000011")}, 0);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0][3].whole, 8);
  EXPECT_NEAR(table.rows[0][4].real, 75.0, 1e-9);
  EXPECT_NEAR(table.rows[0][5].real, 0.03125, 1e-9);
  EXPECT_NEAR(table.rows[0][6].real, 0.03125, 1e-9);
}

const std::vector<std::string> kHeader{
    "family",   "model",          "vision_encoder", "llm",         "llm_size_b",  "orig_open",
    "orig_choice", "orig_choice_sd", "orig_unsol",  "orig_unsol_sd", "orig_avg", "mod_open",
    "mod_choice", "mod_choice_sd", "mod_unsol", "mod_unsol_sd", "mod_avg", "derived"};

TEST(Published, EmptyCellsAreUnknownNotZero) {
  const auto scores = parse_published(
      kHeader,
      {{"GPT", "GPT-4o", "", "", "", "90.9", "99.3", "0.2", "", "1.9", "91.5", "56.2", "77.6",
        "1.0", "73.5", "7.5", "69.1", "orig_open;orig_choice"}},
      "t.csv");
  EXPECT_EQ(scores[0].original.unsolvable, std::nullopt);
  EXPECT_EQ(scores[0].derived, (std::vector<std::string>{"orig_open", "orig_choice"}));
  const Table table = published_table(scores);
  EXPECT_EQ(table.rows[0][4].kind, Cell::Kind::unknown);
  EXPECT_NEAR(table.rows[0][12].real, 69.1, 1e-9);
  EXPECT_NEAR(table.rows[0][13].real, -22.4, 1e-9);
  EXPECT_EQ(table.rows[0][11].kind, Cell::Kind::unknown);  // no delta of an unknown
  EXPECT_NE(render_text(table).find("unknown"), std::string::npos);
  EXPECT_EQ(table.title, "Published, NEMO images, not comparable");
}

TEST(Published, BadCellsAreNamed) {
  std::vector<std::string> row(kHeader.size());
  row[5] = "1O1";
  EXPECT_PROBE_ERROR(parse_published(kHeader, {row}, "t.csv"), ErrorKind::input,
                     "t.csv: row 1: orig_open: expected a number from 0 to 100, got \"1O1\"");
  EXPECT_PROBE_ERROR(parse_published({"family"}, {{"x"}}, "t.csv"), ErrorKind::input,
                     "column \"model\" is missing");
}

}  // namespace
}  // namespace probe
