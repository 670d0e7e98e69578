#include "probe/data/item_columns.h"

#include <optional>
#include <unordered_set>

#include "probe/core/error.h"
#include "probe/core/item.h"
#include "probe/core/item_column_list.h"
#include "probe/core/utf8.h"
#include "probe/data/delimited.h"
#include "probe/data/json_lines.h"
#include "probe/data/manifest.h"
#include "probe/data/text_input.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

// One item from a function that gives the value of a column, or "" if it has none.
template <typename ValueOf>
void add_item(ItemColumns& columns, const ValueOf& value_of) {
  for (const ItemColumn& column : kItemColumns) {
    (columns.*column.values).push_back(value_of(column.name));
  }
  if (columns.condition.back().empty()) columns.condition.back() = kOriginal;
}

void check_row_number(const std::string& given, std::size_t row, const std::string& where) {
  if (given == std::to_string(row)) return;
  throw Error(ErrorKind::input, where + ": expected row " + std::to_string(row) + ", got \"" +
                                    printable(given) +
                                    "\": items must stand in the order of their vectors");
}

ItemList read_columns_of_table(const fs::path& path, const DelimitedTable& table) {
  ItemList list;
  std::string others;
  for (const std::string& name : table.header) {
    bool known = name == "row";
    for (const ItemColumn& column : kItemColumns) known = known || name == column.name;
    if (!known) others += (others.empty() ? "" : ", ") + printable(name);
  }
  if (!others.empty()) list.notes.push_back(path.string() + ": columns passed over: " + others);
  const int row_column = table.column("row");
  for (const DelimitedRow& row : table.rows) {
    if (row_column >= 0) {
      check_row_number(row.fields[row_column], list.columns.size(),
                       path.string() + ":" + std::to_string(row.line));
    }
    add_item(list.columns, [&](const char* name) {
      const int column = table.column(name);
      return column < 0 ? std::string() : row.fields[column];
    });
  }
  return list;
}

// True if the first object of the file names an image: it is a dataset then.
bool first_object_has_image(const fs::path& path) {
  std::optional<bool> has_image;
  for_each_json_line(path, [&](const JsonObject& object) {
    if (!has_image) has_image = object.has("image");
  });
  return has_image.value_or(false);
}

ItemList read_columns_of_objects(const fs::path& path) {
  ItemList list;
  for_each_json_line(path, [&](const JsonObject& object) {
    object.allow_only({"row", "id", "path", "category", "condition", "original_id", "attribute",
                       "content_sha256"});
    if (object.has("row")) check_row_number(object.text("row"), list.columns.size(), object.where());
    object.text("id");  // required
    add_item(list.columns, [&](const char* name) { return object.text_or(name, ""); });
  });
  return list;
}

ItemList read_columns_of_dataset(const fs::path& path) {
  ItemList list;
  for (const Item& item : read_dataset(path, {{}, true, true}).items) {
    list.columns.id.push_back(item.id);
    list.columns.path.push_back(item.image.string());
    list.columns.category.push_back(item.category);
    list.columns.condition.push_back(item.condition);
    list.columns.original_id.push_back(item.original_id);
    list.columns.attribute.push_back(item.attribute);
    list.columns.content_sha256.emplace_back();
  }
  return list;
}

ItemList read_lines_of_ids(const fs::path& path) {
  ItemList list;
  const std::string content = read_text(path);
  for (const TextLine& line : split_lines(content)) {
    add_item(list.columns, [&](const std::string& name) {
      return name == "id" ? std::string(line.text) : std::string();
    });
  }
  return list;
}

ItemList read_any_items(const fs::path& path) {
  std::error_code code;
  const std::string extension = path.extension().string();
  if (extension == ".parquet") {
    throw Error(ErrorKind::input,
                path.string() + ": expected ids as text, .csv or .jsonl, got Parquet; in Python: "
                                "pandas.read_parquet(\"" + printable(path.filename().string()) +
                                "\").to_csv(\"ids.csv\", index=False), with a column \"id\"");
  }
  if (fs::is_directory(path, code)) return read_columns_of_dataset(path);
  if (is_table_file(path)) {
    const DelimitedTable table = read_table_file(path);
    if (table.column("id") >= 0) return read_columns_of_table(path, table);
    if (table.column("index") >= 0) return read_columns_of_dataset(path);
    throw Error(ErrorKind::input, path.string() + ":1: expected a column \"id\"");
  }
  if (extension == ".jsonl" || extension == ".json") {
    return first_object_has_image(path) ? read_columns_of_dataset(path)
                                        : read_columns_of_objects(path);
  }
  return read_lines_of_ids(path);
}

void refuse_empty_or_double(const std::vector<std::string>& values, const char* what,
                            const fs::path& path) {
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].empty()) {
      throw Error(ErrorKind::input, path.string() + ": " + what + " " + std::to_string(i + 1) +
                                        " is empty");
    }
    if (!seen.insert(values[i]).second) {
      throw Error(ErrorKind::input, path.string() + ": " + what + " \"" + printable(values[i]) +
                                        "\" stands twice");
    }
  }
}

}  // namespace

ItemList read_item_columns(const fs::path& path) {
  ItemList list = read_any_items(path);
  refuse_empty_or_double(list.columns.id, "id", path);
  if (list.columns.size() == 0) {
    throw Error(ErrorKind::input, path.string() + ": expected ids, got an empty file");
  }
  return list;
}

std::vector<std::string> read_prompt_lines(const fs::path& path) {
  std::vector<std::string> prompts;
  const std::string content = read_text(path);
  for (const TextLine& line : split_lines(content)) prompts.emplace_back(line.text);
  refuse_empty_or_double(prompts, "prompt", path);
  if (prompts.empty()) {
    throw Error(ErrorKind::input, path.string() + ": expected prompts, got an empty file");
  }
  return prompts;
}

}  // namespace probe
