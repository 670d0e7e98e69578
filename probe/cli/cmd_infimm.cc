// probe infimm.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>

#include "analysis/infimm_tables.h"
#include "probe/cli/commands.h"
#include "probe/cli/output.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/delimited.h"
#include "probe/data/infimm_file.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

struct InfimmOptions {
  fs::path questions, prompts, models, responses, judge_prompts;
  std::vector<fs::path> scores;
  std::string grading = "both";
  std::uint64_t seed = 1;
  OutputOptions output;
};

// CSV with a column "model"; the others are shown as they stand.
ModelColumns read_model_columns(const fs::path& path) {
  ModelColumns columns;
  if (path.empty()) return columns;
  const DelimitedTable table = read_delimited(path, ',');
  const int model = table.column("model");
  if (model < 0) throw Error(ErrorKind::input, path.string() + ": expected a column \"model\"");
  for (std::size_t c = 0; c < table.header.size(); ++c) {
    if (static_cast<int>(c) != model) columns.titles.push_back(table.header[c]);
  }
  for (const DelimitedRow& row : table.rows) {
    std::vector<std::string> values;
    for (std::size_t c = 0; c < row.fields.size(); ++c) {
      if (static_cast<int>(c) != model) values.push_back(row.fields[c]);
    }
    if (!columns.values.emplace(row.fields[model], values).second) {
      throw Error(ErrorKind::input, fmt::format("{}:{}: model \"{}\" stands twice", path.string(),
                                                row.line, printable(row.fields[model])));
    }
  }
  return columns;
}

std::string run_name(const std::string& model, const std::string& setting) {
  return setting.empty() ? model : model + " (" + setting + ")";
}

// A question without a score is missing, not 0: every one is listed.
void list_missing(const std::vector<InfimmQuestion>& questions, const InfimmRun& run,
                  Report& report) {
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (run.scores[i]) continue;
    report.failures.push_back(
        {questions[i].id, "",
         fmt::format("no score of {}, {}", run_name(run.model, run.setting),
                     grading_name(run.grading))});
  }
}

Report score_report(const std::vector<InfimmQuestion>& questions, const InfimmOptions& options) {
  const ModelColumns columns = read_model_columns(options.models);
  std::vector<InfimmScore> scores;
  for (const fs::path& path : options.scores) {
    const std::vector<InfimmScore> part = read_infimm_scores(path, options.prompts);
    scores.insert(scores.end(), part.begin(), part.end());
  }
  const std::vector<InfimmRun> runs = group_scores(questions, scores);
  Report report;
  report.tables.push_back(infimm_question_table(questions));
  report.tables.push_back(infimm_score_table(questions, runs, columns, options.seed));
  for (Table table : {infimm_setting_table(questions, runs),
                      infimm_grading_table(questions, runs, options.seed),
                      infimm_multi_image_table(questions, runs, options.seed)}) {
    if (!table.rows.empty()) report.tables.push_back(std::move(table));
  }
  for (const InfimmRun& run : runs) {
    list_missing(questions, run, report);
    if (run.missing() > 0) {
      report.warnings.push_back(fmt::format(
          "{}, {}: {} of {} questions have no score; its numbers are over the others",
          run_name(run.model, run.setting), grading_name(run.grading), run.missing(),
          questions.size()));
    }
  }
  report.notes = {
      "S = (sum over moderate + 2 x sum over high) / (|moderate| + 2 |high|); a category's "
      "score is the same within the category",
      "intervals: percentile bootstrap over questions, drawn within each complexity"};
  return report;
}

