// The items of vectors that were made elsewhere: which row is what.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "probe/core/embedding_set.h"

namespace probe {

struct ItemList {
  ItemColumns columns;
  std::vector<std::string> notes;  // what was passed over or assumed, in words
};

// Reads `path` by what it is; rows stand in the order of the vectors.
//
// .csv, .tsv, .xlsx with a column id: also path, category, condition, original_id,
//   attribute, content_sha256 (what `probe export` writes) are taken; a column row must
//   count from 0; other columns are passed over and named in a note.
// .jsonl, .json of objects without an image: the same names as fields, others are refused.
// A dataset as read_dataset accepts it (manifest.h); images are not read.
// Any other file: an id a line.
//
// What is not given is "", but for the condition: an item that names none is an original,
// as in a dataset. Throws Error(input) with file and line for an empty id or one that
// stands twice, and for .parquet, which needs Python; as read_dataset does.
ItemList read_item_columns(const std::filesystem::path& path);

// Texts, one a line, blank lines passed over. Throws Error(input) if there is none, or one
// stands twice.
std::vector<std::string> read_prompt_lines(const std::filesystem::path& path);

}  // namespace probe
