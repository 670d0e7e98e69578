// Reads what render_json writes: the results of earlier commands.
#pragma once

#include <string>
#include <string_view>

#include "analysis/table.h"

namespace probe {

// Parses one result (`--json`, or result.json of `--tables`). Every field is checked: its
// presence, its type, rows against columns, counts and intervals. Fields that render_json
// never writes are refused.
// Throws Error(input) "<where>: <path in the document>: expected ..., got ...", one line.
Report read_report(std::string_view json, const std::string& where);

}  // namespace probe
