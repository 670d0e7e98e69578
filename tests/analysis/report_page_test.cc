#include "analysis/report_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "probe/core/sha256.h"

namespace probe {
namespace {

constexpr const char* kEvil = "</script><script>alert(1)</script><!-- \"'& \xE2\x80\xA8 \xFF";

ReportPage evil_page() {
  ReportPage page;
  page.title = kEvil;
  page.provenance = {{kEvil, kEvil}};
  Report report;
  report.command = kEvil;
  report.provenance = {{kEvil, kEvil}};
  Table table;
  table.name = kEvil;
  table.title = kEvil;
  table.note = kEvil;
  table.columns = {{kEvil, kEvil, true}, {"b", "b"}};
  table.rows = {{text_cell(kEvil), accuracy_cell({1, 2})}, {unknown_cell(), unknown_cell()}};
  report.tables = {table};
  report.figures = {{Figure::Kind::bars, kEvil, kEvil, kEvil, kEvil, kEvil,
                     {{kEvil, kEvil, kEvil, {}, 1.0, {}}}}};
  report.notes = report.warnings = {kEvil};
  report.failures = {{kEvil, kEvil, kEvil}};
  page.results = {{kEvil, report}};
  page.pictures = {{kEvil, "\xFF\xD8jpeg"}};
  page.missing = {{kEvil, kEvil, kEvil}};
  return page;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t i = text.find(part); i != text.npos; i = text.find(part, i + 1)) ++found;
  return found;
}

// The text between the tags of the data block.
std::string data_of(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(open) + open.size();
  return html.substr(begin, html.find("</script>", begin) - begin);
}

TEST(ReportPage, DataCannotLeaveTheirBlock) {
  const std::string empty = render_page({});
  const std::string html = render_page(evil_page());
  const std::string data = data_of(html);
  EXPECT_EQ(data.find('<'), data.npos);
  // The same tags as a page without data, and its policy: nothing came in beside the block.
  EXPECT_EQ(count(html, "<script"), count(empty, "<script"));
  EXPECT_EQ(html.substr(0, html.find(data)), empty.substr(0, empty.find(data_of(empty))));
  const auto json = nlohmann::json::parse(data);
  const std::string shown = "</script><script>alert(1)</script><!-- \"'& \xE2\x80\xA8 \xEF\xBF\xBD";
  EXPECT_EQ(json["title"], shown);
  EXPECT_EQ(json["results"][0]["tables"][0]["rows"][0][0], shown);
  EXPECT_EQ(json["pictures"][shown], "/9hqcGVn");  // Python: base64.b64encode
}

TEST(ReportPage, CellsCarryTheTextOfTheTerminalAndTheKeyToSortBy) {
  const auto json = nlohmann::json::parse(data_of(render_page(evil_page())));
  const auto& table = json["results"][0]["tables"][0];
  EXPECT_EQ(table["rows"][0][1][0], "50.0 (1/2)");
  EXPECT_EQ(table["rows"][0][1][1], 0.5);
  EXPECT_TRUE(table["rows"][1][1].is_null());
  EXPECT_EQ(table["columns"][1]["kind"], "accuracy");
  EXPECT_EQ(table["columns"][0]["items"], true);
}

// A template mark in the data is data.
TEST(ReportPage, MarksOfTheTemplateAreFilledOnce) {
  ReportPage page;
  page.title = "{{scripts}}{{nothing}}";
  EXPECT_EQ(nlohmann::json::parse(data_of(render_page(page)))["title"], page.title);
}

TEST(ReportPage, ThePolicyForbidsTheNetworkAndNamesEveryScript) {
  const std::string html = render_page(evil_page());
  std::smatch match;
  ASSERT_TRUE(std::regex_search(html, match,
                                std::regex("Content-Security-Policy\" content=\"([^\"]*)\"")));
  const std::string policy = match[1];
  EXPECT_EQ(policy.substr(0, 32), "default-src 'none'; script-src '");
  for (const char* word : {"unsafe", "http", "*", "self", "blob"}) {
    EXPECT_EQ(policy.find(word), policy.npos) << word;
  }
  EXPECT_EQ(count(policy, "'sha256-"), count(html, "<script>") + 1);  // and the style
  // Nothing in the page names another resource.
  EXPECT_EQ(count(html.substr(0, html.find("<script")), "src="), 0u);
  EXPECT_EQ(count(html.substr(0, html.find("<script")), "url("), 0u);
  EXPECT_EQ(count(html.substr(0, html.find("<script")), "@import"), 0u);
}

TEST(ReportPage, SamePageSameBytes) { EXPECT_EQ(render_page(evil_page()), render_page(evil_page())); }

TEST(ReportPage, LongTablesAreOfferedAsCsvAlone) {
  ReportPage page;
  Table table;
  table.columns = {{"a", "a"}};
  table.rows.assign(200, {count_cell(1)});
  page.results = {{"r.json", {}}};
  page.results[0].report.tables = {table};
  EXPECT_TRUE(nlohmann::json::parse(data_of(render_page(page)))["results"][0]["tables"][0].contains("latex"));
  page.results[0].report.tables[0].rows.push_back({count_cell(1)});
  const auto entry = nlohmann::json::parse(data_of(render_page(page)))["results"][0]["tables"][0];
  EXPECT_FALSE(entry.contains("latex"));
  EXPECT_EQ(entry["csv"], render_csv(page.results[0].report.tables[0]));
}

TEST(ReportPage, PicturedItemsAreNamedOnce) {
  std::vector<PageResult> results = {{"a", {}}, {"b", {}}};
  Table table;
  table.columns = {{"query", "query", true}, {"name", "name"}, {"neighbor", "neighbour", true}};
  table.rows = {{text_cell("q"), text_cell("not an item"), text_cell("n")},
                {text_cell("q"), text_cell(""), unknown_cell()}};
  results[0].report.tables = {table};
  table.rows = {{text_cell("n"), text_cell(""), text_cell("m")}};
  results[1].report.tables = {table};
  EXPECT_EQ(pictured_items(results), (std::vector<std::string>{"q", "n", "m"}));
}

// d3 as npm has it (third_party/d3/README.md).
TEST(ReportPage, TheThirdPartyFileIsTheOneThatWasFetched) {
  EXPECT_EQ(sha256_file(PROBE_SOURCE_DIR "/analysis/report_page/third_party/d3/d3.min.js"),
            "f2094bbf6141b359722c4fe454eb6c4b0f0e42cc10cc7af921fc158fceb86539");
}

}  // namespace
}  // namespace probe
