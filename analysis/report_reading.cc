#include "analysis/report_reading.h"

#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>

#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDeepest = 6;  // document, tables, table, rows, row, cell
constexpr std::size_t kLongestQuote = 60;

// A value of the document and the way to it, for messages.
struct Node {
  const Json& value;
  std::string path;
  const std::string& where;

  [[noreturn]] void refuse(const std::string& expected) const {
    std::string got = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (value.is_structured()) got = value.is_array() ? "a list" : "an object";
    if (got.size() > kLongestQuote) got = got.substr(0, kLongestQuote) + "...";
    throw Error(ErrorKind::input, where + ": " + (path.empty() ? "" : path + ": ") + "expected " +
                                      expected + ", got " + printable(got));
  }

  // The fields of an object: all of `required`, and none but these and `optional`.
  void fields(std::initializer_list<const char*> required,
              std::initializer_list<const char*> optional = {}) const {
    if (!value.is_object()) refuse("an object");
    std::set<std::string> known(optional.begin(), optional.end());
    for (const char* name : required) {
      if (!value.contains(name)) {
        refuse(std::string("the field \"") + name + "\" of a probe result");
      }
      known.insert(name);
    }
    for (const auto& [name, field] : value.items()) {
      if (!known.contains(name)) {
        throw Error(ErrorKind::input, where + ": " + (path.empty() ? "" : path + ": ") +
                                          "unknown field \"" + printable(name) + "\"");
      }
    }
  }

  bool has(const char* name) const { return value.contains(name); }
  Node at(const std::string& name) const {
    return {value.at(name), path.empty() ? name : path + "." + name, where};
  }
  std::vector<Node> list() const {
    if (!value.is_array()) refuse("a list");
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < value.size(); ++i) {
      nodes.push_back({value[i], path + "[" + std::to_string(i) + "]", where});
    }
    return nodes;
  }
  std::string text() const {
    if (!value.is_string()) refuse("a text");
    return value.get<std::string>();
  }
  double number() const {
    if (!value.is_number()) refuse("a number");
    return value.get<double>();
  }
  std::int64_t count() const {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)) {
      refuse("a whole number");
    }
    return value.get<std::int64_t>();
  }
};

Interval interval_of(const Node& node, double unit) {
  const Interval interval{node.at("low").number() / unit, node.at("high").number() / unit};
  if (interval.low > interval.high) node.at("low").refuse("a low end not above the high end");
  return interval;
}

Cell accuracy_of(const Node& node) {
  node.fields({"correct", "total", "percent"}, {"low", "high"});
  const Accuracy accuracy{node.at("correct").count(), node.at("total").count()};
  if (accuracy.correct < 0 || accuracy.correct > accuracy.total) {
    node.at("correct").refuse("0 to total (" + std::to_string(accuracy.total) + ")");
  }
  const Node percent = node.at("percent");
  if (accuracy.total == 0) {
    if (!percent.value.is_null()) percent.refuse("null, for a total of 0");
    return accuracy_cell(accuracy);
  }
  const double right = 100.0 * static_cast<double>(accuracy.correct) /
                       static_cast<double>(accuracy.total);
  if (std::abs(percent.number() - right) > 1e-6) percent.refuse("correct / total");
  if (!node.has("low") && !node.has("high")) return accuracy_cell(accuracy);
  node.fields({"correct", "total", "percent", "low", "high"});
  return accuracy_cell(accuracy, interval_of(node, 100.0));
}

Cell cell_of(const Node& node, int decimals) {
  const Json& value = node.value;
  if (value.is_null()) return unknown_cell();
  if (value.is_string()) return text_cell(node.text());
  if (value.is_number_integer()) return count_cell(node.count());
  if (value.is_number()) return number_cell(node.number(), decimals);
  if (!value.is_object()) node.refuse("null, a text, a number, or an object of numbers");
  if (node.has("correct")) return accuracy_of(node);
  node.fields({"value", "low", "high"});
  return number_cell(node.at("value").number(), decimals, interval_of(node, 1.0));
}

