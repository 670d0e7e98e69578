#include "probe/data/xlsx.h"

#include <zip.h>

#include <algorithm>
#include <memory>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <string_view>

#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

constexpr zip_uint64_t kLargestPart = zip_uint64_t{512} << 20;
// Deflate cannot shrink by more; a part that claims it is a lie.
constexpr zip_uint64_t kLargestRatio = 1100;

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::input, where + ": " + printable(message));
}

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

class Workbook {
 public:
  explicit Workbook(const std::filesystem::path& path) : name_(path.string()) {
    int code = 0;
    archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (!archive_) {
      fail(name_, code == ZIP_ER_NOENT ? "no such file" : "expected an .xlsx workbook, got no zip archive");
    }
  }

  bool has(const std::string& part) const {
    return zip_name_locate(archive_.get(), part.c_str(), 0) >= 0;
  }

  // Nothing is resolved outside the part: pugixml neither loads external entities nor
  // expands those that a document declares.
  pugi::xml_document part(const std::string& part) const {
    zip_stat_t stat;
    constexpr zip_uint64_t kSizes = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    if (zip_stat(archive_.get(), part.c_str(), 0, &stat) != 0 || (stat.valid & kSizes) != kSizes) {
      fail(name_, "expected an .xlsx workbook, got an archive without " + part);
    }
    if (stat.size > kLargestPart) fail(name_, part + ": expected at most 512 MiB");
    if (stat.size / kLargestRatio > stat.comp_size) {
      fail(name_, part + ": expected " + std::to_string(stat.size) + " bytes, got " +
                      std::to_string(stat.comp_size) + " compressed");
    }
    const std::unique_ptr<zip_file_t, CloseEntry> entry(
        zip_fopen(archive_.get(), part.c_str(), 0));
    std::string text(stat.size, '\0');
    if (!entry || zip_fread(entry.get(), text.data(), stat.size) !=
                      static_cast<zip_int64_t>(stat.size)) {
      fail(name_, part + ": cannot be unpacked");
    }
    pugi::xml_document document;
    const pugi::xml_parse_result result = document.load_buffer(
        text.data(), text.size(), pugi::parse_default | pugi::parse_ws_pcdata_single);
    if (!result) fail(name_, part + ": expected XML: " + result.description());
    return document;
  }

  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::unique_ptr<zip_t, CloseArchive> archive_;
};

// "_x000D_" stands for a character that XML cannot hold (18.9.2, ST_Xstring).
std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text.substr(i, 2) == "_x" && i + 6 < text.size() && text[i + 6] == '_' &&
                        text.substr(i + 2, 4).find_first_not_of("0123456789abcdefABCDEF") ==
                            std::string_view::npos;
    const int code = escape ? std::stoi(std::string(text.substr(i + 2, 4)), nullptr, 16) : 0;
    if (escape && code < 0x80) {
      out += static_cast<char>(code);
      i += 6;
    } else {
      out += text[i];
    }
  }
  return out;
}

// The text of a shared or inline string; formatted runs are joined, phonetic hints left out.
std::string string_item(const pugi::xml_node& item) {
  std::string text = item.child("t").text().get();
  for (const pugi::xml_node& run : item.children("r")) text += run.child("t").text().get();
  return unescape(text);
}

std::vector<std::string> shared_strings(const Workbook& book) {
  std::vector<std::string> strings;
  if (!book.has("xl/sharedStrings.xml")) return strings;
  const pugi::xml_document document = book.part("xl/sharedStrings.xml");
  for (const pugi::xml_node& item : document.child("sst").children("si")) {
    strings.push_back(string_item(item));
  }
  return strings;
}

std::string first_sheet(const Workbook& book) {
  const pugi::xml_document workbook = book.part("xl/workbook.xml");
  const std::string id =
      workbook.child("workbook").child("sheets").child("sheet").attribute("r:id").value();
  const pugi::xml_document relations = book.part("xl/_rels/workbook.xml.rels");
  for (const pugi::xml_node& relation : relations.child("Relationships").children()) {
    if (id != relation.attribute("Id").value()) continue;
    std::string target = relation.attribute("Target").value();
    return target.starts_with('/') ? target.substr(1) : "xl/" + target;
  }
  fail(book.name(), "expected an .xlsx workbook, got one without a sheet");
}

// "AB12" -> 27: the column, from 0. A cell without a reference follows the one before it.
int column_of(const pugi::xml_node& cell, int next) {
  const std::string_view reference = cell.attribute("r").value();
  int column = 0;
  for (const char c : reference) {
    if (c < 'A' || c > 'Z' || column > 20000) break;
    column = 26 * column + (c - 'A' + 1);
  }
  return column == 0 ? next : column - 1;
}

std::string cell_text(const pugi::xml_node& cell, const std::vector<std::string>& strings,
                      const std::string& where) {
  const std::string_view type = cell.attribute("t").value();
  if (type == "inlineStr") return string_item(cell.child("is"));
  const std::string value = cell.child("v").text().get();
  if (type != "s") return type == "str" ? unescape(value) : value;
  const bool digits = !value.empty() && value.size() < 10 &&
                      value.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || std::stoul(value) >= strings.size()) {
    fail(where, "expected a string from 0 to " + std::to_string(strings.size()) + ", got \"" +
                    value + "\"");
  }
  return strings[std::stoul(value)];
}

}  // namespace

DelimitedTable read_xlsx(const std::filesystem::path& path) {
  const Workbook book(path);
  const std::vector<std::string> strings = shared_strings(book);
  const pugi::xml_document sheet = book.part(first_sheet(book));
  DelimitedTable table;
  std::size_t number = 0;
  for (const pugi::xml_node& entry :
       sheet.child("worksheet").child("sheetData").children("row")) {
    number = entry.attribute("r").as_uint(static_cast<unsigned>(number + 1));
    DelimitedRow row;
    row.line = number;
    const std::string where = path.string() + ":" + std::to_string(number);
    const bool is_header = table.header.empty();
    if (!is_header) row.fields.resize(table.header.size());
    int next = 0;
    for (const pugi::xml_node& cell : entry.children("c")) {
      const int column = column_of(cell, next);
      next = column + 1;
      std::string text = cell_text(cell, strings, where);
      if (text.empty()) continue;
      if (column >= static_cast<int>(row.fields.size())) {
        if (!is_header || column > 16384) {
          fail(where, "expected " + std::to_string(row.fields.size()) + " fields, got a cell in column " +
                          std::to_string(column + 1));
        }
        row.fields.resize(column + 1);
      }
      row.fields[column] = std::move(text);
    }
    const bool blank = std::all_of(row.fields.begin(), row.fields.end(),
                                   [](const std::string& field) { return field.empty(); });
    if (blank) continue;
    if (!is_header) {
      table.rows.push_back(std::move(row));
      continue;
    }
    std::set<std::string> names;
    for (const std::string& name : row.fields) {
      if (!name.empty() && !names.insert(name).second) fail(where, "column \"" + name + "\" stands twice");
    }
    table.header = std::move(row.fields);
  }
  if (table.rows.empty()) fail(path.string(), "expected at least one row, got 0 rows");
  return table;
}

}  // namespace probe
