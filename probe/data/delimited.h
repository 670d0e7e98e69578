// CSV (RFC 4180) and TSV (as pandas writes it: quoted when needed, a quote that does
// not open the field is literal). BUGCASES 50.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace probe {

struct DelimitedRow {
  std::size_t line = 0;             // 1-based, where the row begins
  std::vector<std::string> fields;  // as many as the header has
};

struct DelimitedTable {
  std::vector<std::string> header;
  std::vector<DelimitedRow> rows;

  // Column called `name`, or -1.
  int column(const std::string& name) const;
};

// Reads a table; `separator` is ',' or '\t'. Blank lines are passed over.
// Throws Error(input) with file and line for a row with too few or too many fields, a
// quote that never closes, a column named twice, or a file without rows.
DelimitedTable read_delimited(const std::filesystem::path& path, char separator);

// .csv, .tsv or .xlsx by the name's ending; false for other endings.
bool is_table_file(const std::filesystem::path& path);
// Reads it. Throws Error(input) as read_delimited and read_xlsx (probe/data/xlsx.h) do.
DelimitedTable read_table_file(const std::filesystem::path& path);

}  // namespace probe
