#include "analysis/splits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace probe {
namespace {

struct Row {
  std::string id, category, condition, original_id, content;
};

ItemColumns items_of(const std::vector<Row>& rows) {
  ItemColumns items;
  for (const Row& row : rows) {
    items.id.push_back(row.id);
    items.path.push_back("");
    items.category.push_back(row.category);
    items.condition.push_back(row.condition);
    items.original_id.push_back(row.original_id);
    items.attribute.push_back("");
    items.content_sha256.push_back(row.content);
  }
  return items;
}

// Ten originals of each of two classes, a twin of every second, and two modified images
// whose source is not here.
ItemColumns sample() {
  std::vector<Row> rows;
  for (const std::string name : {"fig", "plum"}) {
    for (int i = 0; i < 10; ++i) {
      const std::string id = name + std::to_string(i);
      rows.push_back({id, name, "original", "", id});
      if (i % 2 == 0) rows.push_back({id + "x", name, "color", id, id + "x"});
    }
    rows.push_back({name + "-alone", name, "color", "elsewhere", name + "-alone"});
  }
  rows.push_back({"nameless", "", "original", "", "nameless"});
  return items_of(rows);
}

TEST(Splits, TwinsStayWithTheirSourceAndOnlyOriginalsAreTrainedOn) {
  const ItemColumns items = sample();
  const std::vector<std::int64_t> groups = item_groups(items);
  const Split split = split_items(items, {0.5, 0, false, 3}).front();
  std::set<std::int64_t> trained;
  for (const std::int64_t row : split.train) {
    EXPECT_EQ(items.condition[row], "original");
    trained.insert(groups[row]);
  }
  std::map<std::string, int> train_count, test_originals, alone;
  for (const std::int64_t row : split.train) ++train_count[items.category[row]];
  for (const std::int64_t row : split.test) {
    EXPECT_FALSE(trained.contains(groups[row])) << items.id[row];
    EXPECT_FALSE(items.category[row].empty());
    if (items.condition[row] == "original") ++test_originals[items.category[row]];
    if (items.id[row].ends_with("-alone")) ++alone[items.category[row]];
  }
  for (const std::string name : {"fig", "plum"}) {
    EXPECT_EQ(train_count[name], 5);
    EXPECT_EQ(test_originals[name], 5);
    EXPECT_EQ(alone[name], 1);
  }
  EXPECT_EQ(split.train, split_items(items, {0.5, 0, false, 3}).front().train);
  EXPECT_NE(split.train, split_items(items, {0.5, 0, false, 4}).front().train);
}

TEST(Splits, FoldsTestEveryItemOnce) {
  const ItemColumns items = sample();
  std::vector<std::int64_t> tested;
  for (const Split& split : split_items(items, {0.5, 4, false, 0})) {
    tested.insert(tested.end(), split.test.begin(), split.test.end());
    std::vector<std::int64_t> both;
    std::set_intersection(split.train.begin(), split.train.end(), split.test.begin(),
                          split.test.end(), std::back_inserter(both));
    EXPECT_TRUE(both.empty());
    EXPECT_GE(split.train.size(), 14u);
  }
  std::sort(tested.begin(), tested.end());
  std::vector<std::int64_t> all;
  for (std::int64_t row = 0; row < std::ssize(items.id); ++row) {
    if (!items.category[row].empty()) all.push_back(row);
  }
  EXPECT_EQ(tested, all);
}

TEST(Splits, ModifiedImagesAreTrainedOnWhenAsked) {
  const ItemColumns items = sample();
  const Split split = split_items(items, {0.5, 0, true, 0}).front();
  EXPECT_TRUE(std::any_of(split.train.begin(), split.train.end(), [&](std::int64_t row) {
    return items.condition[row] == "color";
  }));
}

TEST(Splits, CopiesAndTwinsOfTwinsAreOneGroup) {
  const ItemColumns items = items_of({{"a", "x", "original", "", "1"},
                                      {"b", "x", "original", "", "1"},
                                      {"c", "x", "color", "b", "2"},
                                      {"d", "x", "shape", "c", "3"},
                                      {"e", "x", "original", "", ""},
                                      {"f", "x", "original", "", ""}});
  EXPECT_EQ(item_groups(items), (std::vector<std::int64_t>{0, 0, 0, 0, 4, 5}));
}

TEST(Splits, AClassOfOnePictureIsTrainedOn) {
  const ItemColumns items = items_of({{"a", "x", "original", "", "1"},
                                      {"b", "y", "original", "", "2"},
                                      {"c", "y", "original", "", "3"}});
  const Split split = split_items(items, {0.01, 0, false, 0}).front();
  EXPECT_EQ(split.train.size(), 2u);
  EXPECT_EQ(split.test.size(), 1u);
}

TEST(Splits, HoldsOutWholeGroups) {
  const Split split = hold_out({0, 1, 2, 3, 4, 5}, {0, 0, 2, 2, 4, 4}, 0.1, 1);
  EXPECT_EQ(split.test.size(), 2u);
  EXPECT_EQ(split.test[0] / 2, split.test[1] / 2);
  EXPECT_EQ(split.train.size(), 4u);
  EXPECT_TRUE(hold_out({0, 1}, {0, 0}, 0.5, 1).test.empty());  // one group cannot be split
}

}  // namespace
}  // namespace probe
