// probe linear.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "analysis/classification_tables.h"
#include "analysis/splits.h"
#include "analysis/statistics.h"
#include "probe/cli/commands.h"
#include "probe/cli/embedding_target.h"
#include "probe/cli/linear_run.h"
#include "probe/cli/output.h"
#include "probe/cli/sources.h"
#include "probe/core/error.h"
#include "probe/core/item.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

struct LinearOptions {
  SourceArguments sources;
  OutputOptions output;
  std::string of = "embedding", c = "auto", train_on = "originals";
  LinearSettings settings;
  SplitRule split;
  int confusions = 10, errors = 10, figure_classes = 40;
  bool predictions = false;
};

// What is trained on and what is tested, of one or two sources.
struct Plan {
  const ItemColumns* train_items = nullptr;
  const RowMatrix* train_vectors = nullptr;
  const ItemColumns* test_items = nullptr;
  const RowMatrix* test_vectors = nullptr;
  std::vector<Split> splits;
};

void check_same_encoder(const Source& train, const Source& test, Representation representation) {
  const Provenance &a = train.vectors.set.provenance, &b = test.vectors.set.provenance;
  const bool tokens = representation == Representation::mean_tokens;
  const auto check = [&](const char* what, const std::string& expected, const std::string& got) {
    if (expected == got) return;
    throw Error(ErrorKind::input, test.path.string() + ": expected the same " + what + " as " +
                                      train.path.string() + " (" + printable(expected) +
                                      "), got " + printable(got));
  };
  check("encoder", a.encoder, b.encoder);
  check("bundle", a.bundle_sha256, b.bundle_sha256);
  check("preprocessing", a.preprocessing, b.preprocessing);
  check("tiles", a.tiles, b.tiles);
  if (tokens) check("layer", a.layer, b.layer);
  if (tokens) check("pooling", a.pooling, b.pooling);
}

// Two sources: the whole of one and the whole of the other, less pictures that are in both.
Split split_of_two(const ItemColumns& train, const ItemColumns& test, bool train_on_all,
                   const std::string& test_name, std::vector<std::string>& warnings) {
  Split split;
  std::set<std::string> contents, ids;
  for (std::int64_t row = 0; row < std::ssize(train.id); ++row) {
    if (train.category[row].empty()) continue;
    if (!train_on_all && train.condition[row] != kOriginal) continue;
    split.train.push_back(row);
    contents.insert(train.content_sha256[row]);
    ids.insert(train.id[row]);
  }
  contents.erase("");
  std::int64_t same = 0, twins = 0;
  for (std::int64_t row = 0; row < std::ssize(test.id); ++row) {
    if (test.category[row].empty()) continue;
    if (contents.contains(test.content_sha256[row])) {
      ++same;
      continue;
    }
    twins += ids.contains(test.original_id[row]) ? 1 : 0;
    split.test.push_back(row);
  }
  if (same > 0) {
    warnings.push_back(fmt::format("{} test images are training images as well (same content) and "
                                   "are left out of the test",
                                   same));
  }
  if (twins > 0) {
    warnings.push_back(fmt::format("{} test images were made from training images: their accuracy "
                                   "is that of seen objects",
                                   twins));
  }
  if (split.test.empty() && same > 0) {
    throw Error(ErrorKind::input, test_name + ": expected images to test that are not trained "
                                              "on, got none");
  }
  return split;
}

Plan make_plan(const LinearOptions& options, const std::vector<Source>& sources,
               Representation representation, std::vector<std::string>& warnings) {
  Plan plan;
  plan.train_items = &sources.front().vectors.set.items;
  plan.train_vectors = &sources.front().rows(representation);
  plan.test_items = &sources.back().vectors.set.items;
  plan.test_vectors = &sources.back().rows(representation);
  if (sources.size() == 1) {
    plan.splits = split_items(*plan.train_items, options.split);
  } else {
    check_same_encoder(sources.front(), sources.back(), representation);
    if (sources.front().vectors.set.provenance.bundle_sha256 == kUnknown) {
      warnings.push_back("both files were imported: that one encoder made them is taken on trust");
    }
    plan.splits = {split_of_two(*plan.train_items, *plan.test_items, options.split.train_on_all,
                                sources.back().path.string(), warnings)};
  }
  for (const ItemColumns* items : std::set{plan.train_items, plan.test_items}) {
    const auto none = std::count(items->category.begin(), items->category.end(), "");
    if (none > 0) {
      warnings.push_back(fmt::format("{} items without a category were left out", none));
    }
  }
  return plan;
}

