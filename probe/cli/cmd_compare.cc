// probe compare.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>

#include "analysis/comparison.h"
#include "analysis/published_scores.h"
#include "analysis/zero_shot.h"
#include "probe/cli/commands.h"
#include "probe/cli/matching.h"
#include "probe/cli/output.h"
#include "probe/cli/vectors.h"
#include "probe/core/error.h"
#include "probe/data/delimited.h"
#include "probe/store/embedding_file.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

struct CompareOptions {
  std::vector<fs::path> data;
  DataArguments common;           // questions and switches; `data` is set for each source
  EncoderArguments encoder;
  std::vector<std::string> encoders;
  OutputOptions output;
  std::vector<std::string> templates;
  fs::path published;
  int k = 5;
  std::uint64_t seed = 0;
};

// Choice answers of one encoder, or nothing if it has no embedding or no questions.
void add_choices(Vectors& vectors, const CompareOptions& options, EncoderResult& result) {
  const std::vector<std::string> names = choice_names(vectors.questions);
  if (names.empty() || vectors.set.embedding.cols() == 0) return;
  const std::vector<std::string> templates = choose_templates(vectors, options.templates);
  const TextClassifier classifier =
      average_prompts(names, prompt_vectors(vectors, all_prompts(names, templates)),
                      static_cast<int>(templates.size()));
  const std::map<std::string, int> rows = row_by_id(vectors.set.items);
  for (const ChoiceOutcome& outcome :
       score_choices(vectors.questions, rows, vectors.set.embedding, classifier)) {
    const bool original = vectors.set.items.condition[rows.at(outcome.item_id)] == kOriginal;
    (original ? result.choice_original : result.choice_modified)[outcome.question_id] =
        outcome.correct();
  }
}

std::optional<MatchScore> match_score(const EmbeddingSet& set, MatchMode mode, int k) {
  const MatchPlan plan = plan_matching(set.items, mode, false);
  if (plan.queries.empty() || plan.gallery.empty() || set.mean_tokens.cols() == 0) {
    return std::nullopt;
  }
  return score_matches(match_images(set, mode, false, k).matches, set.items, k);
}

// One source and one encoder become one row.
EncoderResult evaluate(const CompareOptions& options, const fs::path& data,
                       const std::string& encoder, Report& report) {
  DataArguments source = options.common;
  source.data = data;
  EncoderArguments arguments = options.encoder;
  arguments.encoder = encoder;
  Vectors vectors = load_vectors(source, arguments, !encoder.empty(), options.output.quiet);
  EncoderResult result;
  result.name = vectors.set.provenance.encoder;
  result.architecture = vectors.set.provenance.architecture;
  for (std::size_t i = 0; i < vectors.set.items.size(); ++i) {
    result.items.push_back(vectors.set.items.id[i] + " " + vectors.set.items.content_sha256[i]);
  }
  std::sort(result.items.begin(), result.items.end());
  add_choices(vectors, options, result);
  result.o2o = match_score(vectors.set, MatchMode::o2o, options.k);
  result.a2o = match_score(vectors.set, MatchMode::a2o, options.k);
  for (const auto& [field, value] : report_provenance(vectors.set.provenance)) {
    report.provenance[result.name + "." + field] = value;
  }
  report.warnings.insert(report.warnings.end(), vectors.warnings.begin(), vectors.warnings.end());
  for (Failure& failure : vectors.failures) {
    failure.id = result.name + ": " + failure.id;
    report.failures.push_back(std::move(failure));
  }
  return result;
}

Table read_published(const fs::path& path) {
  const DelimitedTable table = read_delimited(path, path.extension() == ".tsv" ? '\t' : ',');
  std::vector<std::vector<std::string>> rows;
  for (const DelimitedRow& row : table.rows) rows.push_back(row.fields);
  return published_table(parse_published(table.header, rows, path.string()));
}

Report run_compare(const CompareOptions& options) {
  Report report;
  report.command = "compare";
  std::vector<EncoderResult> results;
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
      results.push_back(evaluate(options, data, encoder, report));
    }
  }
  std::set<std::string> names;
  for (const EncoderResult& result : results) {
    if (!names.insert(result.name).second) {
      throw Error(ErrorKind::usage, "compare: encoder " + result.name + " stands twice");
    }
  }
  report.tables.push_back(comparison_table(results, options.k));
  Table paired = paired_table(results, options.seed);
  if (!paired.rows.empty()) report.tables.push_back(std::move(paired));
  if (!options.published.empty()) report.tables.push_back(read_published(options.published));
  report.provenance["seed"] = std::to_string(options.seed);
  report.provenance["k"] = std::to_string(options.k);
  report.provenance["command_line"] = options.encoder.command_line;
  report.notes.push_back("matching: mean tokens, the query and a twin's source image left out");
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
  app.add_option("--published", options->published,
                 "published MLLM scores, CSV in the columns of NEMO's Table 2; shown in a panel "
                 "of their own")
      ->type_name("FILE");
  app.add_option("--template", options->templates, "prompt template (default: each bundle's)");
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
  add_examples(app, {"probe compare demo --encoder demo --published demo/nemo_table2.csv",
                     "probe compare nemo.tsv --encoder clip --encoder siglip --encoder eva",
                     "probe compare clip.h5 siglip.h5 --questions questions.jsonl --json"});
  return [options] { return show_report(run_compare(*options), options->output); };
}

}  // namespace probe
