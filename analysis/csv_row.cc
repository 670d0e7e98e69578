#include "analysis/csv_row.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

const std::string* find_cell(const CsvRow& row, const std::string& column) {
  const auto it = std::find(row.header.begin(), row.header.end(), column);
  return it == row.header.end() ? nullptr : &row.fields[it - row.header.begin()];
}

}  // namespace

const std::string& CsvRow::text(const std::string& column) const {
  if (const std::string* cell = find_cell(*this, column)) return *cell;
  throw Error(ErrorKind::input, where + ": column \"" + column + "\" is missing");
}

std::string CsvRow::text_if_there(const std::string& column) const {
  const std::string* cell = find_cell(*this, column);
  return cell == nullptr ? "" : *cell;
}

std::optional<double> CsvRow::number(const std::string& column, double largest) const {
  const std::string& cell = text(column);
  if (cell.empty()) return std::nullopt;
  double value = 0.0;
  const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (code != std::errc() || end != cell.data() + cell.size() ||
      !(value >= 0.0 && value <= largest)) {
    throw Error(ErrorKind::input, fmt::format("{}: {}: expected a number from 0 to {}, got \"{}\"",
                                              where, column, largest, printable(cell)));
  }
  return value;
}

std::optional<double> CsvRow::number_if_there(const std::string& column, double largest) const {
  return find_cell(*this, column) == nullptr ? std::nullopt : number(column, largest);
}

}  // namespace probe
