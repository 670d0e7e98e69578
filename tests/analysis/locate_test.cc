// LocateBench (Chiang et al. 2024): filters on hand-made boxes, answers, error counts.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "analysis/locate_answers.h"
#include "analysis/locate_items.h"
#include "tests/support/expect_error.h"

namespace probe {
namespace {

LocateObject object(std::int64_t id, Box box, const std::string& super = "food",
                    const std::string& category = "apple") {
  return {id, 1, category, super, box, false};
}

const std::vector<LocateImage> kImage = {{1, "a.jpg", 1000, 1000}};

// Four boxes of 100 x 100 in a row, with gaps.
std::vector<LocateObject> four() {
  return {object(1, {0, 0, 100, 100}), object(2, {200, 0, 100, 100}),
          object(3, {400, 0, 100, 100}), object(4, {600, 0, 100, 100})};
}

LocateItems make(const std::vector<LocateObject>& objects, const LocateLimits& limits = {}) {
  return make_locate_items(kImage, objects, {}, false, limits, 1);
}

TEST(LocateItems, FourSeparateObjectsMakeFourItems) {
  const LocateItems made = make(four());
  ASSERT_EQ(made.items.size(), 4u);
  std::set<std::string> ids;
  for (const LocateItem& item : made.items) {
    ids.insert(item.id);
    ASSERT_EQ(item.boxes.size(), 4u);
    // The answer is the object the item is called after.
    EXPECT_EQ(item.boxes[item.answer].x, 200 * (std::stoi(item.id) - 1)) << item.id;
    EXPECT_EQ(item.category, "food");
    std::set<double> lefts;
    for (const Box& box : item.boxes) lefts.insert(box.x);
    EXPECT_EQ(lefts, (std::set<double>{0, 200, 400, 600}));
  }
  EXPECT_EQ(ids.size(), 4u);
}

TEST(LocateItems, ThreeAreNotEnough) {
  auto objects = four();
  objects.pop_back();
  EXPECT_TRUE(make(objects).items.empty());
  objects.push_back(object(4, {600, 0, 100, 100}, "animal"));
  EXPECT_TRUE(make(objects).items.empty());
  objects.back() = object(4, {600, 0, 100, 100}, "food", "banana");
  EXPECT_EQ(make(objects).items.size(), 4u);
  LocateLimits by_category;
  by_category.by_super_category = false;
  EXPECT_TRUE(make(objects, by_category).items.empty());
}

// Width and height of at least 75: 75 stays, 74.9 goes.
TEST(LocateItems, SideLimitIsInclusive) {
  auto objects = four();
  objects[3].box = {600, 0, 75, 75};
  EXPECT_EQ(make(objects).items.size(), 4u);
  objects[3].box = {600, 0, 74.9, 300};
  EXPECT_EQ(make(objects).counts.large, 3);
  EXPECT_TRUE(make(objects).items.empty());
  objects[3].box = {600, 0, 300, 74.9};
  EXPECT_TRUE(make(objects).items.empty());
}

// The shared area may be 10 x 10; each side counts by itself.
TEST(LocateItems, OverlapLimitIsForWidthAndHeight) {
  const Box a{0, 0, 100, 100};
  EXPECT_TRUE(boxes_are_separate(a, {90, 90, 100, 100}, 10));
  EXPECT_FALSE(boxes_are_separate(a, {89, 90, 100, 100}, 10));
  EXPECT_FALSE(boxes_are_separate(a, {90, 89, 100, 100}, 10));
  EXPECT_FALSE(boxes_are_separate(a, {95, 0, 100, 100}, 10));  // 5 wide, 100 high
  EXPECT_TRUE(boxes_are_separate(a, {100, 0, 100, 100}, 10));  // they touch
  auto objects = four();
  objects[1].box = {95, 0, 100, 100};
  EXPECT_TRUE(make(objects).items.empty());
  // A fifth object helps all but the two that overlap out.
  objects.push_back(object(5, {800, 0, 100, 100}));
  const LocateItems made = make(objects);
  EXPECT_EQ(made.counts.separate, 5);
  for (const LocateItem& item : made.items) {
    std::set<double> lefts;
    for (const Box& box : item.boxes) lefts.insert(box.x);
    EXPECT_FALSE(lefts.contains(0) && lefts.contains(95)) << item.id;
  }
}

TEST(LocateItems, CrowdsAreNoCandidates) {
  auto objects = four();
  objects[0].crowd = true;
  const LocateItems made = make(objects);
  EXPECT_EQ(made.counts.single, 3);
  EXPECT_TRUE(made.items.empty());
}

TEST(LocateItems, ExpressionsChooseTheAnswers) {
  const std::vector<LocateExpression> words = {{3, "the third", "Which?", "Is it?"}};
  const LocateItems made = make_locate_items(kImage, four(), words, true, {}, 1);
  ASSERT_EQ(made.items.size(), 1u);
  EXPECT_EQ(made.items[0].id, "3");
  EXPECT_EQ(made.items[0].question, "Which?");
  EXPECT_EQ(made.counts.separate, 4);
  EXPECT_EQ(made.counts.described, 1);
  EXPECT_PROBE_ERROR(make_locate_items(kImage, four(), {{9, "x", "", ""}}, true, {}, 1),
                     ErrorKind::input, "annotation 9, which the annotations do not have");
}

TEST(LocateItems, SeedDecides) {
  std::vector<LocateObject> objects;
  for (int i = 0; i < 9; ++i) objects.push_back(object(i, {110.0 * i, 0, 100, 100}));
  const auto key = [&](std::uint64_t seed) {
    std::string text;
    for (const LocateItem& item :
         make_locate_items(kImage, objects, {}, false, {}, seed).items) {
      for (const Box& box : item.boxes) text += std::to_string(box.x) + " ";
    }
    return text;
  };
  EXPECT_EQ(key(1), key(1));
  EXPECT_NE(key(1), key(2));
}

// BUGCASES 53, 55.
TEST(Bugcase53, ClipsToThePicture) {
  const auto size = [](Box box) {
    const auto clipped = clip_box(box, 100, 80);
    return clipped ? std::pair{clipped->width(), clipped->height()} : std::pair{0, 0};
  };
  EXPECT_EQ(size({-10, -10, 30, 30}), (std::pair{20, 20}));
  EXPECT_EQ(size({90, 70, 40, 50}), (std::pair{10, 10}));
  EXPECT_EQ(size({-50, -50, 550, 550}), (std::pair{100, 80}));
  EXPECT_FALSE(clip_box({200, 200, 20, 20}, 100, 80));
  EXPECT_FALSE(clip_box({20, 20, -15, -15}, 100, 80));
  EXPECT_FALSE(clip_box({std::nan(""), 0, 1, 1}, 100, 80));
}

TEST(Bugcase55, CornersAreRounded) {
  for (const Box box : {Box{10, 20, 30, 40}, Box{9.6, 19.6, 30.8, 40.8}}) {
    const auto clipped = clip_box(box, 100, 80);
    ASSERT_TRUE(clipped);
    EXPECT_EQ(clipped->x0, 10);
    EXPECT_EQ(clipped->y0, 20);
    EXPECT_EQ(clipped->x1, 40);
    EXPECT_EQ(clipped->y1, 60);
  }
}

TEST(LocateAnswers, Letters) {
  const auto parse = [](const std::string& text) {
    return parse_locate_choice(text, LocateFormat::letters, {});
  };
  EXPECT_EQ(parse("Answer: B"), 1);
  EXPECT_EQ(parse("answer: (c)"), 2);
  EXPECT_EQ(parse("**Answer:** **D**"), 3);
  EXPECT_EQ(parse("Answer: A\nOn a second look:\nAnswer: B. The left one"), 1);
  EXPECT_EQ(parse("(B)"), 1);
  EXPECT_EQ(parse("C."), 2);
  EXPECT_EQ(parse("A man is in box C"), -1);
  EXPECT_EQ(parse("Answer: E"), -1);
  EXPECT_EQ(parse("Answer: AB"), -1);
  EXPECT_EQ(parse(""), -1);
}

TEST(LocateAnswers, Colors) {
  const auto parse = [](const std::string& text) {
    return parse_locate_choice(text, LocateFormat::colors, {});
  };
  EXPECT_EQ(parse("Answer: Green"), 1);
  EXPECT_EQ(parse("The yellow box."), 3);
  EXPECT_EQ(parse("Not the red box. Answer: blue"), 2);
  EXPECT_EQ(parse("red or green"), -1);
  EXPECT_EQ(parse("It is hundred percent sure"), -1);
}

TEST(LocateAnswers, Coordinates) {
  const std::vector<Box> boxes = {{0, 0, 100, 100}, {200, 0, 100, 100}, {400, 0, 100, 100},
                                  {600, 0, 100, 100}};
  const auto parse = [&](const std::string& text) {
    return parse_locate_choice(text, LocateFormat::coordinates, boxes);
  };
  EXPECT_EQ(parse("Answer: (200, 0, 100, 100)"), 1);
  EXPECT_EQ(parse("[401.5, 3, 99, 95]"), 2);
  EXPECT_EQ(parse("Answer: (240, 0, 100, 100)"), -1);  // 60 of 140 in common
  EXPECT_EQ(parse("Answer: (200, 0)"), -1);
  EXPECT_EQ(parse("(0, 0, 100, 100) or (200, 0, 100, 100)"), -1);
}

TEST(LocateAnswers, YesNo) {
  EXPECT_EQ(parse_yes_no("Answer: Yes"), YesNo::yes);
  EXPECT_EQ(parse_yes_no("No, it does not."), YesNo::no);
  EXPECT_EQ(parse_yes_no("There is nothing unknown; yes"), YesNo::yes);
  EXPECT_EQ(parse_yes_no("A notice"), YesNo::unparsed);
  EXPECT_EQ(parse_yes_no("It may be yes or no"), YesNo::unparsed);
}

std::vector<LocateItem> items(std::initializer_list<int> answers) {
  std::vector<LocateItem> list;
  for (const int answer : answers) {
    LocateItem item;
    item.id = "i" + std::to_string(list.size());
    item.boxes = {{0, 0, 10, 10}, {20, 0, 10, 10}, {40, 0, 10, 10}, {60, 0, 10, 10}};
    item.answer = answer;
    list.push_back(item);
  }
  return list;
}

std::vector<LocateResponse> one_by_one(const std::string& item,
                                       std::vector<std::string> answers) {
  std::vector<LocateResponse> list;
  for (int c = 0; c < 4; ++c) {
    list.push_back({"r:1", "m", item, LocateFormat::one_by_one, c, answers[c]});
  }
  return list;
}

// Ruling 6: the first "yes" wins; all "no" is the first candidate.
TEST(LocateAnswers, OneByOne) {
  std::vector<LocateResponse> responses;
  for (const auto& part :
       {one_by_one("i0", {"No", "Yes", "Yes", "No"}), one_by_one("i1", {"No", "Yes", "Yes", "No"}),
        one_by_one("i2", {"No", "No", "No", "No"}), one_by_one("i3", {"No", "No", "No", "No"}),
        one_by_one("i4", {"No", "", "No", "No"}), one_by_one("i5", {"", "Yes", "No", "No"})}) {
    responses.insert(responses.end(), part.begin(), part.end());
  }
  const auto runs = score_locate(items({1, 2, 0, 3, 0, 1, 1}), responses);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].outcomes,
            (std::vector{LocateOutcome::right, LocateOutcome::wrong, LocateOutcome::all_no_right,
                         LocateOutcome::all_no_wrong, LocateOutcome::unparsed,
                         LocateOutcome::right, LocateOutcome::missing}));
  EXPECT_EQ(runs[0].accuracy(), (Accuracy{3, 7}));
  EXPECT_EQ(runs[0].strict_accuracy(), (Accuracy{2, 7}));
}

