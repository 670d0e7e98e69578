// Datasets in the three shapes of DESIGN.md section 6: a JSON Lines manifest, a TSV as
// VLMEvalKit writes it, and a folder with one sub-folder per class.
#pragma once

#include <filesystem>
#include <vector>

#include "probe/core/item.h"

namespace probe {

struct DatasetOptions {
  std::filesystem::path questions;  // empty: "questions.jsonl" beside the manifest, if any
  bool allow_outside = false;       // image paths may leave the manifest's folder
  bool without_questions = false;   // do not look for a file of questions
};

// Reads `path` by what it is: folder, *.jsonl / *.json, *.tsv, *.csv.
//
// JSON Lines: {"id","image","category","condition","original_id","attribute",
//   "choices","answer"}; only id and image are required, others are refused. With
//   choices, an item carries its own choice question, called "<id>:choice".
// TSV / CSV: columns index, image (base64, the index of an earlier row, or a path) or
//   image_path, question, A..D..., answer (a letter), category, and if you like condition,
//   original_id and attribute. The answer's text
//   becomes the category if there is no such column.
// Folder: one sub-folder per class, in name order; files that are not images by name
//   are passed over.
//
// The questions are those of `options.questions`, which must ask about known items, if it
// is given; else the items' own choices and those of a questions.jsonl beside the data,
// of which questions about other items are passed over and counted in `notes`.
//
// Throws Error(input) with file and line: unknown or missing field, wrong type, duplicate
// id, answer out of range, equal choices, path outside the folder, no items.
Dataset read_dataset(const std::filesystem::path& path, const DatasetOptions& options);

// Questions of a questions file, or the choices that stand in a dataset file.
// Throws Error(input) as read_questions and read_dataset do.
std::vector<Question> read_any_questions(const std::filesystem::path& path);

}  // namespace probe
