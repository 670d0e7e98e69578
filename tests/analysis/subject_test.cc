#include "analysis/subject.h"

#include <gtest/gtest.h>

#include "analysis/statistics.h"
#include "tests/support/answer_world.h"
#include "tests/support/expect_error.h"

namespace probe {
namespace {

test::World two_figs() {
  test::World world;
  world.add_item("o", "fig", kOriginal, "");
  world.add_item("m", "fig", "color", "o");
  return world;
}

// Right at shifts 0, 1, 2 of 4 on the original: 100, 100, 100, 0 -> mean 75, sd 50 (n - 1).
TEST(Subject, MeanAndDeviationAreOverTheShifts) {
  const test::World world = two_figs();
  const Subject model = world.subject("m", false, 4, [](const Question& q, int shift) {
    if (q.type != QuestionType::choice) return -2;
    return q.item_id == "o" && shift < 3 ? 0 : 1;
  });
  const auto original = score_side(model, world.items, QuestionType::choice, Side::original);
  ASSERT_TRUE(original);
  EXPECT_EQ(original->questions, 1);
  EXPECT_NEAR(original->mean, 75.0, 1e-9);
  EXPECT_NEAR(*original->sd, 50.0, 1e-9);
  const auto modified = score_side(model, world.items, QuestionType::choice, Side::modified);
  EXPECT_NEAR(modified->mean, 0.0, 1e-9);
  // Wilson's upper bound of 0 of 1 at 95 %: z^2 / (1 + z^2) = 3.8415 / 4.8415.
  EXPECT_NEAR(modified->interval.high, 100 * 3.841458820694124 / 4.841458820694124, 1e-9);
}

TEST(Subject, WhatWasNotAskedIsUnknown) {
  const test::World world = two_figs();
  const Subject model = world.subject("m", false, 4, [](const Question& q, int) {
    return q.type == QuestionType::unsolvable ? -2 : 0;
  });
  EXPECT_FALSE(score_side(model, world.items, QuestionType::unsolvable, Side::original));
  EXPECT_TRUE(score_side(model, world.items, QuestionType::open, Side::original));
  EXPECT_FALSE(side_average(model, world.items, Side::original)) << "one of three is unknown";
  const Subject once = world.subject("m", false, 1, [](const Question&, int) { return 0; });
  EXPECT_FALSE(score_side(once, world.items, QuestionType::choice, Side::original)->sd);
}

TEST(Subject, SyntheticOriginalsAreNeitherSide) {
  EXPECT_EQ(side_of("original"), Side::original);
  EXPECT_EQ(side_of("synthetic_original"), Side::synthetic_original);
  EXPECT_EQ(side_of("shape"), Side::modified);
}

// The letter refers to the shown order; what was picked is kept as text. Models come in the
// order of the models file, others after them; nothing is known of those.
TEST(Subject, ScoredResponsesBecomeSubjects) {
  const test::World world = two_figs();
  std::vector<Response> responses;
  for (const char* model : {"z", "b", "a"}) {
    for (int shift = 0; shift < 2; ++shift) {
      Response response;
      response.model = model;
      response.question_id = "o/choice";
      response.shift = shift;
      response.text = "A";  // fig at shift 0, egg at shift 1
      response.made_up = std::string(model) == "b";
      responses.push_back(response);
    }
  }
  const ScoringInput input{world.questions, {}, {}};
  const Scoring scoring = score_responses(responses, {}, input);
  ModelFacts z;
  z.model = "z";
  z.family = "Z";
  const auto subjects =
      mllm_subjects(scoring.rows, world.items, {z}, made_up_models(responses));
  ASSERT_EQ(subjects.size(), 3u);
  EXPECT_EQ(subjects[0].name, "z");
  EXPECT_EQ(subjects[0].facts.family, "Z");
  EXPECT_EQ(subjects[1].name, "a");
  EXPECT_EQ(subjects[2].name, "b");
  EXPECT_FALSE(subjects[1].made_up);
  EXPECT_TRUE(subjects[2].made_up);
  EXPECT_EQ(made_up_words(subjects), "Made up for show, not measured: b. ");
  EXPECT_FALSE(subjects[2].facts.llm_size_b);
  // The choice question of m was not answered: missing, wrong, unparsed.
  ASSERT_EQ(subjects[0].results.size(), 2u);
  const QuestionResult& first = subjects[0].results[0];
  ASSERT_EQ(first.answers.size(), 2u);
  EXPECT_EQ(first.answers[0].picked, "fig");
  EXPECT_EQ(first.answers[1].picked, "egg");
  EXPECT_NEAR(first.share(), 0.5, 1e-12);
  EXPECT_EQ(subjects[0].results[1].answers[0].picked, "");
  EXPECT_FALSE(subjects[0].results[1].answers[0].correct);
}

TEST(Subject, EncodersAnswerOpenQuestionsByClassification) {
  test::World world = two_figs();
  world.add_item("p", "plum", kOriginal, "");
  RowMatrix images(3, 2), texts(2, 2);
  images << 2, 0, 0.6F, 0.8F, 0, 5;  // o: fig, m: plum, p: plum
  texts << 1, 0, 0, 1;
  const auto nearest = nearest_names(world.items, images, {{"fig", "plum"}, texts});
  EXPECT_EQ(nearest.at("m"), "plum");
  const Subject encoder = encoder_subject("e", {}, nearest, world.questions, world.items);
  ASSERT_EQ(encoder.results.size(), 3u);  // the open ones
  EXPECT_TRUE(encoder.results[0].answers[0].correct);
  EXPECT_FALSE(encoder.results[1].answers[0].correct);
  EXPECT_TRUE(encoder.results[2].answers[0].correct);
  EXPECT_TRUE(nearest_names(world.items, images, {}).empty());
}

TEST(ModelFacts, EmptyCellsAreUnknown) {
  const std::vector<std::string> header = {"model", "family", "encoder", "llm_size_b", "tower"};
  const auto models = parse_models(
      header, {{"a", "A", "clip", "7.5", "a-tower"}, {"b", "", "", "", ""}}, "m.csv");
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].llm_size_b, 7.5);
  EXPECT_EQ(models[0].llm, "");
  EXPECT_EQ(models[1].llm_size_b, std::nullopt);
  EXPECT_EQ(base_of_tower("a-tower", models), "clip");
  EXPECT_EQ(base_of_tower("clip", models), "clip");
  EXPECT_TRUE(is_model_tower("a-tower", models));
  EXPECT_FALSE(is_model_tower("", models));
  const auto with = [&](std::vector<std::string> row) {
    return parse_models(header, {{"a", "", "", "", "t"}, std::move(row)}, "m.csv");
  };
  EXPECT_PROBE_ERROR(with({"a", "", "", "", ""}), ErrorKind::input,
                     "m.csv: row 2: model \"a\" stands twice");
  EXPECT_PROBE_ERROR(with({"b", "", "", "", "t"}), ErrorKind::input,
                     "row 2: tower \"t\" belongs to two models");
  EXPECT_PROBE_ERROR(with({"b", "", "", "7B", ""}), ErrorKind::input,
                     "row 2: llm_size_b: expected a number from 0 to 1000000, got \"7B\"");
  EXPECT_PROBE_ERROR(with({"b", "", "", "0", ""}), ErrorKind::input, "expected more than 0");
  EXPECT_PROBE_ERROR(parse_models({"family"}, {{"x"}}, "m.csv"), ErrorKind::input,
                     "column \"model\" is missing");
}

// 3 of 4 by hand: centre (0.75 + z^2/8) / (1 + z^2/4), and the same as by counts.
TEST(Statistics, WilsonOfAShareIsThatOfCounts) {
  const Interval counts = wilson_interval(Accuracy{3, 4}), share = wilson_interval(0.75, 4);
  EXPECT_DOUBLE_EQ(counts.low, share.low);
  EXPECT_DOUBLE_EQ(counts.high, share.high);
  EXPECT_NEAR((share.low + share.high) / 2, (0.75 + 3.841459 / 8) / (1 + 3.841459 / 4), 1e-6);
  EXPECT_EQ(wilson_interval(0.5, 0).high, 1.0);
}

}  // namespace
}  // namespace probe
