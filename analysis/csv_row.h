// One row of a CSV that an analysis reads, by column name.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace probe {

struct CsvRow {
  const std::vector<std::string>& header;
  const std::vector<std::string>& fields;
  std::string where;  // begins every message, "file: row 3"

  // Throws Error(input) if there is no such column.
  const std::string& text(const std::string& column) const;
  // Empty if there is no such column.
  std::string text_if_there(const std::string& column) const;
  // nullopt if the cell is empty. Throws Error(input) unless it is a number from 0 to `largest`.
  std::optional<double> number(const std::string& column, double largest) const;
  std::optional<double> number_if_there(const std::string& column, double largest) const;
};

}  // namespace probe
