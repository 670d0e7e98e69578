#include "probe/data/manifest.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/delimited.h"
#include "probe/data/image_file.h"
#include "probe/data/json_lines.h"
#include "probe/data/question_table.h"
#include "probe/data/questions.h"
#include "probe/data/text_input.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

// Joins a manifest's path to its folder. A manifest is untrusted: unless allowed, it may
// not name files elsewhere.
fs::path resolve_image(const fs::path& folder, const std::string& name, bool allow_outside,
                       const std::string& where) {
  const fs::path relative = name;
  const fs::path normal = relative.lexically_normal();
  const bool leaves = relative.is_absolute() || (!normal.empty() && *normal.begin() == "..");
  if (leaves && !allow_outside) {
    throw Error(ErrorKind::input, where + ": image \"" + printable(name) +
                                      "\" lies outside the dataset's folder; "
                                      "--allow-outside permits that");
  }
  return relative.is_absolute() ? relative : folder / relative;
}

void check_ids(const Dataset& dataset) {
  std::unordered_set<std::string> ids;
  for (const Item& item : dataset.items) {
    if (item.id.empty()) {
      throw Error(ErrorKind::input, dataset.source.string() + ": an item has an empty id");
    }
    if (!ids.insert(item.id).second) {
      throw Error(ErrorKind::input, dataset.source.string() + ": id \"" + printable(item.id) +
                                        "\" stands twice");
    }
  }
}

Dataset read_json_lines(const fs::path& path, const DatasetOptions& options) {
  Dataset dataset;
  dataset.source = path;
  for_each_json_line(path, [&](const JsonObject& object) {
    object.allow_only({"id", "image", "category", "condition", "original_id", "attribute",
                       "choices", "answer"});
    Item item;
    item.id = object.text("id");
    item.image = resolve_image(path.parent_path(), object.text("image"),
                               options.allow_outside, object.where());
    item.category = object.text_or("category", "");
    item.condition = object.text_or("condition", kOriginal);
    item.original_id = object.text_or("original_id", "");
    item.attribute = object.text_or("attribute", "");
    if (object.has("choices")) {
      Question question;
      question.id = item.id + kChoiceSuffix;
      question.item_id = item.id;
      question.choices = object.texts("choices");
      question.answer = object.integer("answer");
      check_choices(question.choices, question.answer, object.where());
      question.answer_text = question.choices[question.answer];
      dataset.questions.push_back(std::move(question));
    }
    dataset.items.push_back(std::move(item));
  });
  return dataset;
}

