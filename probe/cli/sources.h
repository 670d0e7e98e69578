// Several encoders on the same items: embedding files, or a dataset and several --encoder.
// What `similarity`, `match` and `linear` start from.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/table.h"
#include "probe/cli/common_options.h"
#include "probe/cli/vectors.h"

namespace probe {

struct SourceArguments {
  std::vector<std::filesystem::path> data;
  std::vector<std::string> encoders;  // empty: each file's own; of a dataset the demo encoder
  DataArguments common;               // switches; its `data` is set for each source
  EncoderArguments encoder;           // layer, pool, device, ...
};

// Declares DATA..., --encoder (repeatable) and what add_tower_options and
// add_reading_options declare. `data_help` explains DATA.
void add_source_options(CLI::App& command, SourceArguments& arguments,
                        const std::string& data_help);

// Which vectors of an item: `--of embedding|mean-tokens`.
enum class Representation { embedding, mean_tokens };
void add_representation_option(CLI::App& command, std::string& of);
Representation parse_representation(const std::string& of);
// What to read of a file for it: nothing else, no texts.
ReadOptions parts_of(Representation representation);

// One encoder's vectors of a source.
struct Source {
  std::string label;  // of tables: the encoder, with layer or file where that is not enough
  std::filesystem::path path;
  Vectors vectors;

  // Throws Error(input) if they are not there, or a vector is zero: names the item.
  const RowMatrix& rows(Representation representation) const;
  // Gives their memory back.
  void release(Representation representation);
};

// Every file, and every dataset with every encoder. Throws Error(usage) if --encoder is
// given for files only.
std::vector<Source> load_sources(const SourceArguments& arguments, const ReadOptions& parts,
                                 bool quiet);

// Moves the sources' warnings, notes, failures and provenance into the report; failures
// and provenance are prefixed with the label if there are several.
void add_source_remarks(std::vector<Source>& sources, Report& report);

// The items that all sources hold, by id and content hash.
struct CommonItems {
  ItemColumns items;                            // in the order of the first source
  std::vector<std::vector<std::int64_t>> rows;  // per source: its row of each common item
  std::vector<std::string> warnings;            // how many were left out, and why
};

// An item whose content hash is unknown on one side is joined by its id alone.
CommonItems join_items(const std::vector<Source>& sources);

RowMatrix rows_of(const RowMatrix& all, const std::vector<std::int64_t>& rows);

}  // namespace probe
