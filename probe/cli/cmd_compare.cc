// probe compare.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "analysis/comparison.h"
#include "analysis/nemo_analyses.h"
#include "analysis/published_figures.h"
#include "analysis/zero_shot.h"
#include "probe/cli/commands.h"
#include "probe/cli/compare_responses.h"
#include "probe/cli/matching.h"
#include "probe/cli/output.h"
#include "probe/cli/sources.h"
#include "probe/cli/vectors.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/delimited.h"
#include "probe/data/manifest.h"
#include "probe/store/embedding_file.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

struct CompareOptions {
  std::vector<fs::path> data;
  DataArguments common;           // questions and switches; `data` is set for each source
  EncoderArguments encoder;
  std::vector<std::string> encoders;
  ResponseArguments responses;
  OutputOptions output;
  std::vector<std::string> templates;
  fs::path published;
  std::string of = "mean-tokens";  // of matching
  int k = 5;
  std::uint64_t seed = 0;
};

// What all sides are compared on: items and questions of the first source.
struct Ground {
  ItemColumns items;
  std::vector<Question> questions;
  bool known = false;
};

struct Evaluation {
  std::vector<EncoderResult> results;
  std::vector<Subject> subjects;
};

std::optional<MatchScore> match_score(const ItemColumns& items, const RowMatrix& vectors,
                                      MatchMode mode, int k) {
  const MatchPlan plan = plan_matching(items, mode, false);
  if (plan.queries.empty() || plan.gallery.empty()) return std::nullopt;
  return score_matches(match_images(items, rows_in_memory(vectors), mode, false, k, true).matches, items, k);
}

// Scores stay unknown, with a warning, for a tower that lacks the vectors of --of.
void match_source(const EmbeddingSet& set, const CompareOptions& options, EncoderResult& result,
                  Report& report) {
  const bool embedding = parse_representation(options.of) == Representation::embedding;
  const RowMatrix& vectors = embedding ? set.embedding : set.mean_tokens;
  if (vectors.cols() == 0) {
    report.warnings.push_back("matching of " + printable(result.name) + " stays unknown: it has no " +
                              (embedding ? "embedding; --of mean-tokens" : "mean tokens; --of embedding") +
                              " matches by the others");
    return;
  }
  require_directions(set.items, vectors, result.name);
  result.o2o = match_score(set.items, vectors, MatchMode::o2o, options.k);
  result.a2o = match_score(set.items, vectors, MatchMode::a2o, options.k);
}

TextClassifier classifier_of(Vectors& vectors, const CompareOptions& options,
                             const std::vector<std::string>& names) {
  const std::vector<std::string> templates = choose_templates(vectors, options.templates);
  return average_prompts(names, prompt_vectors(vectors, all_prompts(names, templates)),
                         static_cast<int>(templates.size()));
}

// Open questions by classification; empty if the encoder's texts cannot be had here.
std::map<std::string, std::string> answer_open(Vectors& vectors, const CompareOptions& options,
                                               const std::set<std::string>& names,
                                               Report& report) {
  if (names.empty()) return {};
  try {
    return nearest_names(vectors.set.items, vectors.set.embedding,
                         classifier_of(vectors, options, {names.begin(), names.end()}));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input || vectors.source) throw;
    report.warnings.push_back("open questions of " + vectors.set.provenance.encoder +
                              " stay unknown: " + error.what());
    return {};
  }
}

void answer_questions(Vectors& vectors, const CompareOptions& options, const Ground& ground,
                      const std::set<std::string>& open_names, EncoderResult& result,
                      Evaluation& all, Report& report) {
  std::vector<ChoiceOutcome> outcomes;
  std::map<std::string, std::string> nearest;
  const std::vector<std::string> names = choice_names(vectors.questions);
  const ItemColumns& items = vectors.set.items;
  const std::map<std::string, int> rows = row_by_id(items);
  if (vectors.set.embedding.cols() > 0) {
    if (!names.empty()) {
      outcomes = score_choices(vectors.questions, rows, vectors.set.embedding,
                               classifier_of(vectors, options, names));
    }
    nearest = answer_open(vectors, options, open_names, report);
  }
  for (const ChoiceOutcome& outcome : outcomes) {
    const Side side = side_of(items.condition[rows.at(outcome.item_id)]);
    if (side == Side::synthetic_original) continue;
    (side == Side::original ? result.choice_original
                            : result.choice_modified)[outcome.question_id] = outcome.correct();
  }
  all.subjects.push_back(
      encoder_subject(result.name, outcomes, nearest, ground.questions, ground.items));
}