bool is_short_index(const std::string& cell) {
  return !cell.empty() && cell.size() <= 12 &&
         std::all_of(cell.begin(), cell.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Fills the item's image from a VLMEvalKit image cell: base64 data, or the index of a
// row above whose picture is shared. What is wrong with one cell fails that item only.
void read_image_cell(const std::string& cell, Item& item,
                     const std::unordered_map<std::string, std::size_t>& rows,
                     const std::vector<Item>& items) {
  if (is_short_index(cell)) {
    const auto it = rows.find(cell);
    if (it == rows.end()) {
      item.image_error = "expected the index of an earlier row, got " + cell;
    } else {
      item.image_bytes = items[it->second].image_bytes;
      item.image_error = items[it->second].image_error;
    }
  } else if (cell.starts_with('[')) {
    item.image_error = "expected one image, got a list of images";
  } else {
    try {
      item.image_bytes = decode_base64(cell);
    } catch (const Error& error) {
      item.image_error = error.what();
    }
  }
  if (item.image_bytes.empty() && item.image_error.empty()) item.image_error = "no image";
}

Dataset read_table(const fs::path& path, const DatasetOptions& options) {
  const DelimitedTable table = read_table_file(path);
  const int index = table.column("index"), image = table.column("image"),
            image_path = table.column("image_path"), category = table.column("category");
  const bool has_choices = has_choice_columns(table);
  if (index < 0 || (image < 0 && image_path < 0)) {
    throw Error(ErrorKind::input,
                path.string() + ":1: expected columns index and image (or image_path)");
  }
  Dataset dataset;
  dataset.source = path;
  std::unordered_map<std::string, std::size_t> rows;
  for (const DelimitedRow& row : table.rows) {
    const std::string where = path.string() + ":" + std::to_string(row.line);
    Item item;
    item.id = row.fields[index];
    if (image >= 0) {
      read_image_cell(row.fields[image], item, rows, dataset.items);
    } else {
      item.image = resolve_image(path.parent_path(), row.fields[image_path],
                                 options.allow_outside, where);
    }
    if (has_choices) {
      Question question = read_question_row(table, row, item.id, where);
      if (category < 0) item.category = question.answer_text;
      dataset.questions.push_back(std::move(question));
    }
    if (category >= 0) item.category = row.fields[category];
    for (const auto& [name, member] :
         {std::pair{"condition", &item.condition}, std::pair{"original_id", &item.original_id},
          std::pair{"attribute", &item.attribute}}) {
      const int column = table.column(name);
      if (column >= 0 && !row.fields[column].empty()) *member = row.fields[column];
    }
    rows.emplace(item.id, dataset.items.size());
    dataset.items.push_back(std::move(item));
  }
  return dataset;
}

bool has_image_name(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* known : {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"}) {
    if (extension == known) return true;
  }
  return false;
}

Dataset read_folder(const fs::path& path) {
  Dataset dataset;
  dataset.source = path;
  std::vector<fs::path> files;
  // Links to folders are not followed: a loop would never end.
  for (auto it = fs::recursive_directory_iterator(
           path, fs::directory_options::skip_permission_denied);
       it != fs::recursive_directory_iterator(); ++it) {
    if (has_image_name(it->path()) && !it->is_directory()) files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const fs::path relative = file.lexically_relative(path);
    Item item;
    item.id = printable(relative.generic_string());  // names may hold any bytes
    item.image = file;
    if (relative.has_parent_path()) item.category = printable(relative.begin()->string());
    dataset.items.push_back(std::move(item));
  }
  return dataset;
}

// True if the first line is an item, not a question.
bool is_item_manifest(const fs::path& path) {
  const std::string content = read_text(path);
  const std::vector<TextLine> lines = split_lines(content);
  return !lines.empty() &&
         JsonObject(path.string() + ":" + std::to_string(lines[0].number), lines[0].text)
             .has("image");
}

// Joins a questions.jsonl that stands beside the data. It may be about more items than
// these, so what asks about others is passed over.
void add_questions_beside(const fs::path& path, Dataset& dataset) {
  std::error_code code;
  const fs::path folder = fs::is_directory(path) ? path : path.parent_path();
  const fs::path file = folder / "questions.jsonl";
  if (!fs::exists(file, code)) return;
  std::unordered_set<std::string> items, ids;
  for (const Item& item : dataset.items) items.insert(item.id);
  for (const Question& question : dataset.questions) ids.insert(question.id);
  std::size_t others = 0;
  for (Question& question : read_questions(file)) {
    if (!items.contains(question.item_id)) {
      ++others;
    } else if (!ids.insert(question.id).second) {
      throw Error(ErrorKind::input, file.string() + ": question_id \"" +
                                        printable(question.id) +
                                        "\" stands in the dataset as well");
    } else {
      dataset.questions.push_back(std::move(question));
    }
  }
  if (others > 0) {
    dataset.notes.push_back(file.string() + ": " + std::to_string(others) +
                            " questions about other items were passed over");
  }
}

}  // namespace

Dataset read_dataset(const fs::path& path, const DatasetOptions& options) {
  std::error_code code;
  if (!fs::exists(path, code)) {
    throw Error(ErrorKind::input, path.string() + ": no such file or folder");
  }
  const std::string extension = path.extension().string();
  Dataset dataset;
  if (fs::is_directory(path)) {
    // A folder made by us holds a manifest; a plain one holds a sub-folder per class.
    const fs::path manifest = path / "items.jsonl";
    if (fs::exists(manifest, code)) return read_dataset(manifest, options);
    dataset = read_folder(path);
  } else if (extension == ".jsonl" || extension == ".json") {
    dataset = read_json_lines(path, options);
  } else if (is_table_file(path)) {
    dataset = read_table(path, options);
  } else {
    throw Error(ErrorKind::input,
                path.string() + ": expected a folder, .jsonl, .tsv, .csv or .xlsx");
  }
  if (dataset.items.empty()) {
    throw Error(ErrorKind::input, path.string() + ": expected images, got 0 items");
  }
  check_ids(dataset);

  if (!options.questions.empty()) {
    dataset.questions = read_any_questions(options.questions);
    check_questions(dataset, options.questions);
  } else if (!options.without_questions) {
    add_questions_beside(path, dataset);
  }
  return dataset;
}

std::vector<Question> read_any_questions(const fs::path& path) {
  if (is_table_file(path)) return read_question_table(path);
  return is_item_manifest(path) ? read_json_lines(path, {{}, true, true}).questions
                                : read_questions(path);
}

}  // namespace probe