TEST(LocateAnswers, BadResponsesAreRefused) {
  const auto list = items({0});
  const LocateResponse good{"r:1", "m", "i0", LocateFormat::letters, -1, "A"};
  LocateResponse bad = good;
  bad.item_id = "x";
  EXPECT_PROBE_ERROR(score_locate(list, {bad}), ErrorKind::input,
                     "r:1: item_id \"x\" is not among the items");
  EXPECT_PROBE_ERROR(score_locate(list, {good, good}), ErrorKind::input,
                     "a second response of model \"m\" to item \"i0\"");
  bad = good;
  bad.candidate = 2;
  EXPECT_PROBE_ERROR(score_locate(list, {bad}), ErrorKind::input, "no place with letters");
  bad.format = LocateFormat::one_by_one;
  bad.candidate = 4;
  EXPECT_PROBE_ERROR(score_locate(list, {bad}), ErrorKind::input, "expected a candidate");
}

// Three models, five items with answer A. Wrong: p 1 2 3, q 2 3, r 3 4.
TEST(LocateTables, VennCountsOfThreeModels) {
  const auto list = items({0, 0, 0, 0, 0});
  const std::pair<const char*, std::set<int>> models[] = {
      {"p", {1, 2, 3}}, {"q", {2, 3}}, {"r", {3, 4}}};
  std::vector<LocateResponse> responses;
  for (const auto& [model, wrong] : models) {
    for (int i = 0; i < 5; ++i) {
      responses.push_back({"r", model, "i" + std::to_string(i), LocateFormat::letters, -1,
                           wrong.contains(i) ? "B" : "A"});
    }
  }
  const auto runs = score_locate(list, responses);
  const auto tables = locate_venn_tables(runs, true);
  ASSERT_EQ(tables.size(), 1u);
  std::map<std::string, std::int64_t> counts;
  for (const auto& row : tables[0].rows) counts[row[0].words] = row[1].whole;
  EXPECT_EQ(counts, (std::map<std::string, std::int64_t>{
                        {"none", 1}, {"p", 1}, {"p + q", 1}, {"p + q + r", 1}, {"r", 1}}));
  EXPECT_TRUE(locate_venn_tables(runs, false).empty());  // one format each
  const Table accuracy = locate_accuracy_table(runs);  // Table 1: a row a prompt
  ASSERT_EQ(accuracy.rows.size(), 1u);
  EXPECT_EQ(accuracy.rows[0][0].words, "letters");
  EXPECT_EQ(accuracy.rows[0][1].accuracy, (Accuracy{2, 5}));
  // Wilson for 2 of 5 (statsmodels): 0.1176 to 0.7693.
  EXPECT_NEAR(accuracy.rows[0][1].interval->low, 0.1176, 1e-4);
  EXPECT_NEAR(accuracy.rows[0][1].interval->high, 0.7693, 1e-4);
}

}  // namespace
}  // namespace probe
