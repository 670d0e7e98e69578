#include "probe/cli/common_options.h"

#include <CLI/CLI.hpp>

namespace probe {

void add_output_options(CLI::App& command, OutputOptions& options) {
  command.add_flag("--json", options.json, "print one JSON document (same as --format json)");
  command
      .add_option("--format", options.format, "text, json, csv, markdown or latex")
      ->check(CLI::IsMember({"text", "json", "csv", "markdown", "latex"}))
      ->capture_default_str();
  command.add_option("--tables,--tables-dir,--tables_dir", options.tables_dir,
                     "also write every table there as CSV, and result.json")
      ->type_name("DIR");
  command.add_flag("-q,--quiet", options.quiet, "no progress, no notes; only results and errors");
}

void add_encoder_dir_option(CLI::App& command, std::filesystem::path& folder) {
  command
      .add_option("--encoder-dir,--encoder_dir", folder,
                  "folder of bundles, searched before PROBE_ENCODERS, ~/.cache/probe/encoders "
                  "and the installed ones")
      ->type_name("DIR");
}

void add_encoder_options(CLI::App& command, EncoderArguments& options) {
  command.add_option("-e,--encoder", options.encoder, "name of a bundle, or its folder")
      ->capture_default_str();
  add_tower_options(command, options);
}

void add_tower_options(CLI::App& command, EncoderArguments& options) {
  add_encoder_dir_option(command, options.encoder_dir);
  command.add_option("--layer", options.layer,
                     "layer whose tokens are pooled (default: the bundle's match layer)");
  command
      .add_option_function<std::string>(
          "--pool",
          [&options](const std::string& value) {
            options.pool = value;
            options.pool_given = true;
          },
          "tokens that are averaged: patches (no CLS, as MLLMs do) or all")
      ->check(CLI::IsMember({"patches", "all"}))
      ->default_str(options.pool);
  add_runtime_options(command, options);
}

void add_runtime_options(CLI::App& command, EncoderArguments& options) {
  command.add_option("--device", options.device, "cpu, cuda or cuda:N")->capture_default_str();
  command
      .add_option_function<std::string>(
          "--dtype",
          [&options](const std::string& value) {
            options.dtype = value;
            options.dtype_given = true;
          },
          "arithmetic of the towers: float32 or bfloat16")
      ->check(CLI::IsMember({"float32", "bfloat16"}))
      ->default_str(options.dtype);
  command.add_option("--threads", options.threads, "threads of the towers (0: all cores)")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command
      .add_option("--batch-size,--batch_size", options.batch_size, "images encoded at a time")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
}

void add_data_options(CLI::App& command, DataArguments& options, bool accepts_file) {
  command
      .add_option("DATA", options.data,
                  accepts_file ? "dataset (folder, .jsonl, .tsv, .csv) or an embedding file (.h5)"
                               : "dataset (folder, .jsonl, .tsv, .csv)")
      ->required();
  add_questions_option(command, options);
  add_reading_options(command, options, accepts_file);
}

void add_questions_option(CLI::App& command, DataArguments& options) {
  command
      .add_option("--questions", options.questions,
                  "questions, JSON Lines (default: questions.jsonl beside the dataset)")
      ->type_name("FILE");
}

void add_reading_options(CLI::App& command, DataArguments& options, bool accepts_file) {
  command.add_flag("--allow-outside,--allow_outside", options.allow_outside,
                   "the dataset may name images outside its own folder");
  command.add_flag("--fail-fast,--fail_fast", options.fail_fast,
                   "stop at the first image that cannot be read");
  if (!accepts_file) return;  // `embed` keeps its own part file instead
  command.add_flag("--no-cache,--no_cache", options.no_cache,
                   "neither read nor write ~/.cache/probe/embeddings");
}

void add_examples(CLI::App& command, const std::vector<std::string>& examples) {
  std::string footer = "Examples:";
  for (const std::string& example : examples) footer += "\n  " + example;
  command.footer(footer);
}

EncoderOptions encoder_options(const EncoderArguments& arguments) {
  EncoderOptions options;
  options.device = arguments.device;
  options.dtype = arguments.dtype;
  options.layer = arguments.layer;
  options.include_prefix = arguments.pool == "all";
  options.threads = arguments.threads;
  options.batch_size = arguments.batch_size;
  return options;
}

}  // namespace probe
