#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/table.h"

namespace probe {
namespace {

using Json = nlohmann::ordered_json;

Json cell_json(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::unknown: return nullptr;
    case Cell::Kind::text: return cell.words;
    case Cell::Kind::count: return cell.whole;
    case Cell::Kind::number: {
      if (!cell.interval) return cell.real;
      return {{"value", cell.real}, {"low", cell.interval->low}, {"high", cell.interval->high}};
    }
    case Cell::Kind::accuracy: {
      Json value = {{"correct", cell.accuracy.correct}, {"total", cell.accuracy.total}};
      if (cell.accuracy.total == 0) {
        value["percent"] = nullptr;
      } else {
        value["percent"] = 100.0 * static_cast<double>(cell.accuracy.correct) /
                           static_cast<double>(cell.accuracy.total);
      }
      if (cell.interval) {
        value["low"] = 100.0 * cell.interval->low;
        value["high"] = 100.0 * cell.interval->high;
      }
      return value;
    }
  }
  return nullptr;
}

const char* kind_name(Figure::Kind kind) {
  switch (kind) {
    case Figure::Kind::bars: return "bars";
    case Figure::Kind::lines: return "lines";
    case Figure::Kind::scatter: return "scatter";
    case Figure::Kind::heatmap: return "heatmap";
    case Figure::Kind::chord: return "chord";
  }
  return "";
}

Json figure_json(const Figure& figure) {
  Json marks = Json::array();
  for (const Mark& mark : figure.marks) {
    Json entry = {{"series", mark.series}, {"x", mark.x}};
    if (!mark.group.empty()) entry["group"] = mark.group;
    if (mark.position) entry["position"] = *mark.position;
    entry["value"] = mark.value ? Json(*mark.value) : Json(nullptr);
    if (mark.interval) {
      entry["low"] = mark.interval->low;
      entry["high"] = mark.interval->high;
    }
    marks.push_back(std::move(entry));
  }
  return {{"name", figure.name},       {"kind", kind_name(figure.kind)},
          {"title", figure.title},     {"x_title", figure.x_title},
          {"y_title", figure.y_title}, {"caption", figure.caption},
          {"marks", std::move(marks)}};
}

// Titles of the columns, which rows name only by machine names, and how many decimals
// its numbers are shown with.
Json columns_json(const Table& table) {
  Json list = Json::array();
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    Json entry = {{"name", column.name}, {"title", column.title}};
    if (column.items) entry["items"] = true;
    int decimals = -1;
    for (const auto& row : table.rows) {
      if (row[c].kind == Cell::Kind::number) decimals = std::max(decimals, row[c].decimals);
    }
    if (decimals >= 0) entry["decimals"] = decimals;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::string render_json(const Report& report) {
  Json tables = Json::array();
  for (const Table& table : report.tables) {
    Json rows = Json::array();
    for (const auto& row : table.rows) {
      Json object = Json::object();
      for (std::size_t c = 0; c < row.size(); ++c) {
        object[table.columns[c].name] = cell_json(row[c]);
      }
      rows.push_back(std::move(object));
    }
    Json entry = {{"name", table.name},
                  {"title", table.title},
                  {"columns", columns_json(table)},
                  {"rows", std::move(rows)}};
    if (!table.note.empty()) entry["note"] = table.note;
    tables.push_back(std::move(entry));
  }
  Json figures = Json::array();
  for (const Figure& figure : report.figures) figures.push_back(figure_json(figure));
  Json failures = Json::array();
  for (const Failure& failure : report.failures) {
    failures.push_back(
        {{"id", failure.id}, {"path", failure.path}, {"reason", failure.reason}});
  }
  const Json document = {{"command", report.command},   {"provenance", report.provenance},
                         {"tables", std::move(tables)}, {"figures", std::move(figures)},
                         {"notes", report.notes},       {"warnings", report.warnings},
                         {"failures", std::move(failures)}};
  // Names of files may hold bytes that are not UTF-8: they are replaced, not fatal.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace probe
