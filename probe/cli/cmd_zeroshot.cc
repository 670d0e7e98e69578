// probe zeroshot.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "analysis/calibration.h"
#include "analysis/choice_details.h"
#include "analysis/choice_tables.h"
#include "analysis/rejection.h"
#include "analysis/zero_shot.h"
#include "probe/cli/class_vectors.h"
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
  std::filesystem::path labels;
  std::uint64_t seed = 0;
  int confusions = 10, errors = 10, figure_names = 40;
  bool compare_templates = false, predictions = false, encoder_given = false;
};

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

// Throws unless there is something to answer and something to answer with.
void check_input(const Vectors& vectors, const ZeroshotOptions& options) {
  const bool any = std::any_of(
      vectors.questions.begin(), vectors.questions.end(),
      [](const Question& question) { return question.type == QuestionType::choice; });
  if (!any) {
    throw Error(ErrorKind::usage, options.data.data.string() +
                                      ": expected choice questions (--questions FILE, or "
                                      "questions.jsonl beside the dataset), got none");
  }
  require_embedding(vectors.set);
}

Table compare_templates(const Vectors& vectors, const ClassPrompts& prompts,
                        const std::vector<ChoiceOutcome>& ensemble) {
  if (prompts.templates.size() < 2) {
    throw Error(ErrorKind::usage, "--compare-templates: expected two --template or more, got " +
                                      quoted_list(prompts.templates) + " alone");
  }
  const std::map<std::string, int> rows = row_by_id(vectors.set.items);
  std::vector<TemplateOutcomes> entries;
  for (std::size_t t = 0; t < prompts.templates.size(); ++t) {
    entries.push_back({prompts.templates[t],
                       score_choices(vectors.questions, rows, vectors.set.embedding,
                                     template_classifier(prompts, t))});
  }
  entries.push_back({fmt::format("ensemble of {}", prompts.templates.size()), ensemble});
  return template_table(entries, vectors.set.items);
}

void add_calibration(const ChoiceDetails& details, Report& report) {
  std::optional<Calibration> calibration;
  if (details.model) calibration = calibrate(choice_confidences(details.outcomes, *details.model));
  report.tables.push_back(calibration_table(calibration, details.model));
  if (!calibration || calibration->accuracy.total == 0) return;
  report.tables.push_back(reliability_table(*calibration));
  report.figures.push_back(reliability_figure(*calibration));
}

void add_rejection(const Vectors& vectors, const TextClassifier& classifier, Report& report) {
  const std::vector<ListedScores> scores =
      score_listed(vectors.questions, row_by_id(vectors.set.items), vectors.set.embedding,
                   classifier);
  const bool unsolvable =
      std::any_of(scores.begin(), scores.end(), [](const auto& s) { return !s.answerable(); });
  if (unsolvable) {
    report.tables.push_back(rejection_table(scores));
    report.tables.push_back(rejection_sweep(scores));
  }
  report.tables.push_back(risk_table(scores));
  report.figures.push_back(risk_figure(scores));
}

Report run_zeroshot(const ZeroshotOptions& options) {
  Vectors vectors =
      load_vectors(options.data, options.encoder, options.encoder_given, options.output.quiet);
  check_input(vectors, options);
  const std::vector<std::string> templates = choose_templates(vectors, options.templates);
  const ClassPrompts prompts = embed_classes(
      vectors, named_classes(choice_names(vectors.questions), options.labels), templates);
  const TextClassifier classifier = ensemble_classifier(prompts);
  const ItemColumns& items = vectors.set.items;
  const std::vector<ChoiceOutcome> outcomes = score_choices(
      vectors.questions, row_by_id(items), vectors.set.embedding, classifier);
  const ItemOutcomes grouped = group_outcomes(outcomes, items);
  const ChoiceDetails details{items, vectors.questions, outcomes, probability_model(vectors)};

  Report report;
  report.command = "zeroshot";
  report.provenance = report_provenance(vectors.set.provenance);
  report.provenance["templates"] = quoted_list(templates);
  report.provenance["seed"] = std::to_string(options.seed);
  if (!options.labels.empty()) report.provenance["labels"] = options.labels.string();
  report.provenance["command_line"] = options.encoder.command_line;
  const auto add = [&](Table table) {
    if (!table.rows.empty()) report.tables.push_back(std::move(table));
  };
  add(condition_table(grouped));
  add(drop_table(paired_drops(grouped), options.seed));
  if (options.compare_templates) add(compare_templates(vectors, prompts, outcomes));
  add(category_table(grouped));
  add(attribute_table(grouped));
  add(confusion_table(outcomes, vectors.questions, options.confusions));
  add_calibration(details, report);
  add_rejection(vectors, classifier, report);
  add(choice_error_table(details, options.errors));
  if (options.predictions) add(choice_prediction_table(details));
  const ConfusionCounts counts = choice_confusions(outcomes, vectors.questions);
  report.figures.push_back(
      confusion_heatmap(counts, "choice_confusion_matrix", options.figure_names));
  report.figures.push_back(
      confusion_chord(counts, "choice_confusion_chord", options.figure_names));
  report.notes.push_back("encoder " + vectors.set.provenance.encoder + " (" +
                         vectors.set.provenance.architecture + "), templates " +
                         quoted_list(templates));
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
  app.add_flag("--compare-templates,--compare_templates", options->compare_templates,
               "also every template alone, beside their ensemble");
  app.add_option("--labels", options->labels,
                 "other names of the choices: choice<TAB>name|name, or JSON {\"choice\": "
                 "[names]}; a choice is then the mean of its names")
      ->type_name("FILE");
  app.add_option("--seed", options->seed, "of the bootstrap")->capture_default_str();
  app.add_option("--confusions", options->confusions, "rows of the confusion table")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  app.add_option("--errors", options->errors, "rows of the table of mistakes")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--figure-names,--figure_names", options->figure_names,
                 "most confused names that the figures show")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  app.add_flag("--predictions", options->predictions,
               "a table of every question: picked, answer, probability");
  add_output_options(app, options->output);
  add_examples(app, {"probe zeroshot demo --encoder demo",
                     "probe zeroshot demo --template '{}' --template 'a photo of a {}.' "
                     "--compare-templates",
                     "probe zeroshot demo.h5 --questions demo/questions.jsonl",
                     "probe zeroshot nemo.tsv --encoder siglip --template 'a photo of a {}.' --json"});
  return [options, &app] {
    options->encoder_given = app.count("--encoder") > 0;
    return show_report(run_zeroshot(*options), options->output);
  };
}

}  // namespace probe
