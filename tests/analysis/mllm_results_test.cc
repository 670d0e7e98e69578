#include "analysis/mllm_results.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace probe {
namespace {

Question choice_question(const std::string& id, int answer) {
  const std::vector<std::string> choices = {"fig", "egg", "plum", "kiwi"};
  return {id, id + "-item", QuestionType::choice, choices, answer, choices[answer]};
}

Response response(const std::string& id, int shift, const std::string& text) {
  Response r;
  r.model = "m";
  r.question_id = id;
  r.shift = shift;
  r.text = text;
  r.where = "r.jsonl:1";
  return r;
}

// Answers are worked out by hand: at shift s, position p shows choices[(p + s) mod 4].
TEST(MllmResults, LettersReferToTheShownOrder) {
  const ScoringInput input{{choice_question("q", 1)}, {}, {}};
  // egg stands at B, A, D, C at shifts 0 to 3.
  const char* right[] = {"B", "A", "D", "C"};
  std::vector<Response> responses;
  for (int s = 0; s < 4; ++s) responses.push_back(response("q", s, right[s]));
  for (const ScoredResponse& row : score_responses(responses, {}, input).rows) {
    EXPECT_TRUE(row.correct) << row.shift;
  }
  for (Response& r : responses) r.text = "B";
  const auto rows = score_responses(responses, {}, input).rows;
  ASSERT_EQ(rows.size(), 4u);
  for (const ScoredResponse& row : rows) EXPECT_EQ(row.correct, row.shift == 0);
  const Table table = mllm_accuracy_table(rows);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0][3].accuracy, (Accuracy{1, 4}));
  EXPECT_NEAR(table.rows[0][5].real, 25.0, 1e-9);
  EXPECT_NEAR(table.rows[0][6].real, 50.0, 1e-9);  // of 100, 0, 0, 0 with n - 1
  EXPECT_EQ(table.rows[0][7].accuracy, (Accuracy{0, 1}));
  // Every pick at B; the answer at each position once.
  const Table positions = position_table(rows);
  ASSERT_EQ(positions.rows.size(), 4u);
  EXPECT_EQ(positions.rows[1][3].accuracy, (Accuracy{4, 4}));
  for (const auto& row : positions.rows) EXPECT_EQ(row[4].accuracy, (Accuracy{1, 4}));
}

TEST(MllmResults, Bugcase43_SilenceIsNeverRight) {
  ScoringInput input;
  std::vector<Response> responses;
  const char* texts[] = {"", "  ", "null", "3", "Sorry, I can't help with that image.",
                         "Failed to obtain answer via API", "Error 429"};
  for (int i = 0; i < 8; ++i) {
    const std::string id = "q" + std::to_string(i);
    input.questions.push_back(choice_question(id, 0));
    if (i < 7) responses.push_back(response(id, 0, texts[i]));
  }
  responses[2].missing = true;
  const auto rows = score_responses(responses, {}, input).rows;
  ASSERT_EQ(rows.size(), 8u);
  std::vector<std::string> reasons;
  for (const ScoredResponse& row : rows) {
    EXPECT_FALSE(row.correct);
    reasons.push_back(unparsed_name(row.extraction.reason));
  }
  EXPECT_EQ(reasons, (std::vector<std::string>{"empty", "empty", "missing", "no match", "refusal",
                                               "error", "error", "missing"}));
  EXPECT_EQ(mllm_accuracy_table(rows).rows[0][3].accuracy, (Accuracy{0, 8}));
  std::int64_t unparsed = 0;
  for (const auto& row : unparsed_table(rows).rows) unparsed += row[2].whole;
  EXPECT_EQ(unparsed, 8);
}

TEST(MllmResults, OpenQuestionsAreMatchedByName) {
  ScoringInput input;
  for (const char* name : {"apple", "kaki", "custard apple"}) {
    input.questions.push_back({name, "i", QuestionType::open, {}, -1, name});
  }
  input.synonyms = {{"kaki", "persimmon"}};
  const auto rows = score_responses({response("apple", 0, "Apples"), response("kaki", 0, "A persimmon."),
                                     response("custard apple", 0, "apple")},
                                    {}, input).rows;
  EXPECT_TRUE(rows[0].correct);
  EXPECT_TRUE(rows[1].correct);
  EXPECT_FALSE(rows[2].correct);
}

TEST(MllmResults, ConditionsAndModified) {
  ScoringInput input{{choice_question("a", 0), choice_question("b", 0)}, {}, {}};
  input.condition = {{"a-item", "original"}, {"b-item", "color"}};
  const Table table = mllm_accuracy_table(
      score_responses({response("a", 0, "A"), response("b", 0, "B")}, {}, input).rows);
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0][1].words, "original");
  EXPECT_EQ(table.rows[0][3].accuracy, (Accuracy{1, 1}));
  EXPECT_EQ(table.rows[1][1].words, "color");
  EXPECT_EQ(table.rows[2][1].words, "modified");
  EXPECT_EQ(table.rows[2][3].accuracy, (Accuracy{0, 1}));
}

TEST(MllmResults, VerdictsDecideOnlyTheUndecided) {
  const ScoringInput input{{choice_question("a", 1), choice_question("b", 1)}, {}, {}};
  const std::vector<Response> responses = {response("a", 1, "hm"), response("b", 1, "A")};
  // At shift 1 egg stands at A.
  const Scoring scoring = score_responses(
      responses, {{"m", "a", 1, "A", "v:1"}, {"m", "b", 1, "C", "v:2"}}, input);
  EXPECT_TRUE(scoring.rows[0].correct);
  EXPECT_TRUE(scoring.rows[1].correct);
  EXPECT_EQ(scoring.idle_verdicts, 1);
  EXPECT_PROBE_ERROR(score_responses(responses, {{"m", "a", 1, "G", "v:1"}}, input),
                     ErrorKind::input, "v:1: verdict: expected a letter from A to D or none, got \"G\"");
  EXPECT_PROBE_ERROR(score_responses(responses, {{"m", "z", 1, "A", "v:1"}}, input),
                     ErrorKind::input, "v:1: no response of model \"m\" to question \"z\" at shift 1");
}

TEST(MllmResults, BadRows) {
  const ScoringInput input{{choice_question("a", 1)}, {}, {}};
  EXPECT_PROBE_ERROR(score_responses({response("a", 4, "A")}, {}, input), ErrorKind::input,
                     "r.jsonl:1: question \"a\" has shifts 0 to 3, got 4");
  Response other = response("a", 0, "A");
  other.type = QuestionType::open;
  EXPECT_PROBE_ERROR(score_responses({other}, {}, input), ErrorKind::input,
                     "question \"a\" is of type choice, got open");
  const Scoring scoring = score_responses({response("a", 0, "B"), response("x", 0, "A")}, {}, input);
  ASSERT_EQ(scoring.failures.size(), 1u);
  EXPECT_EQ(scoring.failures[0].id, "x");
  EXPECT_EQ(scoring.rows.size(), 1u);
}

}  // namespace
}  // namespace probe
