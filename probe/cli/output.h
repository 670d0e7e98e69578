// Showing a Report.
#pragma once

#include "analysis/table.h"
#include "probe/cli/common_options.h"

namespace probe {

// Prints the report to stdout in the wanted format and, with --tables, writes
// <table>.csv for each table and result.json.
// Returns the exit code: 1 if the report lists failures, else 0.
// Throws Error(io) if a file or stdout cannot be written.
int show_report(const Report& report, const OutputOptions& options);

}  // namespace probe
