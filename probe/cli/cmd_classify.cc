// probe classify.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <set>

#include "analysis/classification_tables.h"
#include "probe/cli/class_vectors.h"
#include "probe/cli/commands.h"
#include "probe/cli/output.h"
#include "probe/cli/vectors.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/class_labels.h"

namespace probe {
namespace {

struct ClassifyOptions {
  DataArguments data;
  EncoderArguments encoder;
  OutputOptions output;
  std::vector<std::string> templates;
  std::filesystem::path labels;
  int confusions = 10, errors = 10, figure_classes = 40;
  bool predictions = false, encoder_given = false;
};

// The classes asked for: those of the file, else the categories that occur.
std::vector<ClassLabel> classes_of(const ClassifyOptions& options, const ItemColumns& items) {
  std::vector<ClassLabel> labels;
  if (!options.labels.empty()) {
    labels = read_class_labels(options.labels);
  } else {
    const std::set<std::string> categories(items.category.begin(), items.category.end());
    for (const std::string& name : categories) {
      if (!name.empty()) labels.push_back({name, {name}});
    }
  }
  if (labels.size() < 2) {
    throw Error(ErrorKind::input,
                fmt::format("classify: expected two classes or more ({}), got {}",
                            options.labels.empty() ? "the items' categories, or --labels FILE"
                                                   : options.labels.string(),
                            labels.size()));
  }
  return labels;
}

// Each item's class, or -1 where it has none of them; those are counted in `warnings`.
std::vector<int> answers_of(const ItemColumns& items, const std::vector<ClassLabel>& labels,
                            std::vector<std::string>& warnings) {
  std::map<std::string, int> class_of;
  for (const ClassLabel& label : labels) {
    class_of.emplace(label.name, static_cast<int>(class_of.size()));
  }
  std::vector<int> answers;
  std::set<std::string> unknown;
  std::int64_t without = 0, outside = 0;
  for (const std::string& category : items.category) {
    const auto it = class_of.find(category);
    answers.push_back(it == class_of.end() ? -1 : it->second);
    if (category.empty()) {
      ++without;
    } else if (it == class_of.end()) {
      ++outside;
      unknown.insert(category);
    }
  }
  if (without > 0) {
    warnings.push_back(fmt::format("{} items without a category were left out", without));
  }
  if (outside > 0) {
    warnings.push_back(fmt::format("{} items of {} categories that are no class were left out, "
                                   "e.g. {}",
                                   outside, unknown.size(), printable(*unknown.begin())));
  }
  if (without + outside == std::ssize(items.id)) {
    throw Error(ErrorKind::input,
                fmt::format("classify: expected items of the {} classes, got none among {} items",
                            labels.size(), items.size()));
  }
  return answers;
}

Report run_classify(ClassifyOptions options) {
  options.data.without_questions = true;
  Vectors vectors = load_vectors(options.data, options.encoder, options.encoder_given,
                                 options.output.quiet, {true, false, false, true});
  require_embedding(vectors.set);
  const ItemColumns& items = vectors.set.items;
  const std::vector<ClassLabel> labels = classes_of(options, items);
  const std::vector<int> answers = answers_of(items, labels, vectors.warnings);
  const std::vector<std::string> templates = choose_templates(vectors, options.templates);
  const TextClassifier classifier =
      ensemble_classifier(embed_classes(vectors, labels, templates));
  const std::vector<ClassOutcome> outcomes =
      classify_images(vectors.set.embedding, classifier, answers);
  const Classification result{items, classifier.names, outcomes, "classify",
                              fmt::format("Zero-shot over {} classes", labels.size())};
  Report report;
  report.command = "classify";
  report.provenance = report_provenance(vectors.set.provenance);
  report.provenance["templates"] = quoted_list(templates);
  report.provenance["classes"] = std::to_string(labels.size());
  report.provenance["labels"] =
      options.labels.empty() ? "categories of the items" : options.labels.string();
  report.provenance["command_line"] = options.encoder.command_line;
  report.tables.push_back(class_condition_table(result));
  report.tables.push_back(class_table(result));
  const ConfusionCounts counts = class_confusions(result);
  for (Table table : {confusion_pairs(counts, "classify_confusions", options.confusions),
                      class_error_table(result, options.errors)}) {
    if (!table.rows.empty()) report.tables.push_back(std::move(table));
  }
  if (options.predictions) report.tables.push_back(class_prediction_table(result));
  report.figures.push_back(
      confusion_heatmap(counts, "classify_confusion_matrix", options.figure_classes));
  report.figures.push_back(
      confusion_chord(counts, "classify_confusion_chord", options.figure_classes));
  report.notes.push_back("encoder " + vectors.set.provenance.encoder + " (" +
                         vectors.set.provenance.architecture + "), templates " +
                         quoted_list(templates));
  report.notes.push_back(
      "a class is the normalised mean of its normalised prompts (every name in every template); "
      "ties go to the class that stands first and are counted");
  report.warnings = std::move(vectors.warnings);
  report.notes.insert(report.notes.end(), vectors.notes.begin(), vectors.notes.end());
  report.failures = std::move(vectors.failures);
  return report;
}

}  // namespace

Command add_classify(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<ClassifyOptions>();
  options->encoder.command_line = command_line;
  app.add_option("DATA", options->data.data,
                 "dataset (folder, .jsonl, .tsv, .csv) or an embedding file (.h5)")
      ->required();
  add_reading_options(app, options->data, true);
  add_encoder_options(app, options->encoder);
  app.add_option("--labels", options->labels,
                 "the classes: one a line, or class<TAB>name|name, or JSON {\"class\": [names]} "
                 "(default: the items' categories)")
      ->type_name("FILE");
  app.add_option("--template", options->templates,
                 "prompt template with {} for the name; repeat for an ensemble (default: the "
                 "bundle's)");
  add_mistake_options(app, options->confusions, options->errors);
  app.add_option("--figure-classes,--figure_classes", options->figure_classes,
                 "most confused classes that the figures show")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  app.add_flag("--predictions", options->predictions, "a table of every item's best classes");
  add_output_options(app, options->output);
  add_examples(app, {"probe classify demo --encoder demo",
                     "probe classify photos.h5 --labels classes.txt --json",
                     "probe classify nemo.tsv --encoder siglip --labels names.json --template "
                     "'a photo of a {}.'"});
  return [options, &app] {
    options->encoder_given = app.count("--encoder") > 0;
    return show_report(run_classify(*options), options->output);
  };
}

}  // namespace probe
