// probe merge.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "probe/cli/commands.h"
#include "probe/cli/embedding_paths.h"
#include "probe/cli/embedding_target.h"
#include "probe/cli/output.h"
#include "probe/cli/progress.h"
#include "probe/cli/vectors.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/store/embedding_join.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

struct MergeOptions {
  std::vector<fs::path> inputs;
  fs::path file;
  bool virtual_rows = false, allow_outside = false;
  std::string command_line;
  OutputOptions output;
};

Report run_merge(const MergeOptions& options) {
  check_embedding_target(options.file);
  std::vector<fs::path> paths = find_embedding_paths(options.inputs, {".h5", ".hdf5"});
  // A folder may hold the file of an earlier merge.
  std::erase_if(paths, [&](const fs::path& path) {
    std::error_code code;
    const bool typed =
        std::find(options.inputs.begin(), options.inputs.end(), path) != options.inputs.end();
    return !typed && fs::equivalent(path, options.file, code);
  });
  std::vector<FileSummary> files;
  std::int64_t steps = 0;
  for (const fs::path& path : paths) {
    files.push_back(read_file_summary(path, options.allow_outside));
    steps += files.back().items * static_cast<std::int64_t>(files.back().rows.size());
  }
  check_join(files);
  const Provenance provenance = files.front().provenance;
  const bool shards = files.front().shard.has_value();
  const std::int64_t count = std::ssize(files);
  JoinResult joined;
  {
    Progress progress("joining vectors", options.virtual_rows ? 0 : steps,
                      options.output.quiet || options.virtual_rows);
    JoinOptions join;
    join.virtual_rows = options.virtual_rows;
    join.allow_outside = options.allow_outside;
    join.command_line = options.command_line;
    join.on_rows = [&](std::int64_t rows) { progress.advance(rows); };
    joined = join_embedding_files(std::move(files), options.file, join);
  }
  Report report;
  report.command = "merge";
  Table table;
  table.name = "merged";
  table.title = "Merged into " + options.file.string();
  table.columns = {{"files", shards ? "shards" : "files"}, {"images", "images"},
                   {"failed", "failed"},                   {"prompts", "prompts"},
                   {"vectors", "vectors"},                 {"bytes", "bytes"}};
  table.rows.push_back({count_cell(count), count_cell(joined.items), count_cell(joined.failed),
                        count_cell(joined.prompts),
                        text_cell(options.virtual_rows ? "stay in the files joined" : "copied"),
                        count_cell(static_cast<std::int64_t>(fs::file_size(options.file)))});
  report.tables.push_back(std::move(table));
  if (options.virtual_rows) {
    report.notes.push_back(options.file.string() +
                           " holds no vectors: it finds the files joined by their names, seen "
                           "from its own folder; keep them, and move all together");
  }
  if (joined.failed > 0) {
    report.warnings.push_back(std::to_string(joined.failed) +
                              " items have no vector; /failed in the file says why");
  }
  if (provenance.bundle_sha256 == "unknown") {
    report.warnings.push_back("the files do not say which bundle made them: that it was one encoder "
                              "rests on its name, \"" + printable(provenance.encoder) + "\"");
  }
  report.provenance = report_provenance(provenance);
  return report;
}

}  // namespace

Command add_merge(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<MergeOptions>();
  options->command_line = command_line;
  app.add_option("FILES", options->inputs,
                 "embedding files, folders of them, or patterns: all shards of one dataset in any "
                 "order, or files of several datasets")
      ->required();
  add_embedding_target(app, options->file);
  app.add_flag("--virtual", options->virtual_rows,
               "leave the vectors in the files joined and refer to them (a HDF5 virtual dataset)");
  app.add_flag("--allow-outside,--allow_outside", options->allow_outside,
               "virtual files may refer to files outside their own folder");
  add_output_options(app, options->output);
  add_examples(app, {"probe merge shards/ -o items.h5", "probe merge shards/ -o items.h5 --virtual",
                     "probe merge fruit.h5 animals.h5 -o both.h5"});
  return [options] { return show_report(run_merge(*options), options->output); };
}

}  // namespace probe