// Questions that a model did not answer get no prompt, and are listed.
Report prompt_report(const std::vector<InfimmQuestion>& questions, const InfimmOptions& options) {
  const std::vector<InfimmResponse> responses = read_infimm_responses(options.responses);
  std::vector<Grading> gradings = {Grading::with_steps, Grading::without_steps};
  if (options.grading != "both") gradings = {*parse_grading(options.grading)};
  write_file_atomically(options.judge_prompts,
                        judge_prompts_file(questions, responses, gradings));
  Report report;
  Table table;
  table.name = "infimm_prompts";
  table.title = "Judge prompts in " + options.judge_prompts.string();
  table.columns = {{"model", "model"}, {"setting", "setting"}, {"responses", "responses"},
                   {"prompts", "prompts"}, {"missing", "missing"}};
  std::vector<std::pair<std::string, std::string>> runs;
  for (const InfimmResponse& response : responses) {
    const std::pair run{response.model, response.setting};
    if (std::find(runs.begin(), runs.end(), run) == runs.end()) runs.push_back(run);
  }
  for (const auto& [model, setting] : runs) {
    std::set<std::string> answered;
    for (const InfimmResponse& response : responses) {
      if (response.model == model && response.setting == setting) {
        answered.insert(response.question_id);
      }
    }
    for (const InfimmQuestion& question : questions) {
      if (answered.contains(question.id)) continue;
      report.failures.push_back(
          {question.id, "", "no response of " + run_name(model, setting)});
    }
    const auto count = std::ssize(answered);
    table.rows.push_back({text_cell(model), text_cell(setting.empty() ? "-" : setting),
                          count_cell(count), count_cell(count * std::ssize(gradings)),
                          count_cell(std::ssize(questions) - count)});
  }
  report.tables.push_back(std::move(table));
  return report;
}

Report run_infimm(const InfimmOptions& options, const std::string& command_line) {
  const bool write = !options.responses.empty();
  if (write == !options.scores.empty()) {
    throw Error(ErrorKind::usage, "expected either --scores or --write-judge-prompts");
  }
  if (write == options.judge_prompts.empty()) {
    throw Error(ErrorKind::usage, write ? "--write-judge-prompts needs --output"
                                        : "--output belongs to --write-judge-prompts");
  }
  const std::vector<InfimmQuestion> questions = read_infimm_questions(options.questions);
  Report report = write ? prompt_report(questions, options) : score_report(questions, options);
  report.command = "infimm";
  report.provenance = {{"questions", options.questions.string()},
                       {"seed", std::to_string(options.seed)},
                       {"command_line", command_line}};
  return report;
}

}  // namespace

Command add_infimm(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<InfimmOptions>();
  app.add_option("QUESTIONS", options->questions,
                 "questions, JSON Lines: question_id, category, complexity, question, answer, "
                 "steps, images")
      ->required();
  app.add_option("--scores", options->scores,
                 "judged scores, JSON Lines or .csv: model, setting, grading, question_id, score; "
                 "or a judge's verdicts by prompt_id (with --prompts)")
      ->type_name("FILE");
  app.add_option("--prompts", options->prompts, "prompts file that the verdicts answer")
      ->type_name("FILE");
  app.add_option("--models", options->models,
                 "CSV with a column model; its other columns are shown beside the scores")
      ->type_name("FILE");
  app.add_option("--write-judge-prompts,--write_judge_prompts", options->responses,
                 "write what a judge is to be asked about these responses (JSON Lines: model, "
                 "setting, question_id, response)")
      ->type_name("RESPONSES");
  app.add_option("-o,--output", options->judge_prompts, "prompts file to write")
      ->type_name("FILE");
  app.add_option("--grading", options->grading,
                 "prompts with the reference's reasoning steps, without, or both")
      ->check(CLI::IsMember({"both", "with_steps", "without_steps"}))
      ->capture_default_str();
  app.add_option("--seed", options->seed, "of the bootstrap")->capture_default_str();
  add_output_options(app, options->output);
  add_examples(app,
               {"probe infimm questions.jsonl --write-judge-prompts responses.jsonl -o prompts.jsonl",
                "probe infimm questions.jsonl --scores verdicts.jsonl --prompts prompts.jsonl",
                "probe infimm questions.jsonl --scores scores.csv --models models.csv"});
  return [options, command_line] {
    return show_report(run_infimm(*options, command_line), options->output);
  };
}

}  // namespace probe
