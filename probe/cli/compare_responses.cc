#include "probe/cli/compare_responses.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/delimited.h"
#include "probe/data/responses.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

std::vector<ModelFacts> read_models(const fs::path& path) {
  const DelimitedTable table = read_table_file(path);
  std::vector<std::vector<std::string>> rows;
  for (const DelimitedRow& row : table.rows) rows.push_back(row.fields);
  return parse_models(table.header, rows, path.string());
}

// Each file is free of doubles by itself; two files must not answer the same either.
void check_doubles(const std::vector<Response>& responses) {
  std::map<std::tuple<std::string, std::string, int>, std::string> seen;
  for (const Response& r : responses) {
    const auto [it, is_new] = seen.emplace(std::tuple{r.model, r.question_id, r.shift}, r.where);
    if (is_new) continue;
    throw Error(ErrorKind::input, r.where + ": model \"" + printable(r.model) +
                                      "\" answers question \"" + printable(r.question_id) +
                                      "\" at shift " + std::to_string(r.shift) + " as in " +
                                      it->second);
  }
}

std::pair<std::string, std::vector<Response>> read_prompt(const std::string& argument) {
  const std::size_t at = argument.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == argument.size()) {
    throw Error(ErrorKind::usage,
                "--open-prompt: expected NAME=FILE, got \"" + printable(argument) + "\"");
  }
  return {argument.substr(0, at), read_responses(argument.substr(at + 1), "")};
}

// What is absent counts as wrong, so it is said aloud.
void warn_of_missing(const std::vector<ScoredResponse>& rows, const std::string& of,
                     Report& report) {
  std::map<std::string, std::pair<int, int>> counts;  // missing, expected
  for (const ScoredResponse& row : rows) {
    auto& pair = counts[row.model];
    pair.first += row.extraction.reason == Unparsed::missing ? 1 : 0;
    ++pair.second;
  }
  for (const auto& [model, pair] : counts) {
    if (pair.first == 0) continue;
    report.warnings.push_back(
        fmt::format("{}{}: {} of {} expected responses are missing and count as wrong"
                    "{}",
                    printable(model), of, pair.first, pair.second,
                    of.empty() ? " (--asked-only leaves out questions that nobody was asked)" : ""));
  }
}

std::vector<Subject> score(const std::vector<Response>& responses,
                           const std::vector<JudgeVerdict>& verdicts, const ResponseFiles& files,
                           const std::vector<Question>& questions,
                           const std::set<std::string>& passed_over, const ItemColumns& items,
                           const std::string& of, Report& report) {
  std::vector<Response> here;
  for (const Response& response : responses) {
    if (!passed_over.contains(response.question_id)) here.push_back(response);
  }
  if (here.size() < responses.size()) {
    report.warnings.push_back(
        fmt::format("{} responses{} to questions about items that are not here were passed over",
                    responses.size() - here.size(), of));
  }
  // The caller's questions outlive the results; the scorer's copy would not.
  const ScoringInput input{questions, {}, files.synonyms};
  Scoring scoring = score_responses(here, verdicts, input);
  std::map<std::string, const Question*> own;
  for (const Question& question : questions) own.emplace(question.id, &question);
  for (ScoredResponse& row : scoring.rows) row.question = own.at(row.question->id);
  warn_of_missing(scoring.rows, of, report);
  if (scoring.idle_verdicts > 0) {
    report.warnings.push_back(fmt::format(
        "{} verdicts were not used: the rules had decided those responses", scoring.idle_verdicts));
  }
  report.failures.insert(report.failures.end(), scoring.failures.begin(), scoring.failures.end());
  if (scoring.rows.empty()) {
    throw Error(ErrorKind::input, responses.front().where + ": no response to a question of the data");
  }
  return mllm_subjects(scoring.rows, items, files.models, files.made_up);
}

}  // namespace

ResponseFiles read_response_files(const ResponseArguments& arguments) {
  ResponseFiles files;
  if (arguments.responses.empty()) {
    for (const auto& [given, option] :
         {std::pair{!arguments.synonyms.empty(), "--synonyms"},
          {!arguments.verdicts.empty(), "--verdicts"},
          {!arguments.open_prompts.empty(), "--open-prompt"},
          {arguments.asked_only, "--asked-only"}}) {
      if (given) throw Error(ErrorKind::usage, std::string(option) + ": needs --responses");
    }
  }
  if (!arguments.models.empty()) files.models = read_models(arguments.models);
  for (const fs::path& path : arguments.responses) {
    std::vector<Response> more = read_responses(path, "");
    files.responses.insert(files.responses.end(), more.begin(), more.end());
  }
  check_doubles(files.responses);
  files.made_up = made_up_models(files.responses);
  for (const std::string& argument : arguments.open_prompts) {
    files.prompts.push_back(read_prompt(argument));
    files.made_up.merge(made_up_models(files.prompts.back().second));
  }
  if (!arguments.synonyms.empty()) files.synonyms = read_synonyms(arguments.synonyms);
  if (!arguments.verdicts.empty()) files.verdicts = read_judge_verdicts(arguments.verdicts);
  if (arguments.asked_only) {
    files.asked.emplace();
    for (const Response& response : files.responses) files.asked->insert(response.question_id);
  }
  return files;
}

ModelAnswers score_models(const ResponseFiles& files, const std::vector<Question>& questions,
                          const std::set<std::string>& passed_over, const ItemColumns& items,
                          Report& report) {
  ModelAnswers answers;
  if (files.responses.empty()) return answers;
  answers.subjects = score(files.responses, files.verdicts, files, questions, passed_over, items,
                           "", report);
  for (const auto& [name, responses] : files.prompts) {
    answers.variants.push_back({name, score(responses, {}, files, questions, passed_over, items,
                                            " (" + name + ")", report)});
  }
  for (const std::string& model : files.made_up) {
    report.warnings.push_back("responses of " + printable(model) +
                              " were made up for show: nothing was measured");
  }
  return answers;
}

}  // namespace probe
