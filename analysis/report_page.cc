#include "analysis/report_page.h"

#include <nlohmann/json.hpp>
#include <set>

#include "analysis/page_assets.h"
#include "probe/core/base64.h"
#include "probe/core/sha256.h"

namespace probe {
namespace {

using Json = nlohmann::ordered_json;

// Markdown and LaTeX are for papers; longer tables are offered as CSV alone.
constexpr std::size_t kLongestForPapers = 200;

// Bytes that are not UTF-8 are replaced, as in render_json.
std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const char* kind_name(Cell::Kind kind) {
  switch (kind) {
    case Cell::Kind::unknown: return "unknown";
    case Cell::Kind::text: return "text";
    case Cell::Kind::count: return "count";
    case Cell::Kind::number: return "number";
    case Cell::Kind::accuracy: return "accuracy";
  }
  return "";
}

// The kind of a column: that of its cells, "text" if they differ.
std::string column_kind(const Table& table, std::size_t column) {
  Cell::Kind kind = Cell::Kind::unknown;
  for (const auto& row : table.rows) {
    const Cell::Kind cell = row[column].kind;
    if (cell == Cell::Kind::unknown || cell == kind) continue;
    if (kind != Cell::Kind::unknown) return "text";
    kind = cell;
  }
  return kind_name(kind);
}

// Null, the words of a text, or [what is shown, what is sorted by].
Json page_cell(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::unknown: return nullptr;
    case Cell::Kind::text: return cell.words;
    case Cell::Kind::count: return {cell_text(cell), cell.whole};
    case Cell::Kind::number: return {cell_text(cell), cell.real};
    case Cell::Kind::accuracy: break;
  }
  if (cell.accuracy.total == 0) return {cell_text(cell), nullptr};
  return {cell_text(cell), static_cast<double>(cell.accuracy.correct) /
                               static_cast<double>(cell.accuracy.total)};
}

Json page_table(const Table& table) {
  Json columns = Json::array(), rows = Json::array();
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    columns.push_back({{"name", column.name},
                       {"title", column.title},
                       {"items", column.items},
                       {"kind", column_kind(table, c)}});
  }
  for (const auto& row : table.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(page_cell(cell));
    rows.push_back(std::move(cells));
  }
  Json entry = {{"name", table.name},
                {"title", table.title},
                {"note", table.note},
                {"columns", std::move(columns)},
                {"rows", std::move(rows)},
                {"csv", render_csv(table)}};
  if (table.rows.size() <= kLongestForPapers) {
    entry["markdown"] = render_markdown(table);
    entry["latex"] = render_latex(table);
  }
  return entry;
}

Json page_result(const PageResult& result) {
  Json entry = Json::parse(render_json(result.report));
  entry["file"] = result.file;
  Json tables = Json::array();
  for (const Table& table : result.report.tables) tables.push_back(page_table(table));
  entry["tables"] = std::move(tables);
  return entry;
}

// JSON that cannot end the element it stands in, nor begin another.
std::string data_block(const ReportPage& page) {
  Json results = Json::array(), pictures = Json::object(), missing = Json::array();
  for (const PageResult& result : page.results) results.push_back(page_result(result));
  for (const auto& [id, bytes] : page.pictures) pictures[id] = encode_base64(bytes);
  for (const Failure& failure : page.missing) {
    missing.push_back({{"id", failure.id}, {"reason", failure.reason}});
  }
  const std::string json = dump({{"title", page.title},
                                 {"provenance", page.provenance},
                                 {"results", std::move(results)},
                                 {"pictures", std::move(pictures)},
                                 {"missing", std::move(missing)}});
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

// 'sha256-...' as Content Security Policy Level 3 (2.3.1) names an inline script or style.
std::string source_hash(std::string_view text) {
  const std::string hex = sha256_hex(text);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return "'sha256-" + encode_base64(bytes) + "'";
}

std::string policy() {
  std::string text = "default-src 'none'; script-src";
  for (const std::string_view script : kPageScripts) text += " " + source_hash(script);
  return text + "; style-src " + source_hash(kPageStyle) +
         "; img-src data:; base-uri 'none'; form-action 'none'";
}

std::string scripts() {
  std::string text;
  for (const std::string_view script : kPageScripts) {
    text += "<script>" + std::string(script) + "</script>\n";
  }
  return text;
}

}  // namespace

std::string render_page(const ReportPage& page) {
  const std::map<std::string_view, std::string> parts = {{"policy", policy()},
                                                         {"style", std::string(kPageStyle)},
                                                         {"data", data_block(page)},
                                                         {"scripts", scripts()}};
  std::string text;
  std::string_view rest = kPageTemplate;
  for (std::size_t open = rest.find("{{"); open != rest.npos; open = rest.find("{{")) {
    const std::size_t close = rest.find("}}", open);
    text += rest.substr(0, open);
    text += parts.at(rest.substr(open + 2, close - open - 2));
    rest.remove_prefix(close + 2);
  }
  text += rest;
  return text;
}

std::vector<std::string> pictured_items(const std::vector<PageResult>& results) {
  std::vector<std::string> ids;
  std::set<std::string> seen;
  for (const PageResult& result : results) {
    for (const Table& table : result.report.tables) {
      for (const auto& row : table.rows) {
        for (std::size_t c = 0; c < row.size(); ++c) {
          if (!table.columns[c].items || row[c].kind != Cell::Kind::text) continue;
          if (seen.insert(row[c].words).second) ids.push_back(row[c].words);
        }
      }
    }
  }
  return ids;
}

}  // namespace probe
