#include "analysis/retrieval.h"

#include <gtest/gtest.h>

#include "analysis/chance.h"

namespace probe {
namespace {

ItemColumns items() {
  ItemColumns columns;
  columns.id = {"a1", "a2", "b1", "c1", "a1-red", "c1-red", "x-red", "n"};
  columns.category = {"a", "a", "b", "c", "a", "c", "b", ""};
  columns.condition = {"original", "original", "original", "original",
                       "color",    "color",    "color",    "original"};
  columns.original_id = {"", "", "", "", "a1", "c1", "", ""};
  columns.path = columns.attribute = columns.content_sha256 = std::vector<std::string>(8);
  return columns;
}

TEST(MatchPlan, O2oLeavesTheQueryOutById) {
  const MatchPlan plan = plan_matching(items(), MatchMode::o2o, false);
  EXPECT_EQ(plan.queries, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(plan.gallery, plan.queries);
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(plan.excluded[i], (std::vector<std::int64_t>{i}));
  }
  EXPECT_EQ(plan.without_category, 1);
}

// Ruling 5: a twin's own source leaves the gallery, where the source is known.
TEST(MatchPlan, A2oLeavesTheSourceOutUnlessKept) {
  MatchPlan plan = plan_matching(items(), MatchMode::a2o, false);
  EXPECT_EQ(plan.queries, (std::vector<std::int64_t>{4, 5, 6}));
  EXPECT_EQ(plan.excluded[0], (std::vector<std::int64_t>{0}));
  EXPECT_EQ(plan.excluded[1], (std::vector<std::int64_t>{3}));
  EXPECT_TRUE(plan.excluded[2].empty());
  EXPECT_EQ(plan.sources_left_out, 2);
  EXPECT_EQ(plan.sources_unknown, 0);
  plan = plan_matching(items(), MatchMode::a2o, true);
  EXPECT_TRUE(plan.excluded[0].empty());
  EXPECT_EQ(plan.sources_left_out, 0);
}

// A source that is named but absent cannot be left out; that must be known.
TEST(MatchPlan, UnknownSourcesAreCounted) {
  ItemColumns columns = items();
  columns.original_id[4] = "nope";
  const MatchPlan plan = plan_matching(columns, MatchMode::a2o, false);
  EXPECT_EQ(plan.sources_unknown, 1);
  EXPECT_EQ(plan.sources_left_out, 1);
}

// Worked out by hand: three queries with a positive, ranks 1, 3 and none.
TEST(MatchScore, HitFractionAndReciprocalRank) {
  const ItemColumns columns = items();
  const std::vector<QueryMatch> matches{
      {0, {1, 2, 3}, {}, 1, 4},     // a: right at rank 1
      {1, {2, 3, 0}, {}, 1, 4},     // a: right at rank 3
      {4, {2, 3}, {}, 1, 4},        // a: never right, list of two
      {5, {0, 1, 2}, {}, 0, 3},     // c: no positive, leaves the denominator
  };
  MatchScore score = score_matches(matches, columns, 3);
  EXPECT_EQ(score.hit, (Accuracy{2, 3}));
  EXPECT_EQ(score.no_positive, 1);
  EXPECT_NEAR(score.mean_fraction, (1.0 / 3 + 1.0 / 3 + 0) / 3, 1e-12);
  EXPECT_NEAR(score.mrr, (1 + 1.0 / 3) / 3, 1e-12);
  EXPECT_NEAR(score.chance, 3.0 / 4, 1e-12);
  score = score_matches(matches, columns, 1);
  EXPECT_EQ(score.hit, (Accuracy{1, 3}));
}

// PEERS.md section 4: NEMO's O2O chance 9.7 % (9 of 449), A2O 10.7 % (10 of 450).
TEST(Chance, NemosOwnNumbers) {
  EXPECT_NEAR(chance_of_hit(449, 9, 5), 0.097, 5e-4);
  EXPECT_NEAR(chance_of_hit(450, 10, 5), 0.107, 5e-4);
  EXPECT_EQ(chance_of_hit(3, 0, 5), 0.0);
  EXPECT_EQ(chance_of_hit(3, 1, 5), 1.0);
}

}  // namespace
}  // namespace probe
