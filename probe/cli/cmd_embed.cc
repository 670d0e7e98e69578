// probe embed.
#include <CLI/CLI.hpp>
#include <iterator>
#include <memory>
#include <optional>

#include "probe/cli/commands.h"
#include "probe/cli/embedding_target.h"
#include "probe/cli/encoder_choice.h"
#include "probe/cli/features.h"
#include "probe/cli/finished_shard.h"
#include "probe/cli/output.h"
#include "probe/cli/vectors.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/manifest.h"
#include "probe/store/embedding_file.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

struct EmbedOptions {
  DataArguments data;
  EncoderArguments encoder;
  OutputOptions output;
  fs::path file;
  std::vector<std::string> templates;
  std::string store_dtype = "float32";
  std::string shard;  // "i/N"; empty: all
  bool tokens = false, restart = false, no_text = false;
};

// What the run made, or found made already.
struct Embedded {
  std::int64_t images = 0, failed = 0, embedding_dim = 0, token_width = 0, prompts = 0;
};

Table embedded_table(const EmbedOptions& options, const std::optional<Shard>& shard,
                     const Embedded& made) {
  Table table;
  table.name = "embedded";
  table.title = (shard ? "Shard " + shard_name(*shard) + " in " : "Embedded into ") +
                options.file.string();
  table.columns = {{"images", "images"},
                   {"failed", "failed"},
                   {"embedding_dim", "d"},
                   {"token_width", "w"},
                   {"prompts", "prompts"},
                   {"dtype", "stored as"},
                   {"megabytes", "MB"}};
  table.rows.push_back({count_cell(made.images), count_cell(made.failed),
                        count_cell(made.embedding_dim), count_cell(made.token_width),
                        count_cell(made.prompts), text_cell(options.store_dtype),
                        number_cell(static_cast<double>(fs::file_size(options.file)) / 1e6, 2)});
  return table;
}

// A finished shard: nothing is done, which is a success.
Report report_finished(const EmbedOptions& options, const FileSummary& found,
                       std::int64_t prompts) {
  Report report;
  report.command = "embed";
  Embedded made{found.items, static_cast<std::int64_t>(found.failed.size()), 0, 0, prompts};
  for (const StoredRows& rows : found.rows) {
    if (rows.name == "embedding") made.embedding_dim = rows.width;
    if (rows.name == "mean_tokens") made.token_width = rows.width;
  }
  report.tables.push_back(embedded_table(options, found.shard, made));
  report.notes.push_back(options.file.string() + ": shard " + shard_name(*found.shard) +
                         " is finished already; nothing was done");
  if (made.failed > 0) {
    report.warnings.push_back(options.file.string() + ": " + std::to_string(made.failed) +
                              " of its items have no vector, the first: " +
                              printable(found.failed.id.front()) + ": " +
                              printable(found.failed.reason.front()));
  }
  report.provenance = report_provenance(found.provenance);
  return report;
}

Report run_embed(const EmbedOptions& options) {
  check_embedding_target(options.file);
  std::optional<Shard> shard;
  if (!options.shard.empty()) shard = parse_shard(options.shard);
  EncoderSpec spec = choose_encoder(options.encoder, options.output.quiet);
  Dataset dataset =
      read_dataset(options.data.data, {options.data.questions, options.data.allow_outside});
  std::vector<std::string> prompts;
  if (spec.text && !options.no_text) {
    prompts = all_prompts(stored_names(dataset.questions, dataset.items),
                          options.templates.empty() ? spec.templates : options.templates);
  }
  std::int64_t first = 0;
  if (shard) {
    shard = make_shard(shard->index, shard->count, dataset.items, prompts);
    const ShardRange range = shard_range(*shard);
    dataset.items = {std::make_move_iterator(dataset.items.begin() + range.first),
                     std::make_move_iterator(dataset.items.begin() + range.last)};
    first = range.first;
    // Every shard would embed the same texts; one is enough.
    if (shard->index > 0) prompts.clear();
  }
  const LogPlace place{{}, options.file.string() + ".part", options.restart,
                       shard ? shard_json(*shard) : ""};
  FeatureSource source(std::move(spec), options.encoder, options.tokens, place,
                       options.output.quiet);
  if (shard && !options.restart) {
    const ShardPlan plan{*shard, dataset.items, source.provenance(), parse_stored_type(options.store_dtype),
                         options.tokens};
    if (const auto found = find_finished_shard(options.file, plan)) {
      return report_finished(options, *found, std::ssize(prompts));
    }
  }
  Report report;
  report.command = "embed";
  EmbeddingSet set = source.embed_items(dataset.items, options.data.fail_fast, report.failures);
  // A shard without a good image is still done, and the join needs to know.
  if (set.items.size() == 0 && !shard) {
    throw Error(ErrorKind::input,
                options.data.data.string() + ": none of its " +
                    std::to_string(dataset.items.size()) + " images could be used; the first: " +
                    report.failures.front().reason);
  }
  for (std::int64_t& position : set.failed.item) position += first;
  set.shard = shard;
  set.prompts = std::move(prompts);
  if (!set.prompts.empty()) {
    set.text_embedding = source.embed_texts(set.prompts, report.warnings);
  }
  write_embedding_file(set, options.file, {parse_stored_type(options.store_dtype)});
  source.remove_log();
  report.tables.push_back(embedded_table(
      options, shard,
      {std::ssize(set.items.id), std::ssize(report.failures), set.embedding.cols(),
       set.mean_tokens.cols(), std::ssize(set.prompts)}));
  report.provenance = report_provenance(set.provenance);
  return report;
}

}  // namespace

Command add_embed(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<EmbedOptions>();
  options->encoder.command_line = command_line;
  add_data_options(app, options->data, false);
  add_embedding_target(app, options->file);
  add_encoder_options(app, options->encoder);
  add_tile_options(app, options->encoder);
  app.add_option("--template", options->templates,
                 "prompt template with {} for the name; repeat for an ensemble (default: the "
                 "bundle's)");
  add_store_option(app, options->store_dtype);
  app.add_flag("--tokens", options->tokens, "store every token of the layer as well (large)");
  app.add_flag("--no-text,--no_text", options->no_text, "do not embed the questions' names and the categories");
  app.add_option("--shard", options->shard,
                 "embed only part i of N, counted from 0: N equal ranges of the dataset's items, "
                 "for `probe merge` to join; what is finished is not done again")
      ->type_name("i/N");
  app.add_flag("--restart", options->restart,
               "forget an unfinished run instead of resuming it, and a finished shard");
  add_output_options(app, options->output);
  add_examples(app, {"probe embed demo -o demo.h5",
                     "probe embed photos/ --encoder siglip --dtype bfloat16 -o photos.h5",
                     "probe embed items.jsonl --questions q.jsonl --store float16 -o items.h5",
                     "probe embed items.jsonl --shard 3/8 -o shards/items-3.h5"});
  return [options] { return show_report(run_embed(*options), options->output); };
}

}  // namespace probe
