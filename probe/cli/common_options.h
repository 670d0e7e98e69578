// Options that several commands share, declared once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "encoders/tiles.h"

namespace CLI {
class App;
}

namespace probe {

// How results are shown.
struct OutputOptions {
  bool json = false;
  bool quiet = false;               // nothing but results and errors
  std::string format = "text";      // text, json, csv, markdown, latex
  std::filesystem::path tables_dir;  // empty: do not write files
};

// Which encoder, and how it runs.
struct EncoderArguments {
  std::string encoder = "demo";
  std::filesystem::path encoder_dir;
  std::string device = "cpu";
  std::string dtype = "float32";
  std::string runtime = "fused";
  std::string layer;
  std::string pool = "patches";  // "patches" (no CLS) or "all"
  int threads = 0;
  int batch_size = 8;
  bool fast_decode = false;
  // Empty or 0: not given.
  std::string tiles, grid_pinpoints, pixel_shuffle;
  int min_tiles = 0, max_tiles = 0;
  bool pool_given = false, dtype_given = false;  // set by the parser
  std::string command_line;  // what the user typed, for provenance; set by run_cli
};

// Where images and questions come from.
struct DataArguments {
  std::filesystem::path data;       // dataset or embedding file
  std::filesystem::path questions;
  bool allow_outside = false;
  bool fail_fast = false;
  bool no_cache = false;
  bool without_questions = false;  // set by commands that ask none
};

void add_output_options(CLI::App& command, OutputOptions& options);
void add_encoder_options(CLI::App& command, EncoderArguments& options);
// The same without --encoder, for commands that take several.
void add_tower_options(CLI::App& command, EncoderArguments& options);
void add_encoder_dir_option(CLI::App& command, std::filesystem::path& folder);
// Device, dtype, threads and batch size; part of add_tower_options.
void add_runtime_options(CLI::App& command, EncoderArguments& options);
// How images are cut into tiles: for the commands that pool tokens.
void add_tile_options(CLI::App& command, EncoderArguments& options);
// `accepts_file`: an embedding file does as well as a dataset.
void add_data_options(CLI::App& command, DataArguments& options, bool accepts_file);
void add_questions_option(CLI::App& command, DataArguments& options);
// The switches of add_data_options, without DATA and --questions.
void add_reading_options(CLI::App& command, DataArguments& options, bool accepts_file);

// Rows of the tables of what was taken for what: --confusions, --errors.
void add_mistake_options(CLI::App& command, int& confusions, int& errors);

// Adds the last part of a command's help.
void add_examples(CLI::App& command, const std::vector<std::string>& examples);

EncoderOptions encoder_options(const EncoderArguments& arguments);

// Throws Error(usage) for an option that its scheme does not have, or that cannot be read.
TileOptions tile_options(const EncoderArguments& arguments);

}  // namespace probe
