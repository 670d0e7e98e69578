// probe similarity on embedding files that were not made by a tower.
#include "tests/support/made_up_command.h"

namespace probe {
namespace {

using nlohmann::json;
using test::made_up_set;

class SimilarityCommand : public test::MadeUpCommand {
 protected:
  SimilarityCommand() : MadeUpCommand("similarity") {}
};

TEST_F(SimilarityCommand, ACopyIsTheSameAndNoiseIsNot) {
  const EmbeddingSet one = made_up_set("one", 30, 8, 1, 1);
  EmbeddingSet copy = one;
  copy.provenance.encoder = "copy";
  copy.embedding *= 3.0f;
  const json result =
      report({write("one.h5", one), write("copy.h5", copy),
                    write("noise.h5", made_up_set("noise", 30, 5, 2, 1)), "--k", "4"});
  const json pairs = result.at("tables").at(0).at("rows");
  ASSERT_EQ(pairs.size(), 3u);
  for (const char* measure : {"cka", "cka_debiased", "mutual_knn", "rsa"}) {
    EXPECT_NEAR(pairs.at(0).at(measure).get<double>(), 1.0, 1e-5) << measure;
    EXPECT_LT(pairs.at(1).at(measure).get<double>(), 0.5) << measure;
  }
  EXPECT_NEAR(pairs.at(0).at("chance").get<double>(), 4.0 / 29, 1e-9);
  const json matrix = result.at("tables").at(1).at("rows");
  EXPECT_EQ(matrix.at(0).at("one"), 1.0);
  EXPECT_EQ(matrix.at(0).at("noise"), matrix.at(2).at("one"));
  EXPECT_EQ(result.at("figures").at(0).at("kind"), "heatmap");
  EXPECT_EQ(result.at("figures").at(0).at("marks").size(), 9u);
}

TEST_F(SimilarityCommand, OnlyCommonItemsCountAndTheRestIsSaid) {
  const EmbeddingSet one = made_up_set("one", 12, 6, 1);
  EmbeddingSet other = made_up_set("other", 14, 6, 1);
  other.items.content_sha256[3] = std::string(64, 'f');  // another picture of that name
  const test::ProgramResult result =
      run({write("one.h5", one), write("other.h5", other), "--k", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("hold other items (one 12, other 14): 11 are common to all and used"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("1 items have the same id but another content hash"),
            std::string::npos);
}

TEST_F(SimilarityCommand, ProjectionNamesEveryItem) {
  const EmbeddingSet one = made_up_set("one", 12, 6, 1), other = made_up_set("two", 12, 6, 2);
  const json result =
      report({write("a.h5", one), write("b.h5", other), "--k", "3", "--project"});
  const json table = result.at("tables").back();
  EXPECT_EQ(table.at("name"), "projection");
  EXPECT_EQ(table.at("rows").size(), 24u);
  EXPECT_EQ(table.at("columns").at(1).at("items"), true);
  EXPECT_EQ(result.at("figures").back().at("kind"), "scatter");
  EXPECT_EQ(result.at("figures").back().at("marks").size(), 12u);
}

TEST_F(SimilarityCommand, WhatCannotBeComparedIsSaid) {
  const EmbeddingSet one = made_up_set("one", 12, 6, 1);
  const std::string a = write("a.h5", one);
  expect_failure({a}, 2, "expected two encoders or more");
  expect_failure({a, write("single.h5", made_up_set("single", 1, 6, 1))}, 1,
        "expected 3 items or more that all sources hold (same id and content), got 1");
  expect_failure({a, a, "--k", "11"}, 2, "--k 11: expected at most 10");
  expect_failure({a, a, "-e", "demo", "-e", "clip"}, 2, "an embedding file names its own encoder");
  EmbeddingSet zero = one;
  zero.embedding.row(4).setZero();
  expect_failure({a, write("zero.h5", zero), "--k", "3"}, 1,
        "zero.h5: item item-04: a zero vector has no direction");
  EmbeddingSet tower = one;
  tower.embedding.resize(12, 0);
  expect_failure({a, write("tower.h5", tower), "--k", "3"}, 1,
        "expected /image/embedding, got none; --of mean-tokens");
}

}  // namespace
}  // namespace probe