// One source and one encoder become one row, and one subject.
void evaluate(const CompareOptions& options, const ResponseFiles& files, const fs::path& data,
              const std::string& encoder, Ground& ground, Evaluation& all, Report& report) {
  DataArguments source = options.common;
  source.data = data;
  EncoderArguments arguments = options.encoder;
  arguments.encoder = encoder;
  Vectors vectors = load_vectors(source, arguments, !encoder.empty(), options.output.quiet);
  std::set<std::string> open_names;  // of all open questions, asked or not
  for (const Question& question : vectors.questions) {
    if (question.type == QuestionType::open) open_names.insert(question.answer_text);
  }
  if (files.asked) {
    std::erase_if(vectors.questions,
                  [&](const Question& q) { return !files.asked->contains(q.id); });
  }
  if (!ground.known) {
    const std::map<std::string, int> rows = row_by_id(vectors.set.items);
    ground.known = true;
    ground.items = vectors.set.items;
    ground.questions = vectors.questions;
    // Questions about images that could not be read have no side to compare with.
    std::erase_if(ground.questions,
                  [&](const Question& q) { return !rows.contains(q.item_id); });
  }
  EncoderResult result;
  result.name = vectors.set.provenance.encoder;
  result.architecture = vectors.set.provenance.architecture;
  for (std::size_t i = 0; i < vectors.set.items.size(); ++i) {
    result.items.push_back(vectors.set.items.id[i] + " " + vectors.set.items.content_sha256[i]);
  }
  std::sort(result.items.begin(), result.items.end());
  answer_questions(vectors, options, ground, open_names, result, all, report);
  match_source(vectors.set, options, result, report);
  for (const auto& [field, value] : report_provenance(vectors.set.provenance)) {
    report.provenance[result.name + "." + field] = value;
  }
  report.warnings.insert(report.warnings.end(), vectors.warnings.begin(), vectors.warnings.end());
  for (Failure& failure : vectors.failures) {
    failure.id = result.name + ": " + failure.id;
    report.failures.push_back(std::move(failure));
  }
  all.results.push_back(std::move(result));
}

Evaluation evaluate_all(const CompareOptions& options, const ResponseFiles& files, Ground& ground,
                        Report& report) {
  Evaluation all;
  for (const fs::path& data : options.data) {
    const bool file = is_hdf5_file(data) || data.extension() == ".h5";
    if (file && !options.encoders.empty()) {
      throw Error(ErrorKind::usage, data.string() +
                                        ": an embedding file names its own encoder; leave out "
                                        "--encoder");
    }
    std::vector<std::string> encoders = options.encoders;
    if (encoders.empty()) encoders.push_back(file ? "" : "demo");
    for (const std::string& encoder : encoders) {
      evaluate(options, files, data, encoder, ground, all, report);
    }
  }
  std::set<std::string> names;
  for (const EncoderResult& result : all.results) {
    if (!names.insert(result.name).second) {
      throw Error(ErrorKind::usage, "compare: encoder " + result.name + " stands twice");
    }
  }
  return all;
}

// Ids of the questions file that are about items which are not here.
std::set<std::string> ids_elsewhere(const CompareOptions& options, const Ground& ground) {
  std::set<std::string> ids;
  if (options.common.questions.empty() || options.responses.responses.empty()) return ids;
  for (const Question& question : read_any_questions(options.common.questions)) {
    ids.insert(question.id);
  }
  for (const Question& question : ground.questions) ids.erase(question.id);
  return ids;
}

void add_published(const fs::path& path, Report& report) {
  const DelimitedTable table = read_table_file(path);
  std::vector<std::vector<std::string>> rows;
  for (const DelimitedRow& row : table.rows) rows.push_back(row.fields);
  const std::vector<PublishedScore> scores = parse_published(table.header, rows, path.string());
  report.tables.push_back(published_table(scores));
  for (Figure& figure : published_figures(scores)) report.figures.push_back(std::move(figure));
}

