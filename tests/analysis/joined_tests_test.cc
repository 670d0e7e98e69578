#include "analysis/joined_tests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "analysis/statistics.h"
#include "tests/support/answer_world.h"

namespace probe {
namespace {

// n originals, and n coloured twins of them unless `twins` says otherwise.
test::World pairs(int n, bool name_sources) {
  test::World world;
  for (int i = 0; i < n; ++i) {
    world.add_item("o" + std::to_string(i), "fig", kOriginal, "");
  }
  for (int i = 0; i < n; ++i) {
    world.add_item("m" + std::to_string(i), "fig", "color",
                   name_sources ? "o" + std::to_string(i) : "");
  }
  return world;
}

int number_of(const Question& question) { return std::stoi(question.item_id.substr(1)); }

// Answers that look random but hang on the question alone.
int scattered(const Question& question, int shift, unsigned salt, unsigned percent) {
  std::mt19937 generator(salt * 7919U + static_cast<unsigned>(number_of(question)) * 31U +
                         static_cast<unsigned>(shift) * 101U + (question.item_id[0] == 'm' ? 5U : 0U));
  return generator() % 100U < percent ? 0 : 1;
}

// The gap's numbers against a loop that knows nothing of subjects.
TEST(JoinedTests, GapAgreesWithANaiveLoop) {
  const test::World world = pairs(30, true);
  const auto encoder_pick = [](const Question& q, int shift) { return scattered(q, shift, 1, 80); };
  const auto model_pick = [](const Question& q, int shift) { return scattered(q, shift, 2, 55); };
  std::vector<Subject> subjects = {world.subject("enc", true, 1, encoder_pick),
                                   world.subject("m", false, 4, model_pick)};
  subjects[1].facts.encoder = "enc";
  const Table table = gap_table(subjects, world.items, 3);
  ASSERT_EQ(table.rows.size(), 2u);
  std::vector<double> p_values;
  for (int side = 0; side < 2; ++side) {
    double encoder_sum = 0, model_sum = 0;
    int only_encoder = 0, only_model = 0, n = 0;
    std::vector<double> differences;
    for (const Question& q : world.questions) {
      if (q.type != QuestionType::choice || (q.item_id[0] == 'o') != (side == 0)) continue;
      const bool e = encoder_pick(q, 0) == 0;
      double share = 0;
      for (int shift = 0; shift < 4; ++shift) share += model_pick(q, shift) == 0 ? 0.25 : 0.0;
      const bool first = model_pick(q, 0) == 0;
      encoder_sum += e;
      model_sum += share;
      only_encoder += e && !first;
      only_model += !e && first;
      differences.push_back((e ? 1.0 : 0.0) - share);
      ++n;
    }
    const auto& row = table.rows[side];
    EXPECT_EQ(row[2].words, "yes");
    EXPECT_EQ(row[3].words, side == 0 ? "original" : "modified");
    EXPECT_EQ(row[4].whole, n);
    EXPECT_NEAR(row[5].real, 100 * encoder_sum / n, 1e-9);
    EXPECT_NEAR(row[6].real, 100 * model_sum / n, 1e-9);
    EXPECT_NEAR(row[7].real, 100 * (encoder_sum - model_sum) / n, 1e-9);
    EXPECT_EQ(row[8].whole, only_encoder);
    EXPECT_EQ(row[9].whole, only_model);
    // Binomial tail, summed naively.
    double tail = 0, choose = 1;
    const int d = only_encoder + only_model, fewer = std::min(only_encoder, only_model);
    for (int k = 0; k <= fewer; ++k) {
      tail += choose / std::pow(2.0, d);
      choose = choose * (d - k) / (k + 1);
    }
    EXPECT_NEAR(row[10].real, std::min(1.0, 2 * tail), 1e-9);
    p_values.push_back(row[10].real);
    // A bootstrap with another generator: the bounds agree to Monte Carlo error.
    std::mt19937 generator(17);
    std::uniform_int_distribution<std::size_t> draw(0, differences.size() - 1);
    std::vector<double> means(20'000);
    for (double& mean : means) {
      for (std::size_t i = 0; i < differences.size(); ++i) mean += differences[draw(generator)];
      mean /= static_cast<double>(differences.size());
    }
    std::sort(means.begin(), means.end());
    EXPECT_NEAR(row[7].interval->low, 100 * means[500], 1.5);
    EXPECT_NEAR(row[7].interval->high, 100 * means[19'500], 1.5);
  }
  // Holm of two: the smaller doubled, the larger at least as large.
  const std::size_t small = p_values[0] <= p_values[1] ? 0 : 1;
  const double doubled = std::min(1.0, 2 * p_values[small]);
  EXPECT_NEAR(table.rows[small][11].real, doubled, 1e-9);
  EXPECT_NEAR(table.rows[1 - small][11].real, std::max(doubled, p_values[1 - small]), 1e-9);
}

TEST(JoinedTests, GapIsForTheOwnEncoderOrForAllIfThatIsUnknown) {
  const test::World world = pairs(4, true);
  const auto right = [](const Question&, int) { return 0; };
  std::vector<Subject> subjects = {
      world.subject("clip", true, 1, right), world.subject("siglip", true, 1, right),
      world.subject("known", false, 1, right), world.subject("elsewhere", false, 1, right),
      world.subject("unknown", false, 1, right)};
  subjects[2].facts.encoder = "siglip";
  subjects[3].facts.encoder = "eva";
  const Table table = gap_table(subjects, world.items, 0);
  ASSERT_EQ(table.rows.size(), 6u);
  EXPECT_EQ(table.rows[0][1].words, "siglip");
  EXPECT_EQ(table.rows[2][0].words, "unknown");
  EXPECT_EQ(table.rows[2][2].kind, Cell::Kind::unknown);
  EXPECT_EQ(models_without_encoder(subjects), std::vector<std::string>{"elsewhere"});
}

// Ten pairs: right on every original, on twins 0 to 3 only. Lost 6, gained 0: p = 2 * 0.5^6.
TEST(JoinedTests, DropIsPairedBySource) {
  const test::World world = pairs(10, true);
  const std::vector<Subject> subjects = {world.subject("m", false, 1, [](const Question& q, int) {
    if (q.type != QuestionType::choice) return -2;
    return q.item_id[0] == 'o' || number_of(q) < 4 ? 0 : 1;
  })};
  const Table table = drop_by_subject_table(subjects, world.items, 0);
  ASSERT_EQ(table.rows.size(), 1u);
  const auto& row = table.rows[0];
  EXPECT_EQ(row[3].words, "paired");
  EXPECT_EQ(row[5].whole, 10);
  EXPECT_NEAR(row[8].real, -60.0, 1e-9);
  EXPECT_NEAR(row[9].real, 0.03125, 1e-9);
  EXPECT_NEAR(row[10].real, 0.03125, 1e-9);
  const Interval same = paired_bootstrap({1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
                                         std::vector<double>(10, 1.0), 0);
  EXPECT_NEAR(row[8].interval->low, 100 * same.low, 10.0);
}

TEST(JoinedTests, DropWithoutSourcesIsUnpairedAndHasNoTest) {
  const test::World world = pairs(40, false);
  const std::vector<Subject> subjects = {world.subject("m", false, 1, [](const Question& q, int) {
    if (q.type != QuestionType::choice) return -2;
    return number_of(q) % 2 == 0 || q.item_id[0] == 'o' ? 0 : 1;
  })};
  const Table table = drop_by_subject_table(subjects, world.items, 0);
  ASSERT_EQ(table.rows.size(), 1u);
  const auto& row = table.rows[0];
  EXPECT_EQ(row[3].words, "unpaired");
  EXPECT_EQ(row[4].whole, 40);
  EXPECT_NEAR(row[8].real, -50.0, 1e-9);
  EXPECT_EQ(row[9].kind, Cell::Kind::unknown);
  EXPECT_EQ(row[10].kind, Cell::Kind::unknown);
  // Originals do not vary, so the interval is that of a share of 40: 50 +- 1.96 * 50 / sqrt(40).
  EXPECT_NEAR(row[8].interval->low, -50 - 1.96 * 50 / std::sqrt(40.0), 1.5);
  EXPECT_NEAR(row[8].interval->high, -50 + 1.96 * 50 / std::sqrt(40.0), 1.5);
}

// Both sides vary: the variances add.
TEST(JoinedTests, UnpairedIntervalHasTheVarianceOfBothSides) {
  const test::World world = pairs(100, false);
  const std::vector<Subject> subjects = {world.subject("m", false, 1, [](const Question& q, int) {
    if (q.type != QuestionType::choice) return -2;
    return number_of(q) % (q.item_id[0] == 'o' ? 5 : 2) == 0 ? 1 : 0;  // 80 % and 50 % right
  })};
  const auto row = drop_by_subject_table(subjects, world.items, 0).rows.at(0);
  const double half = 196 * std::sqrt((0.8 * 0.2 + 0.5 * 0.5) / 100);
  EXPECT_NEAR(row[8].real, -30.0, 1e-9);
  EXPECT_NEAR(row[8].interval->low, -30 - half, 1.5);
  EXPECT_NEAR(row[8].interval->high, -30 + half, 1.5);
}

}  // namespace
}  // namespace probe
