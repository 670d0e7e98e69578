#include "analysis/table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace probe {
namespace {

Table sample() {
  Table table;
  table.name = "sample";
  table.title = "Sample";
  table.columns = {{"name", "name"}, {"score", "score %"}, {"p", "p"}};
  table.rows = {
      {text_cell("a, \"b\"|<"), accuracy_cell({1, 8}, {0.02, 0.47}), number_cell(0.125, 3)},
      {text_cell("c"), unknown_cell(), count_cell(3)}};
  return table;
}

TEST(Table, Text) {
  EXPECT_EQ(render_text(sample()),
            "Sample\n"
            "  name                     score %      p\n"
            "  --------  ----------------------  -----\n"
            "  a, \"b\"|<  12.5 [2.0, 47.0] (1/8)  0.125\n"
            "  c                        unknown      3\n");
}

TEST(Table, CsvSpreadsAccuraciesAndLeavesUnknownEmpty) {
  EXPECT_EQ(render_csv(sample()),
            "name,score_correct,score_total,score_percent,score_low,score_high,p\n"
            "\"a, \"\"b\"\"|<\",1,8,12.500000,2.000000,47.000000,0.125\n"
            "c,,,,,,3\n");
}

TEST(Table, MarkdownAndLatexEscape) {
  EXPECT_NE(render_markdown(sample()).find("a, \"b\"\\|&lt;"), std::string::npos);
  EXPECT_NE(render_latex(sample()).find("score \\%"), std::string::npos);
}

TEST(Table, JsonKeepsCountsAndNulls) {
  Report report;
  report.command = "x";
  report.tables.push_back(sample());
  report.failures.push_back({"id\xFF", "p", "why"});
  const auto json = nlohmann::json::parse(render_json(report));
  const auto& row = json.at("tables").at(0).at("rows").at(0);
  EXPECT_EQ(row.at("score").at("correct"), 1);
  EXPECT_NEAR(row.at("score").at("percent").get<double>(), 12.5, 1e-12);
  EXPECT_TRUE(json.at("tables").at(0).at("rows").at(1).at("score").is_null());
  EXPECT_EQ(json.at("failures").at(0).at("reason"), "why");
}

// An unknown mark is null, never 0, and an interval stands in the value's own unit.
TEST(Figure, JsonKeepsOrderUnknownsAndIntervals) {
  Report report;
  Figure figure;
  figure.kind = Figure::Kind::bars;
  figure.name = "choice";
  figure.marks = {{"modified", "clip", "LLaVA", {}, 61.5, Interval{60.0, 63.0}},
                  {"original", "clip", "LLaVA", {}, {}, {}}};
  report.figures.push_back(figure);
  const auto json = nlohmann::json::parse(render_json(report)).at("figures").at(0);
  EXPECT_EQ(json.at("kind"), "bars");
  EXPECT_EQ(json.at("marks").at(0).at("series"), "modified");
  EXPECT_EQ(json.at("marks").at(0).at("low"), 60.0);
  EXPECT_TRUE(json.at("marks").at(1).at("value").is_null());
  EXPECT_FALSE(json.at("marks").at(1).contains("low"));
}

TEST(Table, SmallNumbersAreNotShownAsZero) {
  Table table = sample();
  table.rows = {{text_cell("x"), number_cell(1e-9, 4), number_cell(0.0, 4)}};
  EXPECT_NE(render_text(table).find(" <0.0001  0.0000\n"), std::string::npos)
      << render_text(table);
}

// No answered question is not 0 %.
TEST(Table, NothingAnsweredIsNotZero) {
  Table table = sample();
  table.rows = {{text_cell("x"), accuracy_cell({0, 0}, {0, 1}), unknown_cell()}};
  EXPECT_NE(render_text(table).find("none"), std::string::npos);
  EXPECT_EQ(render_csv(table).find("0.000"), std::string::npos);
}

}  // namespace
}  // namespace probe