Report run_compare(const CompareOptions& options) {
  Report report;
  report.command = "compare";
  const ResponseFiles files = read_response_files(options.responses);  // before any image
  Ground ground;
  Evaluation all = evaluate_all(options, files, ground, report);
  ModelAnswers models =
      score_models(files, ground.questions, ids_elsewhere(options, ground), ground.items, report);
  report.tables.push_back(comparison_table(all.results, options.k));
  report.tables.push_back(paired_table(all.results, options.seed));
  std::vector<Subject> subjects = std::move(all.subjects);
  std::move(models.subjects.begin(), models.subjects.end(), std::back_inserter(subjects));
  add_nemo_analyses({subjects, models.variants, all.results, files.models, ground.items,
                     options.k, options.seed},
                    report);
  std::erase_if(report.tables, [](const Table& table) { return table.rows.empty(); });
  if (!options.published.empty()) add_published(options.published, report);
  report.provenance["seed"] = std::to_string(options.seed);
  report.provenance["k"] = std::to_string(options.k);
  report.provenance["command_line"] = options.encoder.command_line;
  report.provenance["of"] = options.of;
  report.notes.push_back(std::string("matching: ") +
                         (options.of == "embedding" ? "embeddings" : "mean tokens") +
                         ", the query and a twin's source image left out");
  if (files.asked) {
    report.notes.push_back(std::to_string(ground.questions.size()) +
                           " questions that some model was asked; the others are left out, for "
                           "encoders too");
  }
  return report;
}

}  // namespace

Command add_compare(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<CompareOptions>();
  options->encoder.command_line = command_line;
  app.add_option("DATA", options->data,
                 "a dataset (embedded with each --encoder), or embedding files of the same items")
      ->required();
  app.add_option("-e,--encoder", options->encoders, "encoder to compare; repeat for several");
  add_encoder_dir_option(app, options->encoder.encoder_dir);
  app.add_option("--questions", options->common.questions,
                 "questions, JSON Lines (default: questions.jsonl beside the data)")
      ->type_name("FILE");
  app.add_option("--responses", options->responses.responses,
                 "MLLM responses to the same questions (.jsonl, .csv, .tsv), as for probe score; "
                 "several files may follow")
      ->type_name("FILE");
  app.add_option("--models", options->responses.models,
                 "what the MLLMs are: CSV with model, family, encoder, llm, llm_size_b (10^9), "
                 "tower; empty cells are unknown")
      ->type_name("FILE");
  app.add_flag("--asked-only,--asked_only", options->responses.asked_only,
               "leave out questions that no model was asked, for encoders too");
  app.add_option("--open-prompt,--open_prompt", options->responses.open_prompts,
                 "responses to the open questions under another wording, for Table G; repeat")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  app.add_option("--synonyms", options->responses.synonyms,
                 "groups of words that mean the same, one a line");
  app.add_option("--verdicts", options->responses.verdicts,
                 "a judge's verdicts on undecided responses");
  app.add_option("--published", options->published,
                 "published MLLM scores, CSV in the columns of NEMO's Table 2; shown in a panel "
                 "of their own")
      ->type_name("FILE");
  app.add_option("--template", options->templates, "prompt template (default: each bundle's)");
  add_representation_option(app, options->of);
  app.add_option("--k", options->k, "neighbours that count in matching")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--seed", options->seed, "of the bootstrap")->capture_default_str();
  add_runtime_options(app, options->encoder);
  add_tile_options(app, options->encoder);
  app.add_flag("--allow-outside,--allow_outside", options->common.allow_outside,
               "the dataset may name images outside its own folder");
  app.add_flag("--fail-fast,--fail_fast", options->common.fail_fast,
               "stop at the first image that cannot be read");
  app.add_flag("--no-cache,--no_cache", options->common.no_cache,
               "neither read nor write the cache");
  add_output_options(app, options->output);
  add_examples(app, {"probe compare demo --responses demo/sample_responses.jsonl --models "
                     "demo/sample_models.csv --asked-only --published demo/nemo_table2.csv",
                     "probe compare clip.h5 --questions q.jsonl --responses llava.jsonl internvl.jsonl "
                     "--models models.csv",
                     "probe compare nemo.tsv --encoder clip --encoder siglip --encoder eva",
                     "probe compare clip.h5 siglip.h5 --questions questions.jsonl --json"});
  return [options] { return show_report(run_compare(*options), options->output); };
}

}  // namespace probe
