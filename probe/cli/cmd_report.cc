// probe report.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/report_page.h"
#include "analysis/report_reading.h"
#include "probe/cli/commands.h"
#include "probe/cli/output.h"
#include "probe/cli/report_pictures.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxResultBytes = std::size_t{256} << 20;

struct ReportOptions {
  fs::path page;
  std::vector<fs::path> results;
  std::string title;
  PictureOptions pictures;
  OutputOptions output;
};

// The page comes first on the line: a result in its place must not be overwritten.
void check_page_name(const fs::path& page) {
  const std::string extension = page.extension().string();
  if (extension == ".html" || extension == ".htm") return;
  throw Error(ErrorKind::usage,
              page.string() + ": expected the page to write, a name in .html, before the results");
}

Report run_report(const ReportOptions& options, const std::string& command_line) {
  check_page_name(options.page);
  ReportPage page;
  std::int64_t tables = 0, figures = 0;
  for (const fs::path& file : options.results) {
    page.results.push_back(
        {file.string(), read_report(read_file(file, kMaxResultBytes), file.string())});
    tables += static_cast<std::int64_t>(page.results.back().report.tables.size());
    figures += static_cast<std::int64_t>(page.results.back().report.figures.size());
  }
  page.title = options.title;
  page.provenance = {{"probe", PROBE_VERSION}, {"command_line", command_line}};
  Report report;
  report.command = "report";
  report.provenance = page.provenance;
  if (!options.pictures.datasets.empty()) {
    ReportPictures pictures = read_pictures(pictured_items(page.results), options.pictures);
    page.pictures = std::move(pictures.jpeg);
    page.missing = pictures.missing;
    report.failures = std::move(pictures.missing);
    if (pictures.left_out > 0) {
      report.notes.push_back(fmt::format("{} pictures were left out (--max-pictures {})",
                                         pictures.left_out, options.pictures.most));
    }
  }
  write_file_atomically(options.page, render_page(page));
  Table table;
  table.name = "report";
  table.title = "Report page";
  table.columns = {{"page", "page"},       {"results", "results"},   {"tables", "tables"},
                   {"figures", "figures"}, {"pictures", "pictures"}, {"missing", "missing"}};
  const auto count = [](std::size_t value) { return count_cell(static_cast<std::int64_t>(value)); };
  table.rows.push_back({text_cell(options.page.string()), count(page.results.size()),
                        count_cell(tables), count_cell(figures), count(page.pictures.size()),
                        count(page.missing.size())});
  report.tables.push_back(std::move(table));
  return report;
}

}  // namespace

Command add_report(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("OUT", options->page, "the page to write, *.html")->required();
  app.add_option("RESULT", options->results,
                 "results in the order of the page: what --json printed, or result.json of "
                 "--tables")
      ->required();
  app.add_option("--title", options->title, "heading of the page")
      ->default_val("What the encoders know");
  app.add_option("--images", options->pictures.datasets,
                 "dataset whose pictures are shown where a table names its items; repeat for "
                 "several")
      ->allow_extra_args(false)
      ->type_name("DATA");
  app.add_flag("--allow-outside,--allow_outside", options->pictures.allow_outside,
               "the dataset may name images outside its own folder");
  app.add_option("--picture-side,--picture_side", options->pictures.side,
                 "longer side of a picture in pixels")
      ->check(CLI::Range(16, 1024))
      ->capture_default_str();
  app.add_option("--max-pictures,--max_pictures", options->pictures.most,
                 "most pictures in the page")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  add_output_options(app, options->output);
  add_examples(app, {"probe report report.html zeroshot.json match.json --images demo",
                     "probe zeroshot demo --json > zeroshot.json && probe report r.html zeroshot.json",
                     "probe report nemo.html */result.json --title 'NEMO, four towers'"});
  return [options, command_line] {
    return show_report(run_report(*options, command_line), options->output);
  };
}

}  // namespace probe
