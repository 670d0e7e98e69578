#include "probe/cli/output.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

std::string render_all(const Report& report, std::string (*render)(const Table&)) {
  std::string text;
  for (const Table& table : report.tables) text += (text.empty() ? "" : "\n") + render(table);
  return text;
}

std::string rendered(const Report& report, const OutputOptions& options) {
  if (options.json || options.format == "json") return render_json(report);
  if (options.format == "csv") return render_all(report, render_csv);
  if (options.format == "markdown") return render_all(report, render_markdown);
  if (options.format == "latex") return render_all(report, render_latex);
  return render_all(report, render_text);
}

// What a person must know goes to stderr, so that it is seen even when stdout is piped.
void print_remarks(const Report& report, bool quiet) {
  if (!quiet) {
    for (const std::string& note : report.notes) fmt::print(stderr, "note: {}\n", note);
  }
  for (const std::string& warning : report.warnings) {
    fmt::print(stderr, "warning: {}\n", warning);
  }
  for (const Failure& failure : report.failures) {
    const bool named = failure.path.empty() || failure.path.find(failure.id) != std::string::npos ||
                       failure.reason.find(failure.path) != std::string::npos;
    fmt::print(stderr, "failed: {}{}: {}\n", printable(failure.id),
               named ? "" : " (" + printable(failure.path) + ")", printable(failure.reason));
  }
}

}  // namespace

int show_report(const Report& report, const OutputOptions& options) {
  if (!options.tables_dir.empty()) {
    std::error_code code;
    std::filesystem::create_directories(options.tables_dir, code);
    if (code) {
      throw Error(ErrorKind::io,
                  options.tables_dir.string() + ": cannot create: " + code.message());
    }
    for (const Table& table : report.tables) {
      write_file_atomically(options.tables_dir / (table.name + ".csv"), render_csv(table));
    }
    write_file_atomically(options.tables_dir / "result.json", render_json(report));
  }
  const std::string text = rendered(report, options);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw Error(ErrorKind::io, std::string("stdout: cannot write: ") + std::strerror(errno));
  }
  print_remarks(report, options.quiet);
  return report.failures.empty() ? 0 : 1;
}

}  // namespace probe
