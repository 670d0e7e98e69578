#include "analysis/report_reading.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/expect_error.h"

namespace probe {
namespace {

using Json = nlohmann::ordered_json;

// One of everything a report can hold.
Report everything() {
  Report report;
  report.command = "zeroshot";
  report.provenance = {{"encoder", "demo"}, {"seed", "0"}};
  Table table;
  table.name = "t";
  table.title = "A table";
  table.note = "a note";
  table.columns = {{"item", "item", true}, {"a", "accuracy"}, {"n", "number"}, {"c", "count"}};
  table.rows = {{text_cell("x"), accuracy_cell({3, 4}, {0.25, 0.75}), number_cell(2.0, 1),
                 count_cell(-3)},
                {unknown_cell(), accuracy_cell({0, 0}), number_cell(0.5, 1, {0.25, 0.75}),
                 unknown_cell()},
                {text_cell(""), accuracy_cell({1, 3}), unknown_cell(), count_cell(9)}};
  report.tables = {table};
  report.figures = {{Figure::Kind::chord, "f", "A figure", "x", "y", "caption",
                     {{"s", "g", "x", 1.5, 2.5, Interval{1.0, 3.0}}, {"s", "", "y", {}, {}, {}}}}};
  report.notes = {"note"};
  report.warnings = {"warning"};
  report.failures = {{"id", "path", "reason"}};
  return report;
}

Json document() { return Json::parse(render_json(everything())); }

TEST(ReportReading, ReadsWhatIsWritten) {
  const std::string written = render_json(everything());
  const Report report = read_report(written, "r.json");
  EXPECT_EQ(render_json(report), written);
  EXPECT_EQ(render_text(report.tables[0]), render_text(everything().tables[0]));
  EXPECT_EQ(report.tables[0].rows[0][2].kind, Cell::Kind::number);  // 2.0 is no count
  EXPECT_EQ(report.tables[0].rows[0][2].decimals, 1);
  EXPECT_TRUE(report.tables[0].columns[0].items);
  EXPECT_EQ(report.figures[0].kind, Figure::Kind::chord);
  EXPECT_FALSE(report.figures[0].marks[1].value.has_value());
}

void expect_refused(const Json& json, const std::string& message) {
  EXPECT_PROBE_ERROR(read_report(json.dump(), "r.json"), ErrorKind::input, "r.json: " + message);
}

TEST(ReportReading, NotAResult) {
  EXPECT_PROBE_ERROR(read_report("", "r.json"), ErrorKind::input, "r.json: expected JSON, got: ");
  EXPECT_PROBE_ERROR(read_report("{\"a\": ", "r.json"), ErrorKind::input, "r.json: expected JSON");
  EXPECT_PROBE_ERROR(read_report("[1e999]", "r.json"), ErrorKind::input, "r.json: expected JSON");
  EXPECT_PROBE_ERROR(read_report(std::string(100000, '['), "r.json"), ErrorKind::input,
                     "r.json: expected a probe result (--json), got JSON nested deeper than 6");
  expect_refused(Json::array(), "expected an object, got a list");
  expect_refused(Json::object(), "expected the field \"command\" of a probe result, got an object");
}

TEST(ReportReading, EveryFieldIsChecked) {
  const auto changed = [](const char* pointer, const Json& value) {
    Json json = document();
    json[Json::json_pointer(pointer)] = value;
    return json;
  };
  expect_refused(changed("/command", 3), "command: expected a text, got 3");
  expect_refused(changed("/other", 3), "unknown field \"other\"");
  expect_refused(changed("/provenance", Json::array()), "provenance: expected an object");
  expect_refused(changed("/provenance/seed", 0), "provenance.seed: expected a text, got 0");
  expect_refused(changed("/tables", 1), "tables: expected a list, got 1");
  expect_refused(changed("/tables/0/columns", Json::array()),
                 "tables[0].columns: expected at least one column, got a list");
  expect_refused(changed("/tables/0/columns/0/items", "yes"),
                 "tables[0].columns[0].items: expected true or false, got \"yes\"");
  expect_refused(changed("/tables/0/columns/2/decimals", 99),
                 "tables[0].columns[2].decimals: expected 0 to 17, got 99");
  expect_refused(changed("/tables/0/columns/1/name", "item"),
                 "tables[0].columns[1].name: expected different names of columns, got \"item\"");
  expect_refused(changed("/tables/0/rows/1/extra", 1),
                 "tables[0].rows[1]: expected 4 cells, got 5");
  expect_refused(changed("/tables/0/columns/3/name", "other"),
                 "tables[0].rows[0]: expected a cell of column \"other\"");
  expect_refused(changed("/tables/0/rows/0/a/correct", 5),
                 "tables[0].rows[0].a.correct: expected 0 to total (4), got 5");
  expect_refused(changed("/tables/0/rows/0/a/percent", 80),
                 "tables[0].rows[0].a.percent: expected correct / total, got 80");
  expect_refused(changed("/tables/0/rows/0/a/low", 99),
                 "tables[0].rows[0].a.low: expected a low end not above the high end, got 99");
  expect_refused(changed("/tables/0/rows/1/a/percent", 0),
                 "tables[0].rows[1].a.percent: expected null, for a total of 0, got 0");
  expect_refused(changed("/tables/0/rows/0/n", true),
                 "tables[0].rows[0].n: expected null, a text, a number, or an object of numbers, "
                 "got true");
  expect_refused(changed("/figures/0/kind", "pie"),
                 "figures[0].kind: expected bars, lines, scatter, heatmap or chord, got \"pie\"");
  expect_refused(changed("/figures/0/marks/0/value", "2"),
                 "figures[0].marks[0].value: expected a number, got \"2\"");
  expect_refused(changed("/notes/0", Json::object()), "notes[0]: expected a text, got an object");
  expect_refused(changed("/failures/0/path", nullptr), "failures[0].path: expected a text");
  Json half = document();
  half["figures"][0]["marks"][0].erase("high");
  expect_refused(half, "figures[0].marks[0]: expected the field \"high\"");
}

// A message stays one line whatever the file holds.
TEST(ReportReading, MessagesAreOneShortLine) {
  Json json = document();
  json["command"] = Json::array({1});
  json["a\nb"] = 1;
  expect_refused(json, "unknown field \"a\\nb\"");
  json = document();
  json["figures"][0]["kind"] = std::string(1000, 'x');
  try {
    read_report(json.dump(), "r.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_LT(std::string(error.what()).size(), 200u);
  }
}

}  // namespace
}  // namespace probe
