// probe embed.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "probe/cli/commands.h"
#include "probe/cli/embedding_target.h"
#include "probe/cli/encoder_choice.h"
#include "probe/cli/features.h"
#include "probe/cli/output.h"
#include "probe/cli/vectors.h"
#include "probe/core/error.h"
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
  bool tokens = false, restart = false, no_text = false;
};

Report run_embed(const EmbedOptions& options) {
  check_embedding_target(options.file);
  EncoderSpec spec = choose_encoder(options.encoder, options.output.quiet);
  const Dataset dataset =
      read_dataset(options.data.data, {options.data.questions, options.data.allow_outside});
  const fs::path part = options.file.string() + ".part";
  FeatureSource source(std::move(spec), options.encoder, options.tokens,
                       {{}, part, options.restart}, options.output.quiet);
  Report report;
  report.command = "embed";
  EmbeddingSet set = source.embed_items(dataset.items, options.data.fail_fast, report.failures);
  if (set.items.size() == 0) {
    throw Error(ErrorKind::input,
                options.data.data.string() + ": none of its " +
                    std::to_string(dataset.items.size()) + " images could be used; the first: " +
                    report.failures.front().reason);
  }
  if (source.spec().text && !options.no_text) {
    const std::vector<std::string>& templates =
        options.templates.empty() ? source.spec().templates : options.templates;
    set.prompts = all_prompts(stored_names(dataset.questions, dataset.items), templates);
    set.text_embedding = source.embed_texts(set.prompts, report.warnings);
  }
  const StoredType type =
      options.store_dtype == "float16" ? StoredType::float16 : StoredType::float32;
  write_embedding_file(set, options.file, {type});
  source.remove_log();

  Table table;
  table.name = "embedded";
  table.title = "Embedded into " + options.file.string();
  table.columns = {{"images", "images"},
                   {"failed", "failed"},
                   {"embedding_dim", "d"},
                   {"token_width", "w"},
                   {"prompts", "prompts"},
                   {"dtype", "stored as"},
                   {"megabytes", "MB"}};
  table.rows.push_back({count_cell(std::ssize(set.items.id)),
                        count_cell(std::ssize(report.failures)),
                        count_cell(set.embedding.cols()), count_cell(set.mean_tokens.cols()),
                        count_cell(std::ssize(set.prompts)), text_cell(options.store_dtype),
                        number_cell(static_cast<double>(fs::file_size(options.file)) / 1e6, 2)});
  report.tables.push_back(std::move(table));
  report.provenance = report_provenance(set.provenance);
  return report;
}

}  // namespace

Command add_embed(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<EmbedOptions>();
  options->encoder.command_line = command_line;
  add_data_options(app, options->data, false);
  app.add_option("-o,--output", options->file, "embedding file to write (FORMAT.md)")
      ->required()
      ->type_name("FILE.h5");
  add_encoder_options(app, options->encoder);
  add_tile_options(app, options->encoder);
  app.add_option("--template", options->templates,
                 "prompt template with {} for the name; repeat for an ensemble (default: the "
                 "bundle's)");
  app.add_option("--store", options->store_dtype, "type of the stored vectors")
      ->check(CLI::IsMember({"float32", "float16"}))
      ->capture_default_str();
  app.add_flag("--tokens", options->tokens, "store every token of the layer as well (large)");
  app.add_flag("--no-text,--no_text", options->no_text, "do not embed the questions' names and the categories");
  app.add_flag("--restart", options->restart, "forget an unfinished run instead of resuming it");
  add_output_options(app, options->output);
  add_examples(app, {"probe embed demo -o demo.h5",
                     "probe embed photos/ --encoder siglip --dtype bfloat16 -o photos.h5",
                     "probe embed items.jsonl --questions q.jsonl --store float16 -o items.h5"});
  return [options] { return show_report(run_embed(*options), options->output); };
}

}  // namespace probe
