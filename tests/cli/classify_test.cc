// probe classify: zero-shot over a whole label set.
#include "tests/support/made_up_command.h"
#include "tests/support/small_dataset.h"

namespace probe {
namespace {

using nlohmann::json;
using test::made_up_set;

class ClassifyCommand : public test::MadeUpCommand {
 protected:
  ClassifyCommand() : MadeUpCommand("classify") {}
};

// The bundle is not here: the vectors of the file's own prompts do.
TEST_F(ClassifyCommand, NeedsNothingButTheFile) {
  const std::string file = write("x.h5", made_up_set("gone", 30, 8, 1, 3, 0.1f));
  const json result = report({file, "--template", "{}", "--predictions"});
  const json row = table(result, "classify_by_condition").at(0);
  EXPECT_EQ(row.at("top1").at("correct"), 30);
  EXPECT_EQ(row.at("top1").at("total"), 30);
  EXPECT_LT(row.at("top1").at("low").get<double>(), 100.0);  // Wilson: 30 of 30 is not certain
  EXPECT_FALSE(row.contains("top5"));                        // of three classes it says nothing
  EXPECT_NEAR(row.at("chance_percent").get<double>(), 100.0 / 3, 1e-9);
  EXPECT_EQ(table(result, "classify_by_class").size(), 3u);
  EXPECT_EQ(table(result, "classify_predictions").size(), 30u);
  EXPECT_FALSE(has_table(result, "classify_errors"));
  EXPECT_EQ(result.at("figures").at(0).at("kind"), "heatmap");
  EXPECT_EQ(result.at("figures").at(1).at("kind"), "chord");
}

TEST_F(ClassifyCommand, AClassMayHaveSeveralNamesAndOthersAreLeftOut) {
  const std::string file = write("x.h5", made_up_set("gone", 30, 8, 1, 3, 0.1f));
  const std::string labels = home_.write("names.json", R"({"c0": ["c0", "c1"], "c2": []})");
  const test::ProgramResult result = run({file, "--template", "{}", "--labels", labels});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("(20/20)"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("10 items of 1 categories that are no class were left out, e.g. c1"),
            std::string::npos)
      << result.err;
}

TEST_F(ClassifyCommand, EqualClassesTieAndAreCounted) {
  EmbeddingSet set = made_up_set("gone", 12, 8, 1, 3, 0.1f);
  set.text_embedding.row(1) = set.text_embedding.row(0);
  const json result = report({write("x.h5", set), "--template", "{}"});
  const json row = table(result, "classify_by_condition").at(0);
  EXPECT_EQ(row.at("ties"), 8);
  EXPECT_EQ(row.at("top1").at("correct"), 8);  // c0 right, c1 never
  EXPECT_NEAR(row.at("mean_per_class_percent").get<double>(), 100.0 * 2 / 3, 1e-6);
}

TEST_F(ClassifyCommand, WhatCannotBeClassifiedIsSaid) {
  const EmbeddingSet set = made_up_set("gone", 9, 8, 1);
  const std::string file = write("x.h5", set);
  expect_failure({file}, 2, "--template: expected one");
  expect_failure({file, "--template", "a {}"}, 1, "lacks some of the 3 prompts");
  expect_failure({write("one.h5", made_up_set("gone", 9, 8, 1, 1)), "--template", "{}"}, 1,
                 "classify: expected two classes or more (the items' categories, or --labels "
                 "FILE), got 1");
  expect_failure({file, "--template", "{}", "--labels", home_.write("x.txt", "fig\nplum\n")}, 1,
                 "expected items of the 2 classes, got none among 9 items");
  EmbeddingSet zero = set;
  zero.embedding.row(4).setZero();
  expect_failure({write("zero.h5", zero), "--template", "{}"}, 1,
                 "item item-04: a zero vector has no direction");
  EmbeddingSet tower = set;
  tower.embedding.resize(9, 0);
  tower.text_embedding.resize(0, 0);
  tower.prompts.clear();
  expect_failure({write("tower.h5", tower), "--template", "{}"}, 2,
                 "has no embedding: zero-shot scoring needs one");
}

TEST_F(ClassifyCommand, OneImageIsEnough) {
  const std::string file = write("x.h5", made_up_set("gone", 1, 8, 1, 3, 0.1f));
  const std::string labels = home_.write("x.txt", "c0\nc1\nc2\n");
  const json row = table(report({file, "--template", "{}", "--labels", labels}),
                         "classify_by_condition")
                       .at(0);
  EXPECT_EQ(row.at("top1").at("correct"), 1);
}

// embed stores the categories' prompts, so that a file gives what its dataset gives.
TEST_F(ClassifyCommand, DatasetAndFileGiveTheSameNumbers) {
  test::TempDir data;
  const std::string items =
      test::write_small_dataset(data, {"banana", "kiwi", "tomato"}, {"egg", "pineapple"});
  const std::string file = data.path() / "out.h5";
  ASSERT_EQ(test::run_probe({"embed", items, "-o", file, "-q"}, home_.path()).exit_code, 0);
  const json from_file = report({file});
  EXPECT_EQ(from_file.at("tables"), report({items}).at("tables"));
  EXPECT_EQ(table(from_file, "classify_by_condition").at(0).at("top1").at("total"), 6);
}

}  // namespace
}  // namespace probe
