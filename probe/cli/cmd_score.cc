// probe score.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/mllm_results.h"
#include "probe/cli/commands.h"
#include "probe/cli/output.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/manifest.h"
#include "probe/data/questions.h"
#include "probe/data/responses.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

struct ScoreOptions {
  fs::path responses, questions, items, synonyms, verdicts, undecided, answers;
  std::string model, command_line;
  bool verbose = false, pairs = false;
  OutputOptions output;
};

// A judge can decide what was said but not understood; silence and errors stay as they are.
bool is_undecided(const ScoredResponse& row) {
  return !row.judged && (row.extraction.reason == Unparsed::ambiguous ||
                         row.extraction.reason == Unparsed::no_match);
}

Json row_json(const ScoredResponse& row) {
  Json json = {{"model", row.model},
               {"question_id", row.question->id},
               {"type", question_type_name(row.question->type)},
               {"shift", row.shift}};
  if (row.question->type == QuestionType::open) {
    json["answer"] = row.question->answer_text;
  } else {
    json["choices"] = shown_choices(*row.question, row.shift);
  }
  json["response"] = row.text;
  return json;
}

std::string json_lines(const std::vector<Json>& lines) {
  std::string text;
  for (const Json& line : lines) {
    text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return text;
}

void export_undecided(const fs::path& path, const std::vector<ScoredResponse>& rows) {
  std::vector<Json> lines;
  for (const ScoredResponse& row : rows) {
    if (!is_undecided(row)) continue;
    Json json = row_json(row);
    json["reason"] = unparsed_name(row.extraction.reason);
    json["verdict"] = "";
    lines.push_back(std::move(json));
  }
  write_file_atomically(path, json_lines(lines));
}

std::string picked_text(const ScoredResponse& row) {
  if (row.extraction.choice < 0 || row.question->type == QuestionType::open) return "";
  return std::string(1, static_cast<char>('A' + row.extraction.choice));
}

void export_answers(const fs::path& path, const std::vector<ScoredResponse>& rows) {
  std::vector<Json> lines;
  for (const ScoredResponse& row : rows) {
    Json json = row_json(row);
    json["picked"] = picked_text(row);
    json["reason"] = unparsed_name(row.extraction.reason);
    json["rule"] = row.extraction.rule;
    json["judged"] = row.judged;
    json["correct"] = row.correct;
    lines.push_back(std::move(json));
  }
  write_file_atomically(path, json_lines(lines));
}

void add_notes(const Scoring& scoring, const ScoreOptions& options, Report& report) {
  report.notes.push_back(
      "a letter refers to the order shown: at shift s, position p shows choices[(p + s) mod c]");
  report.notes.push_back("unparsed responses count as wrong; nothing is guessed (docs/answers.md)");
  const auto undecided = std::count_if(scoring.rows.begin(), scoring.rows.end(), is_undecided);
  if (undecided > 0 && options.undecided.empty()) {
    report.notes.push_back(fmt::format(
        "{} responses could be decided by a judge; --export-undecided writes them", undecided));
  }
  if (scoring.idle_verdicts > 0) {
    report.warnings.push_back(fmt::format(
        "{} verdicts were not used: the rules had decided those responses", scoring.idle_verdicts));
  }
  if (options.items.empty()) {
    report.notes.push_back("without --items the conditions are unknown: all items in one group");
  }
}

Report run_score(const ScoreOptions& options) {
  ScoringInput input;
  input.questions = read_any_questions(options.questions);
  if (!options.items.empty()) {
    DatasetOptions dataset_options;
    dataset_options.without_questions = true;
    dataset_options.allow_outside = true;  // no image is opened
    Dataset dataset = read_dataset(options.items, dataset_options);
    dataset.questions = input.questions;
    check_questions(dataset, options.questions);
    for (const Item& item : dataset.items) input.condition[item.id] = item.condition;
  }
  if (!options.synonyms.empty()) input.synonyms = read_synonyms(options.synonyms);
  std::vector<JudgeVerdict> verdicts;
  if (!options.verdicts.empty()) verdicts = read_judge_verdicts(options.verdicts);
  const std::vector<Response> responses = read_responses(options.responses, options.model);
  Scoring scoring = score_responses(responses, verdicts, input);
  if (scoring.rows.empty()) {
    throw Error(ErrorKind::input, options.responses.string() +
                                      ": no response to a question of " + options.questions.string());
  }
  if (!options.undecided.empty()) export_undecided(options.undecided, scoring.rows);
  if (!options.answers.empty()) export_answers(options.answers, scoring.rows);
  if (options.verbose) {
    for (const ScoredResponse& row : scoring.rows) {
      fmt::print(stderr, "{} {} shift {}: {} ({})\n", printable(row.model),
                 printable(row.question->id), row.shift,
                 row.extraction.choice < 0 ? unparsed_name(row.extraction.reason)
                                           : picked_text(row),
                 row.extraction.rule);
    }
  }
  Report report;
  report.command = "score";
  report.provenance = {{"responses", options.responses.string()},
                       {"questions", options.questions.string()},
                       {"items", options.items.string()},
                       {"synonyms", options.synonyms.string()},
                       {"verdicts", options.verdicts.string()}};
  report.tables = {mllm_accuracy_table(scoring.rows), shift_table(scoring.rows),
                   position_table(scoring.rows), unparsed_table(scoring.rows)};
  if (options.pairs) report.tables.push_back(pair_table(scoring.rows));
  std::erase_if(report.tables, [](const Table& table) { return table.rows.empty(); });
  add_notes(scoring, options, report);
  for (const std::string& model : made_up_models(responses)) {
    report.warnings.push_back("responses of " + printable(model) +
                              " were made up for show: nothing was measured");
  }
  report.failures = std::move(scoring.failures);
  return report;
}

}  // namespace

Command add_score(CLI::App& app, const std::string&) {
  auto options = std::make_shared<ScoreOptions>();
  app.add_option("RESPONSES", options->responses,
                 "responses (.jsonl, .json, .csv, .tsv, .xlsx): model, question_id, type?, shift?, "
                 "response; or what VLMEvalKit or lmms-eval saved")
      ->required();
  app.add_option("--questions", options->questions,
                 "the questions: JSON Lines, or a table with index, A, B, ... (or options), answer")
      ->required()
      ->type_name("FILE");
  app.add_option("--items", options->items, "dataset, for original against modified");
  app.add_option("--model", options->model, "model of rows that do not name one");
  app.add_option("--synonyms", options->synonyms, "groups of words that mean the same, one a line");
  app.add_option("--verdicts", options->verdicts, "a judge's verdicts on undecided responses");
  app.add_option("--export-undecided,--export_undecided", options->undecided,
                 "write the undecided responses there, for a judge");
  app.add_option("--answers", options->answers, "write every response with what was read from it");
  app.add_flag("--pairs", options->pairs,
               "also count questions (1, 2), (3, 4), ... as pairs: right if both are");
  app.add_flag("-v,--verbose", options->verbose, "name the rule of each response on stderr");
  add_output_options(app, options->output);
  add_examples(app, {"probe score responses.jsonl --questions questions.jsonl --items items.jsonl",
                     "probe score out.tsv --model llava --questions q.jsonl --export-undecided u.jsonl",
                     "probe score samples_nemo.jsonl --model qwen --questions q.jsonl --items demo",
                     "probe score mmvp.csv --model llava --questions Questions.csv --pairs",
                     "probe score responses.csv --questions q.jsonl --verdicts u.jsonl --json"});
  return [options] { return show_report(run_score(*options), options->output); };
}

}  // namespace probe
