#include "analysis/nemo_figures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/category_preferences.h"
#include "analysis/confusion_figures.h"
#include "analysis/nemo_analyses.h"
#include "tests/support/answer_world.h"

namespace probe {
namespace {

test::World fruit() {
  test::World world;
  world.add_item("fig-1", "fig", kOriginal, "");
  world.add_item("plum-1", "plum", kOriginal, "");
  world.add_item("fig-c", "fig", "color", "fig-1");
  world.add_item("plum-c", "plum", "color", "plum-1");
  return world;
}

const Mark* find_mark(const Figure& figure, const std::string& group, const std::string& x,
                      const std::string& series) {
  for (const Mark& mark : figure.marks) {
    if (mark.group == group && mark.x == x && mark.series == series) return &mark;
  }
  return nullptr;
}

int right(const Question& question, int) {
  return question.type == QuestionType::unsolvable ? 3 : 0;
}
int original_only(const Question& question, int) {
  return question.item_id.ends_with("-1") ? right(question, 0) : 1;
}

TEST(NemoFigures, Fig3GroupsMllmsByTheirEncoder) {
  const test::World world = fruit();
  std::vector<Subject> subjects = {
      world.subject("siglip", true, 1, right), world.subject("tower", true, 1, [](const Question&, int) { return -2; }),
      world.subject("a", false, 4, original_only), world.subject("b", false, 4, right),
      world.subject("c", false, 4, right)};
  subjects[2].facts.encoder = "siglip";
  subjects[3].facts.encoder = "eva";  // not measured here
  ModelFacts facts;
  facts.model = "a";
  facts.tower = "tower";
  const Figure figure = choice_by_encoder_figure(subjects, world.items, {facts});
  EXPECT_EQ(figure.kind, Figure::Kind::bars);
  ASSERT_EQ(figure.marks.size(), 10u);  // siglip, a, eva, b, c: two bars each; no tower
  EXPECT_EQ(figure.marks[0].x, "siglip (encoder)");
  EXPECT_NEAR(*find_mark(figure, "siglip", "a", "original")->value, 100.0, 1e-9);
  EXPECT_NEAR(*find_mark(figure, "siglip", "a", "modified")->value, 0.0, 1e-9);
  EXPECT_TRUE(find_mark(figure, "siglip", "a", "modified")->interval);
  const Mark* eva = find_mark(figure, "eva", "eva (encoder)", "original");
  ASSERT_NE(eva, nullptr);
  EXPECT_FALSE(eva->value) << "unknown, not 0";
  EXPECT_EQ(figure.marks.back().group, kEncoderUnknown);
  EXPECT_EQ(figure.marks.back().x, "c");
}

TEST(NemoFigures, Fig4StandsAtTheLogOfTheSize) {
  const test::World world = fruit();
  std::vector<Subject> subjects = {world.subject("big", false, 4, original_only),
                                   world.subject("small", false, 4, right),
                                   world.subject("sizeless", false, 4, right)};
  subjects[0].facts.family = subjects[1].facts.family = "F";
  subjects[0].facts.llm_size_b = 100;
  subjects[1].facts.llm_size_b = 0.5;
  const Figure figure = size_figure(subjects, world.items);
  EXPECT_EQ(figure.kind, Figure::Kind::lines);
  ASSERT_EQ(figure.marks.size(), 4u);
  EXPECT_EQ(figure.marks[0].x, "small (0.5 B)");
  EXPECT_EQ(figure.marks[0].series, "F, original");
  EXPECT_NEAR(*figure.marks[0].position, std::log10(0.5), 1e-12);
  EXPECT_NEAR(*figure.marks[1].position, 2.0, 1e-12);
  EXPECT_EQ(figure.marks[3].series, "F, modified");
  EXPECT_NEAR(*figure.marks[3].value, 0.0, 1e-9);
  EXPECT_NE(figure.caption.find("unknown: sizeless."), std::string::npos) << figure.caption;
}

TEST(NemoFigures, Fig5PutsTowersBesideTheirBase) {
  EncoderResult base, tower;
  base.name = "clip";
  base.o2o = MatchScore{};
  base.o2o->hit = {3, 4};
  tower.name = "llava-tower";
  tower.a2o = MatchScore{};  // no query had a possible partner: unknown
  ModelFacts facts;
  facts.model = "llava";
  facts.encoder = "clip";
  facts.tower = "llava-tower";
  const Figure figure = matching_figure({base, tower}, {facts}, 5);
  ASSERT_EQ(figure.marks.size(), 4u);
  EXPECT_NEAR(*find_mark(figure, "clip", "clip", "O2O")->value, 75.0, 1e-9);
  EXPECT_FALSE(find_mark(figure, "clip", "clip", "A2O")->value);
  ASSERT_NE(find_mark(figure, "clip", "llava-tower", "A2O"), nullptr);
  EXPECT_FALSE(find_mark(figure, "clip", "llava-tower", "A2O")->value);
}

// Four categories; the MLLMs alone decide the order: b (100), then a and c (50, by name),
// then d (0).
TEST(NemoFigures, Fig6RanksByTheMllmsMean) {
  test::World world;
  for (const char* name : {"c", "a", "d", "b"}) world.add_item(name, name, kOriginal, "");
  const auto open_right = [](std::string names) {
    return [names](const Question& q, int) {
      return q.type != QuestionType::open ? -2 : names.find(q.item_id) == std::string::npos;
    };
  };
  const std::vector<Subject> subjects = {world.subject("m", false, 1, open_right("ab")),
                                         world.subject("enc", true, 1, open_right("d")),
                                         world.subject("n", false, 1, open_right("bc"))};
  const CategoryGrid grid = category_grid(subjects, world.items, Side::original);
  EXPECT_EQ(grid.categories, (std::vector<std::string>{"b", "a", "c", "d"}));
  EXPECT_EQ(grid.subjects, (std::vector<std::string>{"enc", "m", "n"}));
  EXPECT_NEAR(*grid.mean[0], 100.0, 1e-9);
  EXPECT_NEAR(*grid.mean[1], 50.0, 1e-9);
  const Figure figure = category_figure(grid, subjects);
  EXPECT_EQ(figure.kind, Figure::Kind::heatmap);
  ASSERT_EQ(figure.marks.size(), 12u);
  EXPECT_EQ(figure.marks[0].series, "b");
  EXPECT_NEAR(*find_mark(figure, "", "enc", "d")->value, 100.0, 1e-9);
  const Table table = preference_table({grid}, 5, subjects);
  ASSERT_EQ(table.rows.size(), 4u);  // no category on both lists
  EXPECT_EQ(table.rows[0][3].words, "b");
  EXPECT_EQ(table.rows[2][1].words, "least");
  EXPECT_EQ(table.rows[2][3].words, "d");
  EXPECT_EQ(table.rows[0][5].whole, 2);
  EXPECT_TRUE(category_grid(subjects, world.items, Side::modified).categories.empty());
}

TEST(NemoFigures, Fig6SaysUnknownWhereASubjectWasNotAsked) {
  const test::World world = fruit();
  const std::vector<Subject> subjects = {
      world.subject("m", false, 1, right),
      world.subject("n", false, 1, [](const Question& q, int) {
        return q.type == QuestionType::open && q.item_id == "fig-1" ? 0 : -2;
      })};
  const CategoryGrid grid = category_grid(subjects, world.items, Side::original);
  const Figure figure = category_figure(grid, subjects);
  EXPECT_TRUE(find_mark(figure, "", "n", "fig")->value);
  ASSERT_NE(find_mark(figure, "", "n", "plum"), nullptr);
  EXPECT_FALSE(find_mark(figure, "", "n", "plum")->value);
}

// On the modified items: fig-c is taken for egg at two of four shifts and unread at one;
// plum-c is right. Rows sum to 100, mistakes to the questions lost.
TEST(NemoFigures, FigGCountsShiftsAsQuarters) {
  const test::World world = fruit();
  std::vector<Subject> subjects = {world.subject("Model 1", false, 4, [](const Question& q, int shift) {
    if (q.type != QuestionType::choice) return -2;
    if (q.item_id != "fig-c") return 0;
    return shift < 2 ? 1 : shift == 2 ? -1 : 0;
  })};
  const auto figures = confusion_figures(subjects, world.items);
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0].name, "fig_g_confusion_model_1");
  EXPECT_EQ(figures[0].kind, Figure::Kind::heatmap);
  EXPECT_NEAR(*find_mark(figures[0], "", "fig", "fig")->value, 25.0, 1e-9);
  EXPECT_NEAR(*find_mark(figures[0], "", "egg", "fig")->value, 50.0, 1e-9);
  EXPECT_NEAR(*find_mark(figures[0], "", kUnparsedName, "fig")->value, 25.0, 1e-9);
  EXPECT_NEAR(*find_mark(figures[0], "", "ball", "fig")->value, 0.0, 1e-9);
  EXPECT_EQ(find_mark(figures[0], "", "plum", "fig"), nullptr) << "never offered";
  double row = 0;
  for (const Mark& mark : figures[0].marks) row += mark.series == "fig" ? *mark.value : 0.0;
  EXPECT_NEAR(row, 100.0, 1e-9);
  EXPECT_EQ(figures[0].marks[0].x, "fig");  // the diagonal comes first
  EXPECT_EQ(figures[0].marks[1].x, "plum");
  EXPECT_EQ(figures[1].kind, Figure::Kind::chord);
  ASSERT_EQ(figures[1].marks.size(), 2u);
  EXPECT_NEAR(*find_mark(figures[1], "", "egg", "fig")->value, 0.5, 1e-9);
  subjects.push_back(subjects[0]);
  subjects[1].name = "model-1";
  subjects[1].made_up = true;
  const auto again = confusion_figures(subjects, world.items);
  EXPECT_EQ(again[2].name, "fig_g_confusion_model_1_2");
  EXPECT_NE(again[2].title.find("(made up for show)"), std::string::npos);
  EXPECT_EQ(again[0].title.find("(made up for show)"), std::string::npos);
}

TEST(NemoFigures, WhatIsLackingIsSaid) {
  const test::World world = fruit();
  const std::vector<Subject> subjects = {world.subject("enc", true, 1, right)};
  Report report;
  add_nemo_analyses({subjects, {}, {}, {}, world.items, 5, 0}, report);
  const std::string all = render_json(report);
  EXPECT_NE(all.find("Fig. 4 and Tables 2, E, F and G need responses"), std::string::npos);
  for (const Figure& figure : report.figures) EXPECT_NE(figure.name, "fig4_size");
}

}  // namespace
}  // namespace probe
