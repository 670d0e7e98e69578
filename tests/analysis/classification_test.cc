#include "analysis/classification.h"

#include <gtest/gtest.h>

#include "analysis/classification_tables.h"
#include "tests/support/expect_error.h"

namespace probe {
namespace {

TEST(Classification, RanksByScoreAndTiesGoToTheLowerClass) {
  const ClassOutcome outcome = rank_classes(7, 4, {0.1, 0.5, 0.5, -1, 0.4, 0.3, 0.2});
  EXPECT_EQ(outcome.row, 7);
  EXPECT_EQ(outcome.ranked, (std::vector<int>{1, 2, 4, 5, 6}));
  EXPECT_TRUE(outcome.tied);
  EXPECT_FALSE(outcome.correct());
  EXPECT_FALSE(outcome.within(2));
  EXPECT_TRUE(outcome.within(3));
  EXPECT_FALSE(rank_classes(0, 0, {1.0}).tied);
}

TEST(Classification, ImagesGoToTheNearestClass) {
  RowMatrix images(3, 2), prompts(2, 2);
  images << 5, 1, 0, 2, 1, 1;
  prompts << 1, 0, 0, 3;
  const TextClassifier classifier = average_prompts({"x", "y"}, prompts, 1);
  const std::vector<ClassOutcome> outcomes = classify_images(images, classifier, {0, 1, -1});
  ASSERT_EQ(outcomes.size(), 2u);  // the third has no class
  EXPECT_TRUE(outcomes[0].correct());
  EXPECT_TRUE(outcomes[1].correct());
  images.row(1).setZero();
  EXPECT_PROBE_ERROR(classify_images(images, classifier, {0, 1, -1}), ErrorKind::input,
                     "row 1: a zero vector has no direction");
  EXPECT_PROBE_ERROR(classify_images(RowMatrix::Ones(1, 3), classifier, {0}), ErrorKind::input,
                     "expected texts of width 3, got 2");
}

// open_clip averages normalised prompts; a class with two names in two templates has four.
TEST(Classification, ClassesMayHaveSeveralNames) {
  RowMatrix prompts(3, 2);
  prompts << 10, 0, 0, 1, 0, 5;
  const TextClassifier classifier =
      average_prompts({"x", "y"}, prompts, std::vector<int>{2, 1});
  EXPECT_NEAR(classifier.vectors(0, 0), std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(classifier.vectors(0, 1), std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(classifier.vectors(1, 1), 1.0, 1e-6);
  EXPECT_PROBE_ERROR(average_prompts({"x", "y"}, prompts, std::vector<int>{3, 0}),
                     ErrorKind::input, "expected 3 rows");
}

// Seven classes; 'a' three times, 'b' once.
class ClassTables : public testing::Test {
 protected:
  ClassTables() {
    for (const char* id : {"1", "2", "3", "4"}) {
      items_.id.push_back(id);
      for (auto* column : {&items_.path, &items_.original_id, &items_.attribute,
                           &items_.content_sha256}) {
        column->push_back("");
      }
    }
    items_.category = {"a", "a", "a", "b"};
    items_.condition = {"original", "original", "color", "original"};
  }

  ItemColumns items_;
  std::vector<std::string> classes_{"a", "b", "c", "d", "e", "f", "g"};
  std::vector<ClassOutcome> outcomes_{
      rank_classes(0, 0, {9, 8, 7, 6, 5, 4, 3}), rank_classes(1, 0, {1, 8, 7, 6, 5, 4, 3}),
      rank_classes(2, 0, {7, 9, 5, 6, 4, 3, 2}), rank_classes(3, 1, {1, 2, 0, 0, 0, 0, 0})};
  Classification result_{items_, classes_, outcomes_, "classify", "Classes"};
};

TEST_F(ClassTables, CountTopOneTopFiveAndMeanPerClass) {
  const Table table = class_condition_table(result_);
  ASSERT_EQ(table.rows.size(), 3u);  // original, color, all
  EXPECT_EQ(table.rows[0][1].accuracy, (Accuracy{2, 3}));
  EXPECT_EQ(table.rows[0][2].accuracy, (Accuracy{2, 3}));  // item 2: 'a' is the last of seven
  EXPECT_NEAR(table.rows[0][3].real, 100 * (0.5 + 1.0) / 2, 1e-9);
  EXPECT_EQ(table.rows[1][1].accuracy, (Accuracy{0, 1}));
  EXPECT_EQ(table.rows[1][2].accuracy, (Accuracy{1, 1}));
  EXPECT_EQ(table.rows[2][1].accuracy, (Accuracy{2, 4}));
  EXPECT_NEAR(table.rows[2][3].real, 100 * (1.0 / 3 + 1.0) / 2, 1e-9);
  EXPECT_NEAR(table.rows[2][4].real, 100.0 / 7, 1e-9);
}

TEST_F(ClassTables, NameMistakesOnce) {
  const Table by_class = class_table(result_);
  ASSERT_EQ(by_class.rows.size(), 2u);  // classes without items are not listed
  EXPECT_EQ(by_class.rows[0].back().words, "b (2)");
  EXPECT_EQ(by_class.rows[1].back().words, "");
  const Table pairs = confusion_pairs(class_confusions(result_), "pairs", 10);
  ASSERT_EQ(pairs.rows.size(), 1u);
  EXPECT_EQ(pairs.rows[0][0].words, "a");
  EXPECT_EQ(pairs.rows[0][1].words, "b");
  EXPECT_EQ(pairs.rows[0][2].whole, 2);
  const Table errors = class_error_table(result_, 1);
  ASSERT_EQ(errors.rows.size(), 1u);
  EXPECT_EQ(errors.rows[0][0].words, "3");  // ahead by 2, not by 1
  EXPECT_TRUE(errors.columns[0].items);
  EXPECT_EQ(errors.rows[0].back().whole, 2);
  EXPECT_EQ(errors.note, "1 of 2 mistakes");
  EXPECT_EQ(class_prediction_table(result_).rows.size(), 4u);
}

TEST_F(ClassTables, ConfusionFiguresShowTheNamesOfMistakesFirst) {
  const ConfusionCounts counts{{{"a", "a"}, 3}, {{"a", "b"}, 1}, {{"c", "c"}, 50}};
  const Figure heatmap = confusion_heatmap(counts, "m", 2);
  ASSERT_EQ(heatmap.marks.size(), 4u);
  EXPECT_EQ(heatmap.marks[1].x, "b");
  EXPECT_NEAR(*heatmap.marks[1].value, 25.0, 1e-9);
  EXPECT_FALSE(heatmap.marks[2].value);  // 'b' was never asked about
  const Figure chord = confusion_chord(counts, "c", 2);
  ASSERT_EQ(chord.marks.size(), 1u);
  EXPECT_EQ(*chord.marks[0].value, 1.0);
}

}  // namespace
}  // namespace probe
