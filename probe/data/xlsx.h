// Excel workbooks (.xlsx, ECMA-376 Part 1, 18.3 and 18.4), as VLMEvalKit saves predictions.
// Private to probe/data.
#pragma once

#include <filesystem>

#include "probe/data/delimited.h"

namespace probe {

// The first sheet: its first row is the header, blank rows are passed over, a cell that is
// absent is empty, and a row's `line` is its number in the sheet. Numbers are given as they
// are written, formulas as their stored result.
// Throws Error(input) for what is no workbook, a sheet without rows, a column named twice, a
// cell beyond the header, or a part of more than 512 MiB.
DelimitedTable read_xlsx(const std::filesystem::path& path);

}  // namespace probe
