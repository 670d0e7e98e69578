#include "analysis/choice_tables.h"

#include <gtest/gtest.h>

namespace probe {
namespace {

ChoiceOutcome outcome(const std::string& item, bool right) {
  return {item + "/q", item, right ? 0 : 1, 0, false, {0.5f, 0.4f, 0.3f, 0.2f}};
}

struct Sample {
  ItemColumns items;
  std::vector<ChoiceOutcome> outcomes;

  Sample() {
    const auto add = [&](const std::string& id, const std::string& condition,
                         const std::string& source, bool right) {
      items.id.push_back(id);
      items.category.push_back("fig");
      items.condition.push_back(condition);
      items.original_id.push_back(source);
      outcomes.push_back(outcome(id, right));
    };
    for (int i = 0; i < 10; ++i) add("o" + std::to_string(i), "original", "", i != 0);
    for (int i = 0; i < 10; ++i) {
      add("m" + std::to_string(i), i < 8 ? "color" : "shape", "o" + std::to_string(i), i >= 5);
    }
  }
};

TEST(ChoiceTables, CountsByCondition) {
  const Sample sample;
  const Table table = condition_table(group_outcomes(sample.outcomes, sample.items));
  ASSERT_EQ(table.rows.size(), 5u);  // original, color, shape, modified, all
  EXPECT_EQ(table.rows[0][1].accuracy, (Accuracy{9, 10}));
  EXPECT_EQ(table.rows[1][1].accuracy, (Accuracy{3, 8}));
  EXPECT_EQ(table.rows[2][1].accuracy, (Accuracy{2, 2}));
  EXPECT_EQ(table.rows[3][0].words, "modified");
  EXPECT_EQ(table.rows[3][1].accuracy, (Accuracy{5, 10}));
  EXPECT_EQ(table.rows[4][1].accuracy, (Accuracy{14, 20}));
  EXPECT_NEAR(table.rows[0][2].real, 25.0, 1e-9);
}

// color: pairs 0 to 7, originals 7 of 8, modified 3 of 8; four lost and none gained, since
// pair 0 is wrong on both sides.
TEST(ChoiceTables, DropIsTakenPairByPair) {
  const Sample sample;
  const auto drops = paired_drops(group_outcomes(sample.outcomes, sample.items));
  ASSERT_EQ(drops.size(), 2u);
  const Table table = drop_table(drops, 0);
  EXPECT_EQ(table.rows[0][1].whole, 8);
  EXPECT_NEAR(table.rows[0][2].real, 87.5, 1e-9);
  EXPECT_NEAR(table.rows[0][3].real, 37.5, 1e-9);
  EXPECT_NEAR(table.rows[0][4].real, -50.0, 1e-9);
  EXPECT_NEAR(table.rows[0][5].real, 0.125, 1e-9);  // 4 against 0: 2 * 0.5^4
  EXPECT_LE(table.rows[0][4].interval->low, -50.0);
  EXPECT_GE(table.rows[0][4].interval->high, -50.0);
}

TEST(ChoiceTables, CategoriesSumToTheTotal) {
  const Sample sample;
  const Table table = category_table(group_outcomes(sample.outcomes, sample.items));
  std::int64_t correct = 0, total = 0;
  for (const auto& row : table.rows) {
    for (std::size_t c = 1; c < row.size(); ++c) {
      correct += row[c].accuracy.correct;
      total += row[c].accuracy.total;
    }
  }
  EXPECT_EQ(correct, 14);
  EXPECT_EQ(total, 20);
}

TEST(ChoiceTables, ConfusionsMostFrequentFirst) {
  const Sample sample;
  std::vector<Question> questions;
  for (const ChoiceOutcome& o : sample.outcomes) {
    questions.push_back({o.question_id, o.item_id, QuestionType::choice,
                         {"fig", o.item_id == "o0" ? "egg" : "ball", "x", "y"}, 0, "fig"});
  }
  const Table table = confusion_table(sample.outcomes, questions, 10);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][1].words, "ball");
  EXPECT_EQ(table.rows[0][2].whole, 5);
  EXPECT_EQ(table.rows[1][2].whole, 1);
}

}  // namespace
}  // namespace probe