// Categories of all training rows: the classes.
std::vector<std::string> trained_classes(const Plan& plan) {
  std::set<std::string> names;
  for (const Split& split : plan.splits) {
    for (const std::int64_t row : split.train) names.insert(plan.train_items->category[row]);
  }
  return {names.begin(), names.end()};
}

LabelledRows labelled(const ItemColumns& items, const RowMatrix& vectors,
                      const std::vector<std::int64_t>& rows,
                      const std::map<std::string, int>& class_of) {
  LabelledRows labelled;
  labelled.rows = rows;
  for (const std::int64_t row : rows) labelled.classes.push_back(class_of.at(items.category[row]));
  labelled.vectors = unit_rows(rows_of(vectors, rows));
  return labelled;
}

// Rows of every split run and put together.
struct Totals {
  std::vector<LinearMethod> methods;
  std::vector<double> cs;
  std::vector<SweepPoint> sweep;          // of the first split
  std::int64_t trained = 0;               // images, mean over the splits
  std::map<std::string, std::int64_t> unseen;  // test images of classes that were not trained
  std::set<std::string> troubles;
};

Totals run_splits(const Plan& plan, const std::vector<std::string>& classes,
                  const LinearSettings& settings) {
  std::map<std::string, int> class_of;
  for (const std::string& name : classes) {
    class_of.emplace(name, static_cast<int>(class_of.size()));
  }
  const std::vector<std::int64_t> groups = item_groups(*plan.train_items);
  Totals totals;
  for (const Split& split : plan.splits) {
    LabelledRows train = labelled(*plan.train_items, *plan.train_vectors, split.train, class_of);
    for (const std::int64_t row : split.train) train.groups.push_back(groups[row]);
    const std::set<int> seen(train.classes.begin(), train.classes.end());
    std::vector<std::int64_t> tested;
    for (const std::int64_t row : split.test) {
      const std::string& category = plan.test_items->category[row];
      const auto it = class_of.find(category);
      if (it != class_of.end() && seen.contains(it->second)) {
        tested.push_back(row);
      } else {
        ++totals.unseen[category];
      }
    }
    totals.trained += std::ssize(split.train);
    if (tested.empty()) continue;
    const LinearResult result =
        run_linear_probe(train, labelled(*plan.test_items, *plan.test_vectors, tested, class_of),
                         static_cast<int>(classes.size()), settings);
    totals.cs.push_back(result.c);
    if (totals.sweep.empty()) totals.sweep = result.sweep;
    if (!result.trouble.empty()) totals.troubles.insert(result.trouble);
    if (totals.methods.empty()) totals.methods.resize(result.methods.size());
    for (std::size_t m = 0; m < result.methods.size(); ++m) {
      totals.methods[m].name = result.methods[m].name;
      totals.methods[m].outcomes.insert(totals.methods[m].outcomes.end(),
                                        result.methods[m].outcomes.begin(),
                                        result.methods[m].outcomes.end());
    }
  }
  totals.trained /= std::ssize(plan.splits);
  return totals;
}