Table table_of(const Node& node) {
  node.fields({"name", "title", "columns", "rows"}, {"note"});
  Table table;
  table.name = node.at("name").text();
  table.title = node.at("title").text();
  if (node.has("note")) table.note = node.at("note").text();
  std::vector<int> decimals;
  std::set<std::string> names;
  for (const Node& entry : node.at("columns").list()) {
    entry.fields({"name", "title"}, {"items", "decimals"});
    Column column{entry.at("name").text(), entry.at("title").text()};
    if (entry.has("items")) {
      if (!entry.at("items").value.is_boolean()) entry.at("items").refuse("true or false");
      column.items = entry.at("items").value.get<bool>();
    }
    decimals.push_back(3);
    if (entry.has("decimals")) {
      const std::int64_t digits = entry.at("decimals").count();
      if (digits < 0 || digits > 17) entry.at("decimals").refuse("0 to 17");
      decimals.back() = static_cast<int>(digits);
    }
    if (!names.insert(column.name).second) entry.at("name").refuse("different names of columns");
    table.columns.push_back(std::move(column));
  }
  if (table.columns.empty()) node.at("columns").refuse("at least one column");
  for (const Node& entry : node.at("rows").list()) {
    if (!entry.value.is_object()) entry.refuse("an object");
    if (entry.value.size() != table.columns.size()) {
      throw Error(ErrorKind::input, entry.where + ": " + entry.path + ": expected " +
                                        std::to_string(table.columns.size()) + " cells, got " +
                                        std::to_string(entry.value.size()));
    }
    std::vector<Cell>& row = table.rows.emplace_back();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const std::string& name = table.columns[c].name;
      if (!entry.value.contains(name)) {
        entry.refuse("a cell of column \"" + printable(name) + "\"");
      }
      row.push_back(cell_of(entry.at(name), decimals[c]));
    }
  }
  return table;
}

Figure::Kind kind_of(const Node& node) {
  const std::string kind = node.text();
  if (kind == "bars") return Figure::Kind::bars;
  if (kind == "lines") return Figure::Kind::lines;
  if (kind == "scatter") return Figure::Kind::scatter;
  if (kind == "heatmap") return Figure::Kind::heatmap;
  if (kind == "chord") return Figure::Kind::chord;
  node.refuse("bars, lines, scatter, heatmap or chord");
}

Mark mark_of(const Node& node) {
  node.fields({"series", "x", "value"}, {"group", "position", "low", "high"});
  Mark mark;
  mark.series = node.at("series").text();
  mark.x = node.at("x").text();
  if (node.has("group")) mark.group = node.at("group").text();
  if (node.has("position")) mark.position = node.at("position").number();
  if (!node.at("value").value.is_null()) mark.value = node.at("value").number();
  if (node.has("low") || node.has("high")) {
    node.fields({"series", "x", "value", "low", "high"}, {"group", "position"});
    mark.interval = interval_of(node, 1.0);
  }
  return mark;
}

Figure figure_of(const Node& node) {
  node.fields({"name", "kind", "title", "x_title", "y_title", "caption", "marks"});
  Figure figure;
  figure.name = node.at("name").text();
  figure.kind = kind_of(node.at("kind"));
  figure.title = node.at("title").text();
  figure.x_title = node.at("x_title").text();
  figure.y_title = node.at("y_title").text();
  figure.caption = node.at("caption").text();
  for (const Node& entry : node.at("marks").list()) figure.marks.push_back(mark_of(entry));
  return figure;
}

std::vector<std::string> texts_of(const Node& node) {
  std::vector<std::string> texts;
  for (const Node& entry : node.list()) texts.push_back(entry.text());
  return texts;
}

Json parsed(std::string_view text, const std::string& where) {
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepest) {
      throw Error(ErrorKind::input, where + ": expected a probe result (--json), got JSON nested "
                                            "deeper than " + std::to_string(kDeepest));
    }
    return true;
  };
  try {
    return Json::parse(text, shallow);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::input,
                where + ": expected JSON, got: " + printable(first_line(error.what())));
  }
}

}  // namespace

Report read_report(std::string_view json, const std::string& where) {
  if (json.starts_with("\xEF\xBB\xBF")) json.remove_prefix(3);
  const Json document = parsed(json, where);
  const Node node{document, "", where};
  node.fields({"command", "provenance", "tables", "figures", "notes", "warnings", "failures"});
  Report report;
  report.command = node.at("command").text();
  if (!node.at("provenance").value.is_object()) node.at("provenance").refuse("an object");
  for (const auto& [name, value] : node.at("provenance").value.items()) {
    report.provenance[name] = node.at("provenance").at(name).text();
  }
  for (const Node& entry : node.at("tables").list()) report.tables.push_back(table_of(entry));
  for (const Node& entry : node.at("figures").list()) report.figures.push_back(figure_of(entry));
  report.notes = texts_of(node.at("notes"));
  report.warnings = texts_of(node.at("warnings"));
  for (const Node& entry : node.at("failures").list()) {
    entry.fields({"id", "path", "reason"});
    report.failures.push_back(
        {entry.at("id").text(), entry.at("path").text(), entry.at("reason").text()});
  }
  return report;
}

}  // namespace probe
