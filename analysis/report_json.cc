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
    Json entry = {{"name", table.name}, {"title", table.title}, {"rows", std::move(rows)}};
    if (!table.note.empty()) entry["note"] = table.note;
    tables.push_back(std::move(entry));
  }
  Json failures = Json::array();
  for (const Failure& failure : report.failures) {
    failures.push_back(
        {{"id", failure.id}, {"path", failure.path}, {"reason", failure.reason}});
  }
  const Json document = {{"command", report.command},   {"provenance", report.provenance},
                         {"tables", std::move(tables)}, {"notes", report.notes},
                         {"warnings", report.warnings}, {"failures", std::move(failures)}};
  // Names of files may hold bytes that are not UTF-8: they are replaced, not fatal.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace probe
