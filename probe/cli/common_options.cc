#include "probe/cli/common_options.h"

#include <CLI/CLI.hpp>
#include <charconv>

#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

// "336x672,672x336": height x width, as in Hugging Face's image_grid_pinpoints.
std::vector<PixelSize> parse_pinpoints(const std::string& text) {
  std::vector<PixelSize> pinpoints;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto side = [&](int& value) {
    const auto [stop, code] = std::from_chars(at, end, value);
    const bool good = code == std::errc() && value > 0 && value <= 1 << 20;
    at = stop;
    return good;
  };
  while (true) {
    PixelSize size;
    bool good = side(size.height) && at < end && *at++ == 'x' && side(size.width);
    if (good && at < end) good = *at++ == ',';
    if (!good || (at == end && text.ends_with(','))) {
      throw Error(ErrorKind::usage,
                  "--grid-pinpoints: expected HEIGHTxWIDTH,HEIGHTxWIDTH,..., got \"" +
                      printable(text) + "\"");
    }
    pinpoints.push_back(size);
    if (at == end) return pinpoints;
  }
}

}  // namespace

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
  command.add_flag("--fast-decode,--fast_decode", options.fast_decode,
                   "decode large JPEGs at a half, a quarter or an eighth of their size, never below twice "
                   "the tower's: faster, and other vectors (cosine above 0.99)");
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
          "arithmetic of the towers: float32, bfloat16, or auto: the faster here")
      ->check(CLI::IsMember({"float32", "bfloat16", "auto"}))
      ->default_str(options.dtype);
  command
      .add_option("--runtime", options.runtime,
                  "fused: the towers' graphs rewritten for this CPU; plain: as they were exported")
      ->check(CLI::IsMember({"fused", "plain"}))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "threads of the towers (0: all cores)")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command
      .add_option("--batch-size,--batch_size", options.batch_size, "most pictures (images, or their tiles) that a thread encodes at a time")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
}

void add_tile_options(CLI::App& command, EncoderArguments& options) {
  command
      .add_option("--tiles", options.tiles,
                  "what is pooled of an image: whole (default), anyres (LLaVA-NeXT: the image "
                  "and its tiles, without padding) or dynamic (InternVL2: tiles and thumbnail)")
      ->check(CLI::IsMember({"whole", "anyres", "dynamic"}));
  command
      .add_option("--grid-pinpoints,--grid_pinpoints", options.grid_pinpoints,
                  "anyres: canvases HEIGHTxWIDTH,... in order of preference (default: "
                  "LLaVA-NeXT's five, in multiples of the tower's size)")
      ->type_name("LIST");
  command
      .add_option("--max-tiles,--max_tiles", options.max_tiles,
                  "dynamic: most tiles, without the thumbnail (default 12)")
      ->check(CLI::Range(1, kMostTiles));
  command.add_option("--min-tiles,--min_tiles", options.min_tiles, "dynamic: fewest (default 1)")
      ->check(CLI::Range(1, kMostTiles));
  command
      .add_option("--pixel-shuffle,--pixel_shuffle", options.pixel_shuffle,
                  "join 2 x 2 patches before the mean, as InternVL does (0.5): the mean is four "
                  "times as wide")
      ->check(CLI::IsMember({"0.5"}));
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
                   accepts_file ? "the dataset may name images, and a virtual embedding file "
                                  "its parts, outside its own folder"
                                : "the dataset may name images outside its own folder");
  command.add_flag("--fail-fast,--fail_fast", options.fail_fast,
                   "stop at the first image that cannot be read");
  if (!accepts_file) return;  // `embed` keeps its own part file instead
  command.add_flag("--no-cache,--no_cache", options.no_cache,
                   "neither read nor write ~/.cache/probe/embeddings");
}

void add_mistake_options(CLI::App& command, int& confusions, int& errors) {
  command.add_option("--confusions", confusions, "rows of the confusion table")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  command.add_option("--errors", errors, "rows of the table of mistakes")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
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
  options.runtime = arguments.runtime;
  options.layer = arguments.layer;
  options.include_prefix = arguments.pool == "all";
  options.threads = arguments.threads;
  options.batch_size = arguments.batch_size;
  return options;
}

TileOptions tile_options(const EncoderArguments& arguments) {
  const auto only_with = [&](const char* option, const char* scheme) {
    if (arguments.tiles == scheme) return;
    throw Error(ErrorKind::usage, std::string(option) + ": expected --tiles " + scheme +
                                      ", got --tiles " +
                                      (arguments.tiles.empty() ? "whole" : arguments.tiles));
  };
  TileOptions options;
  if (arguments.tiles == "anyres") options.scheme = TileScheme::anyres;
  if (arguments.tiles == "dynamic") options.scheme = TileScheme::dynamic;
  if (!arguments.grid_pinpoints.empty()) {
    only_with("--grid-pinpoints", "anyres");
    options.pinpoints = parse_pinpoints(arguments.grid_pinpoints);
  }
  if (arguments.max_tiles > 0) {
    only_with("--max-tiles", "dynamic");
    options.max_tiles = arguments.max_tiles;
  }
  if (arguments.min_tiles > 0) {
    only_with("--min-tiles", "dynamic");
    options.min_tiles = arguments.min_tiles;
  }
  if (options.min_tiles > options.max_tiles) {
    throw Error(ErrorKind::usage, "--min-tiles: expected at most --max-tiles " +
                                      std::to_string(options.max_tiles) + ", got " +
                                      std::to_string(options.min_tiles));
  }
  if (!arguments.pixel_shuffle.empty()) options.shuffle = 2;
  return options;
}

}  // namespace probe
