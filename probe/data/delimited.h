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

}  // namespace probe
