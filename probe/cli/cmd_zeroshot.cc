// probe zeroshot.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "analysis/choice_tables.h"
#include "analysis/zero_shot.h"
#include "probe/cli/commands.h"
#include "probe/cli/output.h"
#include "probe/cli/vectors.h"
#include "probe/core/error.h"

namespace probe {
namespace {

struct ZeroshotOptions {
  DataArguments data;
  EncoderArguments encoder;
  OutputOptions output;
  std::vector<std::string> templates;
  std::uint64_t seed = 0;
  int confusions = 10;
  bool encoder_given = false;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "\"" : ", \"") + word + "\"";
  return text;
}

// MLLMs differ between circular shifts; an encoder cannot, unless choices tie.
std::string shift_note(const std::vector<ChoiceOutcome>& outcomes) {
  const std::vector<Accuracy> shifts = accuracy_by_shift(outcomes);
  bool equal = true;
  std::string counts;
  for (const Accuracy& shift : shifts) {
    equal = equal && shift == shifts.front();
    counts += fmt::format("{}{}/{}", counts.empty() ? "" : ", ", shift.correct, shift.total);
  }
  return equal ? "circular shifts: the same accuracy at every shift, as it must be without ties"
               : "circular shifts: ties make them differ: " + counts;
}

Report run_zeroshot(const ZeroshotOptions& options) {
  Vectors vectors =
      load_vectors(options.data, options.encoder, options.encoder_given, options.output.quiet);
  const std::vector<std::string> names = choice_names(vectors.questions);
  const bool any = std::any_of(
      vectors.questions.begin(), vectors.questions.end(),
      [](const Question& question) { return question.type == QuestionType::choice; });
  if (!any) {
    throw Error(ErrorKind::usage, options.data.data.string() +
                                      ": expected choice questions (--questions FILE, or "
                                      "questions.jsonl beside the dataset), got none");
  }
  if (vectors.set.embedding.cols() == 0) {
    throw Error(ErrorKind::usage, "encoder " + vectors.set.provenance.encoder +
                                      " has no embedding: zero-shot scoring needs one");
  }
  const std::vector<std::string> templates = choose_templates(vectors, options.templates);
  const RowMatrix prompts = prompt_vectors(vectors, all_prompts(names, templates));
  const TextClassifier classifier =
      average_prompts(names, prompts, static_cast<int>(templates.size()));
  const std::vector<ChoiceOutcome> outcomes =
      score_choices(vectors.questions, row_by_id(vectors.set.items), vectors.set.embedding,
                    classifier);
  const ItemOutcomes grouped = group_outcomes(outcomes, vectors.set.items);

  Report report;
  report.command = "zeroshot";
  report.provenance = report_provenance(vectors.set.provenance);
  report.provenance["templates"] = joined(templates);
  report.provenance["seed"] = std::to_string(options.seed);
  report.provenance["command_line"] = options.encoder.command_line;
  report.tables.push_back(condition_table(grouped));
  Table drop = drop_table(paired_drops(grouped), options.seed);
  if (!drop.rows.empty()) report.tables.push_back(std::move(drop));
  report.tables.push_back(category_table(grouped));
  Table confusions = confusion_table(outcomes, vectors.questions, options.confusions);
  if (!confusions.rows.empty()) report.tables.push_back(std::move(confusions));
  report.notes.push_back("encoder " + vectors.set.provenance.encoder + " (" +
                         vectors.set.provenance.architecture + "), templates " +
                         joined(templates));
  report.notes.push_back(shift_note(outcomes));
  report.warnings = std::move(vectors.warnings);
  report.notes.insert(report.notes.end(), vectors.notes.begin(), vectors.notes.end());
  report.failures = std::move(vectors.failures);
  return report;
}

}  // namespace

Command add_zeroshot(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<ZeroshotOptions>();
  options->encoder.command_line = command_line;
  add_data_options(app, options->data, true);
  add_encoder_options(app, options->encoder);
  app.add_option("--template", options->templates,
                 "prompt template with {} for the name; repeat for an ensemble (default: the "
                 "bundle's)");
  app.add_option("--seed", options->seed, "of the bootstrap")->capture_default_str();
  app.add_option("--confusions", options->confusions, "rows of the confusion table")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  add_output_options(app, options->output);
  add_examples(app, {"probe zeroshot demo --encoder demo",
                     "probe zeroshot demo.h5 --questions demo/questions.jsonl",
                     "probe zeroshot nemo.tsv --encoder siglip --template 'a photo of a {}.' --json"});
  return [options, &app] {
    options->encoder_given = app.count("--encoder") > 0;
    return show_report(run_zeroshot(*options), options->output);
  };
}

}  // namespace probe
