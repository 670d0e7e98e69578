// probe shards.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "probe/cli/commands.h"
#include "probe/cli/embedding_paths.h"
#include "probe/cli/output.h"
#include "probe/cli/shard_states.h"
#include "probe/core/error.h"
#include "probe/store/embedding_join.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

struct ShardsOptions {
  std::vector<fs::path> inputs;
  std::int64_t count = 0;
  bool missing = false;
  OutputOptions output;
};

ShardSurvey run_survey(const ShardsOptions& options) {
  const ShardSurvey survey = survey_shards(
      find_embedding_paths(options.inputs, {".h5", ".hdf5", ".part"}), options.count);
  if (survey.count == 0) {
    throw Error(ErrorKind::input, options.inputs.front().string() +
                                      ": no shards there; --count says how many there must be");
  }
  return survey;
}

Table count_table(const ShardSurvey& survey) {
  Table table;
  table.name = "shards";
  table.title = "Shards";
  table.columns = {{"shards", "shards"},         {"finished", "finished"},
                   {"running", "running"},       {"unfinished", "unfinished"},
                   {"missing", "missing"},       {"damaged", "damaged files"},
                   {"foreign", "foreign files"}, {"items", "items"},
                   {"vectors", "vectors"},       {"failed", "failed"}};
  std::int64_t running = 0, damaged = 0, foreign = 0, vectors = 0, failed = 0;
  for (const ShardFile& file : survey.files) {
    if (file.state == ShardState::damaged) ++damaged;
    if (file.state == ShardState::foreign) ++foreign;
    if (file.state != ShardState::finished || !file.remark.empty()) continue;
    vectors += file.vectors;
    failed += file.failed;
  }
  const std::int64_t missing = std::ssize(survey.missing);
  const std::int64_t left = std::ssize(survey.to_do) - missing;
  running = survey.unfinished - missing - left;
  table.rows.push_back({count_cell(survey.count), count_cell(survey.count - survey.unfinished),
                        count_cell(running), count_cell(left), count_cell(missing),
                        count_cell(damaged), count_cell(foreign),
                        survey.total > 0 ? count_cell(survey.total) : unknown_cell(),
                        count_cell(vectors), count_cell(failed)});
  return table;
}

Table file_table(const ShardSurvey& survey) {
  Table table;
  table.name = "files";
  table.title = "Files";
  table.columns = {{"shard", "shard"},   {"state", "state"},   {"vectors", "vectors"},
                   {"items", "of"},      {"failed", "failed"}, {"file", "file"},
                   {"remark", "remark"}};
  for (const ShardFile& file : survey.files) {
    const bool ours = file.shard && file.state != ShardState::foreign;
    table.rows.push_back({ours ? count_cell(file.shard->index) : unknown_cell(),
                          text_cell(shard_state_name(file.state)), count_cell(file.vectors),
                          ours ? count_cell(shard_range(*file.shard).size()) : unknown_cell(),
                          count_cell(file.failed), text_cell(file.path.string()),
                          text_cell(file.remark)});
  }
  return table;
}

int show_survey(const ShardsOptions& options) {
  const ShardSurvey survey = run_survey(options);
  const int code = survey.unfinished > 0 ? 1 : 0;
  const std::string to_do = number_ranges(survey.to_do);
  if (options.missing) {
    fmt::print("{}\n", to_do);
    if (std::fflush(stdout) != 0) {
      throw Error(ErrorKind::io, std::string("stdout: cannot write: ") + std::strerror(errno));
    }
    return code;
  }
  Report report;
  report.command = "shards";
  report.tables = {count_table(survey), file_table(survey)};
  if (!to_do.empty()) report.notes.push_back("to do: " + to_do);
  show_report(report, options.output);
  return code;
}

}  // namespace

Command add_shards(CLI::App& app, const std::string&) {
  auto options = std::make_shared<ShardsOptions>();
  app.add_option("FILES", options->inputs,
                 "shards and their part files, folders of them, or patterns")
      ->required();
  app.add_flag("--missing", options->missing,
               "print only the shards to do, such as 3,7-9, for Slurm's --array; those that a "
               "process of this machine works on are left out");
  app.add_option("--count", options->count,
                 "how many shards there must be; needed while there are none")
      ->check(CLI::Range(std::int64_t{1}, kMostShards))
      ->type_name("N");
  add_output_options(app, options->output);
  add_examples(app, {"probe shards shards/", "probe shards shards/ --missing",
                     "probe shards 'shards/items-*.h5*' --count 8 --json"});
  app.footer(app.get_footer() + "\nExit code 1: shards are not finished.");
  return [options] { return show_survey(*options); };
}

}  // namespace probe