Table summary_table(const Totals& totals, const ItemColumns& items,
                    const std::vector<std::string>& classes) {
  Table table;
  table.name = "linear_summary";
  table.title = "Probes of frozen vectors";
  table.columns = {{"method", "method"}, {"condition", "condition"}};
  for (Column& column : summary_columns(classes.size())) {
    table.columns.push_back(std::move(column));
  }
  for (const LinearMethod& method : totals.methods) {
    std::set<std::string> modified;
    for (const ClassOutcome& outcome : method.outcomes) {
      if (items.condition[outcome.row] != kOriginal) modified.insert(items.condition[outcome.row]);
    }
    const auto add = [&](const std::string& name, const auto& use) {
      std::vector<const ClassOutcome*> some;
      for (const ClassOutcome& outcome : method.outcomes) {
        if (use(items.condition[outcome.row])) some.push_back(&outcome);
      }
      if (some.empty()) return;
      std::vector<Cell> row{text_cell(method.name), text_cell(name)};
      for (Cell& cell : summary_cells(some, classes.size())) row.push_back(std::move(cell));
      table.rows.push_back(std::move(row));
    };
    add(kOriginal, [](const std::string& condition) { return condition == kOriginal; });
    for (const std::string& name : modified) {
      add(name, [&](const std::string& condition) { return condition == name; });
    }
    if (modified.size() > 1) {
      add("modified", [](const std::string& condition) { return condition != kOriginal; });
    }
  }
  return table;
}

Table sweep_table(const Totals& totals) {
  Table table;
  table.name = "linear_sweep";
  table.title = "C on images held out of the training";
  table.columns = {{"c", "C"}, {"accuracy_percent", "accuracy %"}, {"loss", "cross-entropy"}};
  for (const SweepPoint& point : totals.sweep) {
    table.rows.push_back({text_cell(fmt::format("{:.3g}", point.c)),
                          number_cell(100 * point.accuracy, 1), number_cell(point.loss, 4)});
  }
  return table;
}

void add_notes(const LinearOptions& options, const Plan& plan, const Totals& totals,
               Report& report) {
  const auto [smallest, largest] = std::minmax_element(totals.cs.begin(), totals.cs.end());
  report.provenance["c"] = *smallest == *largest
                               ? fmt::format("{:.6g}", *smallest)
                               : fmt::format("{:.6g} to {:.6g}", *smallest, *largest);
  report.notes.push_back(fmt::format(
      "trained on {} images{}, unit vectors ({}); logistic regression with L2, C = {}{}",
      totals.trained, plan.splits.size() > 1 ? " a fold" : "", options.of,
      report.provenance["c"], totals.sweep.empty() ? "" : " (chosen on images held out)"));
  report.notes.push_back(fmt::format(
      "kNN as in DINOv2: cosine, votes weighed by exp(cosine / {:g})", options.settings.temperature));
  for (const int k : options.settings.ks) {
    if (k > totals.trained) {
      report.warnings.push_back(fmt::format("{}-NN: there are only {} training images, and all of "
                                            "them vote",
                                            k, totals.trained));
    }
  }
  for (const auto& [name, count] : totals.unseen) {
    report.warnings.push_back(fmt::format("{} test images of \"{}\" are left out: none is trained on",
                                          count, printable(name)));
  }
  for (const std::string& trouble : totals.troubles) {
    report.warnings.push_back("logistic regression: " + trouble + "; see --max-iterations, --c");
  }
}

double parse_c(const std::string& text) {
  if (text == "auto") return 0.0;
  try {
    std::size_t used = 0;
    const double c = std::stod(text, &used);
    if (used == text.size() && c > 0 && c < 1e300) return c;
  } catch (const std::exception&) {
  }
  throw Error(ErrorKind::usage, "--c: expected a positive number or auto, got " + text);
}

