// probe match with several towers side by side.
#include "tests/support/made_up_command.h"

namespace probe {
namespace {

using nlohmann::json;
using test::made_up_set;

class MatchTowers : public test::MadeUpCommand {
 protected:
  MatchTowers() : MadeUpCommand("match") {}
};

TEST_F(MatchTowers, AreScoredOnTheSameItemsAndCompared) {
  const EmbeddingSet base = made_up_set("base", 30, 8, 1, 3, 0.1f);
  const EmbeddingSet tuned = made_up_set("tuned", 33, 6, 2, 3, 9.0f);
  const test::ProgramResult text =
      run({write("base.h5", base), write("tuned.h5", tuned), "--k", "1"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.err.find("(base 30, tuned 33): 30 are common to all and used"),
            std::string::npos)
      << text.err;
  const json result = report({write("base.h5", base), write("tuned.h5", tuned), "--k", "1,5",
                              "--neighbours"});
  const json rows = table(result, "match_o2o");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows.at(0).at("encoder"), "base");
  EXPECT_EQ(rows.at(0).at("hit").at("correct"), 30);
  EXPECT_EQ(rows.at(2).at("encoder"), "tuned");
  EXPECT_EQ(rows.at(2).at("hit").at("total"), 30);
  const json difference = table(result, "match_o2o_difference").at(0);
  EXPECT_EQ(difference.at("queries"), 30);
  EXPECT_NEAR(difference.at("difference_points").at("value").get<double>(),
              difference.at("percent").get<double>() - difference.at("base_percent").get<double>(),
              1e-9);
  EXPECT_EQ(difference.at("mcnemar_p"), difference.at("holm_p"));  // of one comparison
  const json by_category = table(result, "match_o2o_by_category");
  EXPECT_EQ(by_category.at(0).at("base").at("total"), 10);
  EXPECT_EQ(by_category.at(0).at("tuned").at("total"), 10);
  EXPECT_EQ(table(result, "match_o2o_neighbors").size(), 300u);
  EXPECT_EQ(result.at("figures").at(0).at("marks").size(), 2u);
}

TEST_F(MatchTowers, OneTowerHasItsColumnsByCategory) {
  const json result = report({write("x.h5", made_up_set("one", 30, 8, 1, 3, 0.1f))});
  EXPECT_FALSE(table(result, "match_o2o").at(0).contains("encoder"));
  EXPECT_FALSE(has_table(result, "match_o2o_difference"));
  const json row = table(result, "match_o2o_by_category").at(0);
  EXPECT_EQ(row.at("mrr"), 1.0);
  EXPECT_EQ(row.at("mean_fraction"), 1.0);
}

// Looking into all lists is exact search: the same tables, and nothing is missed.
TEST_F(MatchTowers, ApproximateSearchSaysWhatItMissed) {
  const std::string file = write("x.h5", made_up_set("one", 10'040, 8, 1, 3, 2.0f));
  const json exact = report({file, "--k", "1,5"});
  EXPECT_FALSE(has_table(exact, "match_o2o_recall"));
  for (const char* rows : {"20000", "3000"}) {  // in memory; in blocks, with lists on disk
    const json all = report({file, "--k", "1,5", "--index", "ivf", "--probes", "1000", "--block-rows", rows});
    for (const char* name : {"match_o2o", "match_o2o_by_category"}) {
      EXPECT_EQ(table(all, name), table(exact, name)) << name;
    }
    const json recall = table(all, "match_o2o_recall").at(0);
    EXPECT_EQ(recall.at("recall").at("correct"), 1000);
    EXPECT_EQ(recall.at("recall").at("total"), 1000);
    EXPECT_EQ(recall.at("queries"), 200);
    EXPECT_NE(recall.at("index").get<std::string>().find("ivf: 200 lists trained on 10000 rows, "
                                                         "200 looked into"),
              std::string::npos);
    EXPECT_EQ(all.at("provenance").at("index"), "ivf");
    EXPECT_EQ(all.at("warnings").at(0),
              "o2o: an approximate search misses neighbours; numbers to publish come from --index exact");
  }
  const json one = report({file, "--index", "ivfpq", "--probes", "1"});
  const json some = table(one, "match_o2o_recall").at(0).at("recall");
  EXPECT_LT(some.at("correct"), some.at("total"));
}

TEST_F(MatchTowers, SmallGalleriesAreSearchedExactlyAndSaySo) {
  const std::string file = write("x.h5", made_up_set("one", 30, 8, 1));
  const json small = report({file, "--index", "hnsw"});
  EXPECT_EQ(table(small, "match_o2o"), table(report({file}), "match_o2o"));
  EXPECT_FALSE(has_table(small, "match_o2o_recall"));
  EXPECT_EQ(small.at("warnings").at(0),
            "o2o: the search was exact: --index hnsw needs a gallery of 10000 images, got 30");
  expect_failure({file, "--index", "flat"}, 2, "--index: flat not in {exact,ivf,ivfpq,hnsw}");
}

// The same encoder at two layers is two towers.
TEST_F(MatchTowers, LayersTellTowersApart) {
  EmbeddingSet last = made_up_set("clip", 12, 8, 1), before = made_up_set("clip", 12, 8, 2);
  before.provenance.layer = "-2";
  const json rows = table(report({write("a.h5", last), write("b.h5", before)}), "match_o2o");
  EXPECT_EQ(rows.at(0).at("encoder"), "clip, layer last");
  EXPECT_EQ(rows.at(1).at("encoder"), "clip, layer -2");
}

TEST_F(MatchTowers, AZeroVectorIsNamed) {
  EmbeddingSet zero = made_up_set("one", 12, 8, 1);
  zero.mean_tokens.row(7).setZero();
  expect_failure({write("x.h5", zero)}, 1, "item item-07: a zero vector has no direction");
}

// Blocks of 7 cut queries and gallery, which do not lie together: every fourth item is modified.
TEST_F(MatchTowers, AFileReadInBlocksGivesTheSameNumbers) {
  EmbeddingSet set = made_up_set("one", 61, 8, 1, 3, 2.0f);
  for (std::size_t i = 0; i < 61; i += 4) {
    set.items.condition[i] = "color";
    set.items.original_id[i] = i > 0 ? set.items.id[i - 1] : "";
  }
  const std::string file = write("x.h5", set);
  const std::vector<std::string> words = {file, "--mode", "both", "--k", "1,5", "--neighbors"};
  const json whole = report(words);
  for (const char* rows : {"1", "7", "1000"}) {
    std::vector<std::string> in_blocks = words;
    in_blocks.insert(in_blocks.end(), {"--block-rows", rows});
    const json blocks = report(in_blocks);
    EXPECT_EQ(blocks.at("tables"), whole.at("tables")) << rows;
    EXPECT_NE(blocks.at("notes").dump().find("vectors were read from the file " +
                                             std::string(rows) + " rows at a time"),
              std::string::npos);
  }
  set.mean_tokens.row(8).setZero();
  expect_failure({write("zero.h5", set), "--mode", "both", "--block-rows", "7"}, 1,
                 "zero.h5: item item-08: a zero vector has no direction");
  expect_failure({file, file, "--block-rows", "7"}, 2,
                 "--block-rows: expected one embedding file to read in blocks");
}

}  // namespace
}  // namespace probe
