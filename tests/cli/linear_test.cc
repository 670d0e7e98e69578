// probe linear: logistic regression and kNN on frozen vectors.
#include "tests/support/made_up_command.h"

namespace probe {
namespace {

using nlohmann::json;
using test::made_up_set;

class LinearCommand : public test::MadeUpCommand {
 protected:
  LinearCommand() : MadeUpCommand("linear") {}

  // The same centres, other items: "item-NN" becomes "test-NN".
  static EmbeddingSet others(EmbeddingSet set) {
    for (std::size_t i = 0; i < set.items.size(); ++i) {
      set.items.id[i].replace(0, 4, "test");
      set.items.content_sha256[i][0] = 'e';
    }
    return set;
  }
};

TEST_F(LinearCommand, SeparableClassesAreLearnt) {
  const std::string file = write("x.h5", made_up_set("one", 60, 8, 1, 3, 0.2f));
  const json result = report({file, "--k", "3,5", "--seed", "2"});
  const json rows = table(result, "linear_summary");
  ASSERT_EQ(rows.size(), 3u);  // logistic regression, 3-NN, 5-NN; originals only
  EXPECT_EQ(rows.at(0).at("method"), "logistic regression");
  EXPECT_EQ(rows.at(2).at("method"), "5-NN");
  for (const json& row : rows) {
    EXPECT_EQ(row.at("top1").at("total"), 30);
    EXPECT_EQ(row.at("top1").at("correct"), 30);
  }
  EXPECT_EQ(table(result, "linear_sweep").size(), 12u);
  EXPECT_EQ(result, report({file, "--k", "3,5", "--seed", "2"}));  // a seed fixes the split
}

TEST_F(LinearCommand, FoldsTestEveryItemOnce) {
  const std::string file = write("x.h5", made_up_set("one", 31, 8, 1, 3, 0.2f));
  const json result =
      report({file, "--folds", "4", "--c", "10", "--of", "mean-tokens", "--predictions"});
  EXPECT_EQ(table(result, "linear_summary").at(0).at("top1").at("total"), 31);
  EXPECT_EQ(table(result, "linear_predictions").size(), 31u);
  EXPECT_FALSE(has_table(result, "linear_sweep"));
  EXPECT_EQ(result.at("provenance").at("c"), "10");
}

TEST_F(LinearCommand, TrainAndTestFiles) {
  const EmbeddingSet train = made_up_set("one", 30, 8, 1, 3, 0.2f);
  EmbeddingSet test = others(train);
  test.items.content_sha256[0] = train.items.content_sha256[0];  // a leak
  test.items.original_id[1] = "item-01";
  test.items.condition[1] = "color";
  test.items.category[2] = "unseen";
  const test::ProgramResult result =
      run({write("train.h5", train), write("test.h5", test), "--k", "5,50"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* line :
       {"1 test images are training images as well (same content) and are left out of the test",
        "1 test images were made from training images",
        "1 test images of \"unseen\" are left out: none is trained on",
        "50-NN: there are only 30 training images, and all of them vote"}) {
    EXPECT_NE(result.err.find(line), std::string::npos) << line << "\n" << result.err;
  }
  EXPECT_NE(result.out.find("(27/27)"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("(1/1)"), std::string::npos) << result.out;
}

TEST_F(LinearCommand, WhatCannotBeTrainedIsSaid) {
  const EmbeddingSet set = made_up_set("one", 30, 8, 1, 3, 0.2f);
  const std::string file = write("x.h5", set);
  EmbeddingSet foreign = others(set);
  foreign.provenance.bundle_sha256 = std::string(64, 'b');
  expect_failure({file, write("foreign.h5", foreign)}, 1, "expected the same bundle as");
  expect_failure({write("one.h5", made_up_set("one", 9, 8, 1, 1))}, 1,
                 "expected images of two classes or more to train on, got 1 (c0)");
  expect_failure({file, file}, 1, "expected images to test that are not trained on, got none");
  expect_failure({file, file, file}, 2, "expected TRAIN TEST, or one source to split");
  expect_failure({file, "--c", "zero"}, 2, "--c: expected a positive number or auto, got zero");
  expect_failure({write("single.h5", made_up_set("one", 1, 8, 1))}, 1,
                 "expected images of two classes or more to train on, got 1 (c0)");
  expect_failure({write("two.h5", made_up_set("one", 2, 8, 1))}, 1,
                 "expected images to test whose class is trained on, got none");
  EmbeddingSet zero = set;
  zero.embedding.row(4).setZero();
  expect_failure({write("zero.h5", zero)}, 1, "item item-04: a zero vector has no direction");
  EmbeddingSet modified = set;
  for (std::string& condition : modified.items.condition) condition = "color";
  expect_failure({write("modified.h5", modified)}, 1, "to train on, got 0");
  EXPECT_EQ(run({write("modified.h5", modified), "--train-on", "all"}).exit_code, 0);
}

}  // namespace
}  // namespace probe
