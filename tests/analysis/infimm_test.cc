// Numbers of InfiMM-Eval (Han et al. 2023) and sums done by hand.
#include "analysis/infimm.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "analysis/infimm_tables.h"
#include "tests/support/expect_error.h"

namespace probe {
namespace {

InfimmQuestion question(const std::string& id, ReasoningCategory category,
                        ReasoningComplexity complexity, int images = 1) {
  return {id, category, complexity, "Why?", "So.", {}, std::vector<std::string>(images, "x.jpg")};
}

constexpr auto kDeductive = ReasoningCategory::deductive;
constexpr auto kAbductive = ReasoningCategory::abductive;
constexpr auto kAnalogical = ReasoningCategory::analogical;
constexpr auto kModerate = ReasoningComplexity::moderate;
constexpr auto kHigh = ReasoningComplexity::high;

const std::vector<InfimmQuestion> kFour = {question("a", kDeductive, kModerate),
                                           question("b", kDeductive, kHigh, 2),
                                           question("c", kAbductive, kModerate),
                                           question("d", kAbductive, kHigh)};

InfimmScore score(const std::string& id, double value, const std::string& setting = "",
                  Grading grading = Grading::with_steps) {
  return {"scores.jsonl:7", "m", setting, id, grading, value};
}

bool any(const InfimmQuestion&) { return true; }

// Table 1: deductive, abductive, analogical, moderate, high, overall.
struct PaperRow {
  const char* model;
  double deductive, abductive, analogical, moderate, high, overall;
};
constexpr std::array kTable1 = {
    PaperRow{"OpenFlamingo-v2", 8.88, 5.3, 1.11, 9.47, 4.72, 6.82},
    PaperRow{"MiniGPT-v2", 11.02, 13.28, 5.69, 14.45, 7.27, 10.43},
    PaperRow{"Fuyu-8B", 16.42, 21.49, 7.78, 23.06, 9.91, 15.7},
    PaperRow{"BLIP-2", 22.76, 18.96, 7.5, 24.05, 14.18, 19.31},
    PaperRow{"InternLM-XComposer-VL", 26.77, 35.97, 18.61, 39.13, 17.18, 26.84},
    PaperRow{"InstructBLIP", 27.56, 37.76, 20.56, 40.64, 18.09, 28.02},
    PaperRow{"LLaMA-Adapter V2", 28.7, 46.12, 22.08, 41.33, 21.91, 30.46},
    PaperRow{"Otter", 22.49, 33.64, 13.33, 35.79, 12.31, 22.69},
    PaperRow{"mPLUG-Owl2", 23.43, 20.6, 7.64, 28.79, 13.18, 20.05},
    PaperRow{"IDEFICS-9B-instruct", 22.99, 34.63, 20.56, 34.45, 16.73, 24.53},
    PaperRow{"Emu", 28.9, 36.57, 18.19, 36.18, 22.0, 28.24},
    PaperRow{"LLaVA-1.5", 30.94, 47.91, 24.31, 47.4, 21.0, 32.62},
    PaperRow{"CogVLM-Chat", 36.75, 47.88, 28.75, 55.67, 22.5, 37.16},
    PaperRow{"Qwen-VL-Chat", 37.55, 44.39, 30.42, 46.61, 30.09, 37.39},
    PaperRow{"GPT-4V", 74.86, 77.88, 69.86, 93.98, 58.98, 74.44}};

// Eq. 1 from the means of the two complexities, with the counts of section 3.2.
double from_complexities(const PaperRow& row) {
  WeightedScore sums;
  sums.moderate = 171;
  sums.high = 108;
  sums.moderate_sum = 171 * row.moderate;
  sums.high_sum = 108 * row.high;
  return *sums.value();
}

TEST(InfimmPaper, Table1OverallFollowsFromItsComplexities) {
  int within = 0;
  for (const PaperRow& row : kTable1) {
    if (std::string(row.model) == "BLIP-2") continue;
    EXPECT_NEAR(from_complexities(row), row.overall, 0.06) << row.model;
    ++within;
  }
  EXPECT_EQ(within, 14);
}

// The one row whose columns contradict each other (ruling 7).
TEST(InfimmPaper, Table1Blip2IsAnException) {
  EXPECT_NEAR(from_complexities(kTable1[3]), 18.54, 0.005);
  EXPECT_GT(kTable1[3].overall - from_complexities(kTable1[3]), 0.7);
}

// A category's |M| and |H| stand in Figure 2 only. The printed digits tell the denominators
// |M| + 2|H| though: with 254 (deductive), 67 and 72, nearly all cells are whole tenths of
// a mark. With these, the categories of Tables 1 to 3 give the overall of the same row.
double from_categories(double deductive, double abductive, double analogical) {
  const double weights[] = {254, 67, 72};
  WeightedScore sums;
  sums.moderate = 393;  // any split into |M| + 2|H| gives the same quotient
  sums.moderate_sum = weights[0] * deductive + weights[1] * abductive + weights[2] * analogical;
  return *sums.value();
}

TEST(InfimmPaper, OverallFollowsFromCategoriesWithInferredWeights) {
  for (const PaperRow& row : kTable1) {
    EXPECT_NEAR(from_categories(row.deductive, row.abductive, row.analogical), row.overall, 0.03)
        << row.model;
  }
  // Tables 2 and 3 (rows that Table 1 does not have), and LLaVA-1.5 7B and GPT-4 of Table 4.
  const double rows[][4] = {{22.13, 18.66, 5.69, 18.52},  {25.2, 34.48, 16.94, 25.27},
                            {31.18, 48.51, 22.78, 32.6},  {38.55, 45.91, 22.5, 36.82},
                            {69.88, 77.88, 67.08, 70.72}, {23.25, 32.58, 14.31, 23.18},
                            {33.73, 46.82, 30.28, 35.32}, {38.84, 44.39, 27.22, 37.62},
                            {74.82, 80.45, 64.17, 73.8},  {27.8, 33.28, 21.11, 27.51},
                            {5.82, 5.0, 2.5, 5.06}};
  for (const auto& row : rows) {
    EXPECT_NEAR(from_categories(row[0], row[1], row[2]), row[3], 0.05) << row[3];
  }
}

// Table 4's rows of language models with GPT-4V's captions are not Eq. 1: they are the plain
// mean over the 181, 49 and 49 questions of section 3.2.
TEST(InfimmPaper, Table4CaptionRowsArePlainMeans) {
  const double rows[][4] = {
      {38.01, 48.98, 30.0, 38.53},  {34.42, 58.78, 34.69, 38.75}, {48.56, 64.49, 33.47, 48.71},
      {54.59, 66.73, 45.1, 55.05},  {39.39, 46.33, 34.08, 39.68}, {54.7, 67.14, 47.35, 55.59},
      {55.75, 66.53, 51.22, 56.85}};
  for (const auto& row : rows) {
    EXPECT_NEAR((181 * row[0] + 49 * row[1] + 49 * row[2]) / 279, row[3], 0.006) << row[3];
    EXPECT_GT(std::abs(from_categories(row[0], row[1], row[2]) - row[3]), 0.05) << row[3];
  }
  // GPT-4 (CoT) with LLaVA-1.5's captions, 29.74 printed, follows from neither.
  EXPECT_LT((181 * 23.29 + 49 * 44.7 + 49 * 29.17) / 279, 29.74 - 1.6);
  EXPECT_LT(from_categories(23.29, 44.7, 29.17), 29.74 - 1.6);
}

// Section 3.2: the counts add up, and 212 of 279 is the 76 % of the text. Section 4.2.2:
// chain of thought brings GPT-4V 3.7 points (Table 2).
TEST(InfimmPaper, NumbersOfTheText) {
  EXPECT_EQ(49 + 181 + 49, 171 + 108);
  EXPECT_EQ(std::lround(100.0 * 212 / (171 + 108)), 76);
  EXPECT_NEAR(from_categories(74.86, 77.88, 69.86) - from_categories(69.88, 77.88, 67.08), 3.7,
              0.05);
}

// (0.5 + 0 + 2 * (1 + 0.25)) / (2 + 2 * 2) = 3 / 6; deductive (0.5 + 2) / 3; abductive
// (0 + 0.5) / 3; high (1 + 0.25) / 2; moderate 0.5 / 2.
TEST(Infimm, WorkedByHand) {
  const auto runs =
      group_scores(kFour, {score("a", 0.5), score("b", 1), score("c", 0), score("d", 0.25)});
  ASSERT_EQ(runs.size(), 1u);
  const auto value = [&](const QuestionFilter& keep) {
    return score_questions(kFour, runs[0], keep).value();
  };
  EXPECT_DOUBLE_EQ(*value(any), 0.5);
  EXPECT_DOUBLE_EQ(*value([](const auto& q) { return q.category == kDeductive; }), 2.5 / 3);
  EXPECT_DOUBLE_EQ(*value([](const auto& q) { return q.category == kAbductive; }), 0.5 / 3);
  EXPECT_DOUBLE_EQ(*value([](const auto& q) { return q.complexity == kHigh; }), 0.625);
  EXPECT_DOUBLE_EQ(*value([](const auto& q) { return q.complexity == kModerate; }), 0.25);
  EXPECT_FALSE(value([](const auto& q) { return q.category == kAnalogical; }).has_value());
}

// A missing score leaves the denominator: (0.5 + 2 * 1) / (1 + 2), not / 6.
TEST(Infimm, MissingIsNotZero) {
  const auto runs = group_scores(kFour, {score("a", 0.5), score("b", 1)});
  EXPECT_EQ(runs[0].missing(), 2u);
  EXPECT_DOUBLE_EQ(*score_questions(kFour, runs[0], any).value(), 2.5 / 3);
  const Table table = infimm_score_table(kFour, runs, {}, 1);
  EXPECT_EQ(table.rows[0].back().whole, 2);
  EXPECT_EQ(table.rows[0][3].kind, Cell::Kind::unknown);  // abductive: nothing was scored
}

TEST(Infimm, BadScoresAreRefused) {
  EXPECT_PROBE_ERROR(group_scores(kFour, {score("z", 1)}), ErrorKind::input,
                     "scores.jsonl:7: question_id \"z\" is not among the questions");
  EXPECT_PROBE_ERROR(group_scores(kFour, {score("a", 1.25)}), ErrorKind::input,
                     "expected a score from 0 to 1, got 1.25");
  EXPECT_PROBE_ERROR(group_scores(kFour, {score("a", -0.5)}), ErrorKind::input, "got -0.5");
  EXPECT_PROBE_ERROR(group_scores(kFour, {score("a", std::nan(""))}), ErrorKind::input, "nan");
  EXPECT_PROBE_ERROR(group_scores(kFour, {score("a", 1), score("a", 1)}), ErrorKind::input,
                     "a second score of model \"m\" for question \"a\"");
  // Another setting or grading is another run.
  EXPECT_EQ(group_scores(kFour, {score("a", 1), score("a", 1, "CoT"),
                                 score("a", 1, "", Grading::without_steps)})
                .size(),
            3u);
}

// Equal scores leave nothing to resample; one score of 0 and one of 1 of each complexity
// leave everything.
TEST(Infimm, Intervals) {
  const auto flat = group_scores(
      kFour, {score("a", 0.5), score("b", 0.5), score("c", 0.5), score("d", 0.5)});
  Interval interval = score_interval(kFour, flat[0], any, 3);
  EXPECT_DOUBLE_EQ(interval.low, 0.5);
  EXPECT_DOUBLE_EQ(interval.high, 0.5);
  const auto split =
      group_scores(kFour, {score("a", 1), score("b", 0), score("c", 0), score("d", 1)});
  interval = score_interval(kFour, split[0], any, 3);
  EXPECT_DOUBLE_EQ(interval.low, 0.0);
  EXPECT_DOUBLE_EQ(interval.high, 1.0);
  const auto none = [](const InfimmQuestion&) { return false; };
  EXPECT_EQ(score_interval(kFour, split[0], none, 3).high, 1.0);
}

// For 100 moderate and 100 high questions, half of each right, S has the standard error
// sqrt(25 + 4 * 25) / 300 = 0.0373: the interval is 0.5 -+ 0.073.
TEST(Infimm, IntervalApproachesTheNormalOne) {
  std::vector<InfimmQuestion> questions;
  std::vector<InfimmScore> scores;
  for (int i = 0; i < 200; ++i) {
    questions.push_back(question(std::to_string(i), kDeductive, i < 100 ? kModerate : kHigh));
    scores.push_back(score(std::to_string(i), i % 2));
  }
  const auto runs = group_scores(questions, scores);
  const Interval interval = score_interval(questions, runs[0], any, 3);
  EXPECT_NEAR(interval.low, 0.5 - 0.0731, 0.006);
  EXPECT_NEAR(interval.high, 0.5 + 0.0731, 0.006);
}

// Figure 4: one response, 0 without and 1 with the reasoning steps.
TEST(Infimm, GradingWithAndWithoutSteps) {
  const auto runs = group_scores(
      kFour, {score("b", 1), score("b", 0, "", Grading::without_steps), score("a", 0.5)});
  const Table table = infimm_grading_table(kFour, runs, 1);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_DOUBLE_EQ(table.rows[0][2].real, 0);
  EXPECT_DOUBLE_EQ(table.rows[0][3].real, 100 * 2.5 / 3);
  EXPECT_DOUBLE_EQ(table.rows[0][4].real, 100);  // over "b" alone
  EXPECT_EQ(table.rows[0][5].whole, 1);
}

TEST(Infimm, TablesOfThePaper) {
  const auto runs = group_scores(kFour, {score("a", 0.5), score("b", 1), score("c", 0, "CoT"),
                                         score("b", 0.5, "CoT")});
  const Table settings = infimm_setting_table(kFour, runs);  // Tables 2 and 3
  ASSERT_EQ(settings.rows.size(), 2u);
  EXPECT_EQ(settings.rows[0][1].words, "-");
  EXPECT_EQ(settings.rows[1][1].words, "CoT");
  EXPECT_DOUBLE_EQ(settings.rows[1].back().real, 100 * 1.0 / 3);
  const Table several = infimm_multi_image_table(kFour, runs, 1);  // Table 6
  ASSERT_EQ(several.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(several.rows[0][3].real, 100);
  EXPECT_DOUBLE_EQ(several.rows[1][3].real, 50);
  const Table scores =
      infimm_score_table(kFour, runs, {{"LLM", "IFT"}, {{"m", {"OPT-2.7B", "No"}}}}, 1);
  EXPECT_EQ(scores.rows[0][1].words, "OPT-2.7B");
  EXPECT_EQ(scores.rows[0][2].words, "No");
  const Table counts = infimm_question_table(kFour);  // Figure 2 (a)
  EXPECT_EQ(counts.rows[0][1].whole, 1);
  EXPECT_EQ(counts.rows[3][3].whole, 4);
}

}  // namespace
}  // namespace probe