Report run_linear(LinearOptions options) {
  const Representation representation = parse_representation(options.of);
  options.settings.c = parse_c(options.c);
  options.settings.seed = options.split.seed;
  options.split.train_on_all = options.train_on == "all";
  options.sources.common.without_questions = true;
  if (options.sources.encoders.size() > 1 || options.sources.data.size() > 2) {
    throw Error(ErrorKind::usage, "linear: expected TRAIN TEST, or one source to split, of one "
                                  "encoder");
  }
  std::vector<Source> sources =
      load_sources(options.sources, parts_of(representation), options.output.quiet);
  Report report;
  report.command = "linear";
  const Plan plan = make_plan(options, sources, representation, report.warnings);
  const std::vector<std::string> classes = trained_classes(plan);
  if (classes.size() < 2) {
    throw Error(ErrorKind::input,
                fmt::format("linear: expected images of two classes or more to train on, got {}{}",
                            classes.size(), classes.empty() ? "" : " (" + printable(classes[0]) + ")"));
  }
  const Totals totals = run_splits(plan, classes, options.settings);
  if (totals.methods.empty()) {
    throw Error(ErrorKind::input,
                "linear: expected images to test whose class is trained on, got none");
  }
  add_source_remarks(sources, report);
  report.provenance["of"] = options.of;
  report.provenance["seed"] = std::to_string(options.split.seed);
  report.provenance["train_on"] = options.train_on;
  report.provenance["split"] =
      sources.size() > 1 ? "two sources"
      : options.split.folds > 0
          ? fmt::format("{} folds", options.split.folds)
          : fmt::format("{:g} of each class to train", options.split.train_fraction);
  report.provenance["command_line"] = options.sources.encoder.command_line;
  add_notes(options, plan, totals, report);
  report.tables.push_back(summary_table(totals, *plan.test_items, classes));
  if (!totals.sweep.empty()) report.tables.push_back(sweep_table(totals));
  const Classification result{*plan.test_items, classes, totals.methods.front().outcomes, "linear",
                              "Logistic regression"};
  const ConfusionCounts counts = class_confusions(result);
  for (Table table : {class_table(result),
                      confusion_pairs(counts, "linear_confusions", options.confusions),
                      class_error_table(result, options.errors)}) {
    if (!table.rows.empty()) report.tables.push_back(std::move(table));
  }
  if (options.predictions) report.tables.push_back(class_prediction_table(result));
  report.figures.push_back(
      confusion_heatmap(counts, "linear_confusion_matrix", options.figure_classes));
  return report;
}

}  // namespace

Command add_linear(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<LinearOptions>();
  options->sources.encoder.command_line = command_line;
  add_source_options(app, options->sources,
                     "TRAIN TEST: embedding files (or datasets) of one encoder; or one of them, "
                     "which is split");
  add_representation_option(app, options->of);
  app.add_option("--train-fraction,--train_fraction", options->split.train_fraction,
                 "one source: share of each class that is trained on")
      ->check(CLI::Range(0.01, 0.99))
      ->capture_default_str();
  app.add_option("--folds", options->split.folds,
                 "one source: cross-validate instead; every image is tested once")
      ->check(CLI::Range(2, 1000));
  app.add_option("--train-on,--train_on", options->train_on,
                 "originals, or all: modified images too")
      ->check(CLI::IsMember({"originals", "all"}))
      ->capture_default_str();
  app.add_option("--c", options->c,
                 "inverse strength of the L2 penalty, or auto: the best on a tenth of the training "
                 "images, held out")
      ->capture_default_str();
  app.add_option("--sweep", options->settings.sweep,
                 "values that --c auto tries from 1e-6 to 1e5 (DINOv2: 45)")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  app.add_option("--max-iterations,--max_iterations", options->settings.max_iterations,
                 "of each fit")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--k", options->settings.ks, "neighbours that vote; several give several rows")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--temperature", options->settings.temperature, "of the neighbours' votes")
      ->check(CLI::Range(1e-3, 1e3))
      ->capture_default_str();
  app.add_option("--seed", options->split.seed, "of the splits")->capture_default_str();
  add_mistake_options(app, options->confusions, options->errors);
  app.add_flag("--predictions", options->predictions, "a table of every tested image");
  add_output_options(app, options->output);
  add_examples(app, {"probe linear train.h5 test.h5",
                     "probe linear demo.h5 --train-fraction 0.5 --seed 1",
                     "probe linear photos.h5 --folds 5 --of mean-tokens --c 10 --k 10,20,100",
                     "probe linear photos/ --encoder siglip --json"});
  return [options] { return show_report(run_linear(*options), options->output); };
}

}  // namespace probe
