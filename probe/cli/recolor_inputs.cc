#include "probe/cli/recolor_inputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "encoders/bundle_search.h"
#include "probe/core/error.h"
#include "probe/core/split.h"
#include "probe/core/utf8.h"
#include "probe/data/delimited.h"
#include "probe/data/json_lines.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

std::string place(const fs::path& path, std::size_t line) {
  return fmt::format("{}:{}", path.string(), line);
}

std::string unknown_color(const std::string& name) {
  std::string nearest;
  int smallest = 4;
  for (const NamedColor& color : named_colors()) {
    const int distance = edit_distance(name, std::string(color.name));
    if (distance < smallest) smallest = distance, nearest = color.name;
  }
  return fmt::format("expected a colour of NEMO's Tables A and D, got \"{}\"{}",
                     printable(name),
                     nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?");
}

int whole_number(const std::string& text, const std::string& where, const char* name,
                 ErrorKind kind) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) {
    throw Error(kind, fmt::format("{}: {}: expected a whole number, got \"{}\"", where, name,
                                  printable(text)));
  }
  return value;
}

Box make_box(const std::array<std::string, 4>& fields, const std::string& where,
             ErrorKind kind) {
  const Box box{whole_number(fields[0], where, "x", kind),
                whole_number(fields[1], where, "y", kind),
                whole_number(fields[2], where, "width", kind),
                whole_number(fields[3], where, "height", kind)};
  if (box.width <= 0 || box.height <= 0) {
    throw Error(kind, fmt::format("{}: expected a width and height above 0, got {} x {}", where,
                                  box.width, box.height));
  }
  return box;
}

int required_column(const DelimitedTable& table, const fs::path& path, const char* name) {
  const int column = table.column(name);
  if (column < 0) {
    throw Error(ErrorKind::input,
                fmt::format("{}:1: expected a column \"{}\"", path.string(), name));
  }
  return column;
}

void add_verdict(std::map<std::string, Verdict>& verdicts, const std::string& id,
                 const std::string& word, const std::string& where) {
  Verdict verdict = Verdict::open;
  if (word == "accept") {
    verdict = Verdict::accept;
  } else if (word == "reject") {
    verdict = Verdict::reject;
  } else if (!word.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("{}: verdict: expected accept or reject, got \"{}\"", where,
                            printable(word)));
  }
  if (!verdicts.emplace(id, verdict).second) {
    throw Error(ErrorKind::input,
                fmt::format("{}: id \"{}\" stands twice", where, printable(id)));
  }
}

}  // namespace

ColorTable read_color_table(const fs::path& path) {
  const DelimitedTable table = read_delimited(path, ',');
  if (table.header.size() < 2) {
    throw Error(ErrorKind::input,
                path.string() + ":1: expected a category and at least one colour");
  }
  ColorTable result;
  for (const DelimitedRow& row : table.rows) {
    const std::string where = place(path, row.line);
    const std::string& category = row.fields[0];
    std::vector<NamedColor> colors;
    for (std::size_t column = 1; column < row.fields.size(); ++column) {
      for (const std::string& name : split(row.fields[column], ';')) {
        if (name.find_first_not_of(" \t") == std::string::npos) continue;
        const auto color = find_named_color(name);
        if (!color) throw Error(ErrorKind::input, where + ": " + unknown_color(name));
        const bool known = std::any_of(colors.begin(), colors.end(), [&](const NamedColor& c) {
          return c.name == color->name;
        });
        if (!known) colors.push_back(*color);
      }
    }
    if (category.empty()) throw Error(ErrorKind::input, where + ": the category is empty");
    if (colors.empty()) throw Error(ErrorKind::input, where + ": expected colours, got none");
    if (!result.emplace(category, std::move(colors)).second) {
      throw Error(ErrorKind::input,
                  where + ": category \"" + printable(category) + "\" stands twice");
    }
  }
  return result;
}

NamedColor require_color(const std::string& name) {
  const auto color = find_named_color(name);
  if (!color) throw Error(ErrorKind::usage, "--color: " + unknown_color(name));
  return *color;
}

Box parse_box(const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 4) {
    throw Error(ErrorKind::usage, "--box: expected x,y,width,height, got \"" + text + "\"");
  }
  return make_box({parts[0], parts[1], parts[2], parts[3]}, "--box", ErrorKind::usage);
}

std::map<std::string, Box> read_boxes(const fs::path& path) {
  const DelimitedTable table = read_delimited(path, ',');
  const int id = required_column(table, path, "id");
  std::array<int, 4> columns{};
  const std::array<const char*, 4> names{"x", "y", "width", "height"};
  for (std::size_t i = 0; i < 4; ++i) columns[i] = required_column(table, path, names[i]);
  std::map<std::string, Box> boxes;
  for (const DelimitedRow& row : table.rows) {
    std::array<std::string, 4> fields;
    for (std::size_t i = 0; i < 4; ++i) fields[i] = row.fields[columns[i]];
    const std::string where = place(path, row.line);
    if (!boxes.emplace(row.fields[id], make_box(fields, where, ErrorKind::input)).second) {
      throw Error(ErrorKind::input,
                  where + ": id \"" + printable(row.fields[id]) + "\" stands twice");
    }
  }
  return boxes;
}

std::map<std::string, Verdict> read_verdicts(const fs::path& path) {
  std::map<std::string, Verdict> verdicts;
  if (path.extension() == ".jsonl" || path.extension() == ".json") {
    for_each_json_line(path, [&](const JsonObject& object) {
      add_verdict(verdicts, object.text("id"), object.text_or("verdict", ""), object.where());
    });
    return verdicts;
  }
  const DelimitedTable table = read_delimited(path, ',');
  const int id = required_column(table, path, "id");
  const int verdict = required_column(table, path, "verdict");
  for (const DelimitedRow& row : table.rows) {
    add_verdict(verdicts, row.fields[id], row.fields[verdict], place(path, row.line));
  }
  return verdicts;
}

}  // namespace probe
