#include "probe/data/delimited.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/text_input.h"
#include "probe/data/xlsx.h"

namespace probe {
namespace {

// Walks the content once; `position_` is the next byte, `line_` its line.
class DelimitedParser {
 public:
  DelimitedParser(std::string_view content, char separator, std::string file)
      : content_(content), separator_(separator), file_(std::move(file)) {}

  // The next row that is not blank, or one without fields at the end.
  DelimitedRow next_row() {
    skip_blank_lines();
    DelimitedRow row;
    row.line = line_;
    if (position_ >= content_.size()) return row;
    while (true) {
      row.fields.push_back(next_field());
      if (position_ < content_.size() && content_[position_] == separator_) {
        ++position_;
        continue;
      }
      skip_line_end();
      return row;
    }
  }

 private:
  bool at_line_end() const {
    return position_ >= content_.size() || content_[position_] == '\n' ||
           (content_[position_] == '\r' && position_ + 1 < content_.size() &&
            content_[position_ + 1] == '\n');
  }

  void skip_line_end() {
    if (position_ < content_.size() && content_[position_] == '\r') ++position_;
    if (position_ < content_.size() && content_[position_] == '\n') {
      ++position_;
      ++line_;
    }
  }

  void skip_blank_lines() {
    while (position_ < content_.size() && at_line_end()) skip_line_end();
  }

  std::string next_field() {
    if (position_ < content_.size() && content_[position_] == '"') return quoted_field();
    const std::size_t start = position_;
    while (!at_line_end() && content_[position_] != separator_) ++position_;
    return std::string(content_.substr(start, position_ - start));
  }

  std::string quoted_field() {
    const std::size_t opened_at = line_;
    std::string value;
    ++position_;
    while (position_ < content_.size()) {
      const char c = content_[position_++];
      if (c == '\n') ++line_;
      if (c != '"') {
        value += c;
      } else if (position_ < content_.size() && content_[position_] == '"') {
        value += '"';
        ++position_;
      } else {
        // What follows a closing quote before the separator is kept, as pandas does.
        while (!at_line_end() && content_[position_] != separator_) {
          value += content_[position_++];
        }
        return value;
      }
    }
    throw Error(ErrorKind::input, file_ + ":" + std::to_string(opened_at) +
                                      ": expected a closing quote, got the end of the file");
  }

  std::string_view content_;
  char separator_;
  std::string file_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

int DelimitedTable::column(const std::string& name) const {
  const auto it = std::find(header.begin(), header.end(), name);
  return it == header.end() ? -1 : static_cast<int>(it - header.begin());
}

DelimitedTable read_delimited(const std::filesystem::path& path, char separator) {
  const std::string content = read_text(path);
  DelimitedParser parser(content, separator, path.string());
  DelimitedTable table;
  table.header = parser.next_row().fields;
  std::set<std::string> names;
  for (const std::string& name : table.header) {
    if (!names.insert(name).second) {
      throw Error(ErrorKind::input,
                  path.string() + ":1: column \"" + printable(name) + "\" stands twice");
    }
  }
  while (true) {
    DelimitedRow row = parser.next_row();
    if (row.fields.empty()) break;
    if (row.fields.size() != table.header.size()) {
      throw Error(ErrorKind::input, path.string() + ":" + std::to_string(row.line) +
                                        ": expected " + std::to_string(table.header.size()) +
                                        " fields, got " + std::to_string(row.fields.size()));
    }
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) {
    throw Error(ErrorKind::input, path.string() + ": expected at least one row, got 0 rows");
  }
  return table;
}

bool is_table_file(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".csv" || extension == ".tsv" || extension == ".xlsx";
}

DelimitedTable read_table_file(const std::filesystem::path& path) {
  if (path.extension() == ".xlsx") return read_xlsx(path);
  return read_delimited(path, path.extension() == ".tsv" ? '\t' : ',');
}

}  // namespace probe
