#include "analysis/question_making.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/expect_error.h"

namespace probe {
namespace {

std::vector<Item> fruit_items(int each) {
  std::vector<Item> items;
  for (const char* name : {"apple", "fig", "kiwi", "pear", "plum"}) {
    for (int i = 0; i < each; ++i) {
      Item item;
      item.id = std::string(name) + std::to_string(i);
      item.category = name;
      items.push_back(item);
    }
  }
  return items;
}

std::vector<std::string> categories_of(const std::vector<Item>& items) {
  std::vector<std::string> names;
  for (const Item& item : items) names.push_back(item.category);
  return names;
}

TEST(QuestionMaking, PositionsAreBalancedAndChoicesDistinct) {
  const auto items = fruit_items(3);  // 15: positions 4, 4, 4, 3
  const auto made = make_questions(items, random_distractors(categories_of(items), 3), {},
                                   "none", {true, true, true, 3, 3});
  EXPECT_TRUE(made.failures.empty());
  ASSERT_EQ(made.questions.size(), 45u);
  for (const QuestionType type : {QuestionType::choice, QuestionType::unsolvable}) {
    std::vector<int> count(4);
    for (const Question& q : made.questions) {
      if (q.type != type) continue;
      ++count[q.answer];
      EXPECT_EQ(std::set<std::string>(q.choices.begin(), q.choices.end()).size(), 4u);
      EXPECT_EQ(q.choices[q.answer], q.answer_text);
      const std::string category = q.item_id.substr(0, q.item_id.size() - 1);
      const auto named = std::count(q.choices.begin(), q.choices.end(), category);
      EXPECT_EQ(named, type == QuestionType::choice ? 1 : 0);
    }
    EXPECT_EQ(*std::max_element(count.begin(), count.end()), 4);
    EXPECT_EQ(*std::min_element(count.begin(), count.end()), 3);
  }
}

TEST(QuestionMaking, TheSeedDecides) {
  const auto items = fruit_items(2);
  const auto names = categories_of(items);
  EXPECT_EQ(random_distractors(names, 5), random_distractors(names, 5));
  EXPECT_NE(random_distractors(names, 5), random_distractors(names, 6));
}

TEST(QuestionMaking, SameWordIsNoDistractor) {
  const auto made = make_questions(
      {{"i", "", "apple", "original", "", "", "", ""}},
      {{"apple", {"Apples", "pomme", "fig", "figs", "kiwi", "plum"}}}, {{"apple", "pomme"}}, "none",
      {false, true, false, 3, 0});
  ASSERT_EQ(made.questions.size(), 1u);
  std::vector<std::string> choices = made.questions[0].choices;
  std::sort(choices.begin(), choices.end());
  EXPECT_EQ(choices, (std::vector<std::string>{"apple", "fig", "kiwi", "plum"}));
}

TEST(QuestionMaking, TooFewDistractorsAreListed) {
  auto items = fruit_items(1);
  items.push_back({"lost", "", "", "original", "", "", "", ""});
  const auto made = make_questions(items, {{"apple", {"fig", "egg", "bun"}}, {"fig", {"egg"}}}, {},
                                   "none", {false, true, false, 3, 0});
  EXPECT_EQ(made.questions.size(), 1u);
  ASSERT_EQ(made.failures.size(), 5u);
  EXPECT_EQ(made.failures[0].reason, "expected 3 distractors for \"fig\", got 1");
  EXPECT_EQ(made.failures[4].reason, "no category");
}

TEST(QuestionMaking, NearestFirst) {
  RowMatrix rows(4, 2);
  rows << 1, 0, 0.9f, 0.1f, 0, 1, -1, 0;
  const auto nearest = nearest_distractors(rows, {"a", "b", "c", "d"});
  EXPECT_EQ(nearest.at("a"), (std::vector<std::string>{"b", "c", "d"}));
  EXPECT_EQ(nearest.at("d"), (std::vector<std::string>{"c", "b", "a"}));
  EXPECT_PROBE_ERROR(nearest_distractors(rows, {"a"}), ErrorKind::input,
                     "embeddings: expected 1 rows, got 4");
}

}  // namespace
}  // namespace probe
