#include "analysis/zero_shot.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/expect_error.h"

namespace probe {
namespace {

Question choice(const std::string& id, const std::string& item, std::vector<std::string> choices,
                int answer) {
  return {id, item, QuestionType::choice, choices, answer, choices[answer]};
}

TEST(ZeroShot, PicksTheLargestCosineWhateverTheLength) {
  RowMatrix images(2, 2), prompts(3, 2);
  images << 10, 1, 0.1f, 2;
  prompts << 100, 0, 0, 0.5f, 1, 1;
  const TextClassifier classifier = average_prompts({"x", "y", "xy"}, prompts, 1);
  const auto outcomes = score_choices(
      {choice("1", "a", {"y", "xy", "x"}, 2), choice("2", "b", {"x", "y"}, 0),
       choice("3", "absent", {"x", "y"}, 0)},
      {{"a", 0}, {"b", 1}}, images, classifier);
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_EQ(outcomes[0].picked, 2);
  EXPECT_TRUE(outcomes[0].correct());
  EXPECT_NEAR(outcomes[0].cosines[2], 10 / std::sqrt(101.0), 1e-6);
  EXPECT_EQ(outcomes[1].picked, 1);
  EXPECT_FALSE(outcomes[1].correct());
}

TEST(ZeroShot, TiesGoToTheLowerChoiceAndAreCounted) {
  RowMatrix image(1, 2), prompts(3, 2);
  image << 1, 0;
  prompts << 1, 1, 1, -1, -1, 0;
  const TextClassifier classifier = average_prompts({"p", "q", "r"}, prompts, 1);
  const auto outcomes = score_choices({choice("1", "a", {"r", "q", "p"}, 2)}, {{"a", 0}}, image,
                                      classifier);
  EXPECT_EQ(outcomes[0].picked, 1);
  EXPECT_TRUE(outcomes[0].tied);
  // At shift 2 position 0 shows choice 2, which then wins the tie.
  const std::vector<Accuracy> shifts = accuracy_by_shift(outcomes);
  EXPECT_EQ(shifts, (std::vector<Accuracy>{{0, 1}, {0, 1}, {1, 1}}));
}

// open_clip's zero_shot_classifier: normalise each prompt, average, normalise.
TEST(ZeroShot, TemplatesAreAveragedAfterNormalisation) {
  RowMatrix prompts(2, 2);
  prompts << 100, 0, 0, 1;
  const TextClassifier classifier = average_prompts({"x"}, prompts, 2);
  EXPECT_NEAR(classifier.vectors(0, 0), std::sqrt(0.5), 1e-6);
  EXPECT_PROBE_ERROR(average_prompts({"x", "y"}, prompts, 2), ErrorKind::input,
                     "expected 4 rows, got 2");
}

TEST(ZeroShot, TemplateNeedsOnePlace) {
  EXPECT_EQ(fill_template("a photo of a {}.", "fig"), "a photo of a fig.");
  EXPECT_EQ(fill_template("{}", "{}"), "{}");
  EXPECT_PROBE_ERROR(fill_template("a fig", "fig"), ErrorKind::usage, "expected {} once");
  EXPECT_PROBE_ERROR(fill_template("{} {}", "fig"), ErrorKind::usage, "expected {} once");
}

// Logits -1.5, -6, -9 after scale and bias: the published values of the entry.
TEST(Bugcase17, SoftmaxAndSigmoidOfTheSameLogits) {
  const std::vector<float> cosines{-1.5f, -6.0f, -9.0f};
  const std::vector<double> sigmoid = sigmoid_probabilities(cosines, 1.0, 0.0);
  EXPECT_NEAR(sigmoid[0], 0.18243, 5e-6);
  EXPECT_NEAR(sigmoid[1], 0.00247, 5e-6);
  EXPECT_NEAR(sigmoid[2], 0.00012, 5e-6);
  const std::vector<double> softmax = softmax_probabilities(cosines, 1.0);
  EXPECT_NEAR(softmax[0], 0.98847, 5e-6);
  EXPECT_NEAR(softmax[1], 0.01098, 5e-6);
  EXPECT_NEAR(softmax[2], 0.00055, 5e-6);
}

}  // namespace
}  // namespace probe
