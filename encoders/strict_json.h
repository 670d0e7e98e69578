// Reading JSON that is not trusted: size, depth, types, ranges and unknown fields are
// checked, and every message says "<path>: <field>: expected ..., got ...".
// Only included by .cc files: it shows nlohmann's types.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace probe {

// Throws Error(model) if `text` is not JSON, nests deeper than 16 levels or repeats a key.
nlohmann::json parse_strict_json(const std::string& text, const std::filesystem::path& path);

// One JSON object whose fields are taken one by one; finish() refuses what is left over.
class StrictObject {
 public:
  // `where` is the object's own field name ("" for the whole file).
  StrictObject(const nlohmann::json& value, std::filesystem::path path, std::string where);

  bool has(const std::string& field) const { return value_.contains(field); }
  bool is_null(const std::string& field) const {
    return value_.contains(field) && value_[field].is_null();
  }

  // Each marks the field as known; a missing one is an error ("got nothing").
  const nlohmann::json& any(const std::string& field, const std::string& expected);
  std::string text(const std::string& field);  // not empty
  std::string text_or_empty(const std::string& field);  // absent: empty
  std::string choice(const std::string& field, const std::vector<std::string>& choices);
  std::string file_name(const std::string& field);
  std::int64_t integer(const std::string& field, std::int64_t least, std::int64_t most);
  double number(const std::string& field, double least, double most);
  bool boolean(const std::string& field);
  std::vector<double> numbers(const std::string& field, std::size_t count, double least,
                              double most);
  StrictObject object(const std::string& field);
  const nlohmann::json& array(const std::string& field, std::size_t least, std::size_t most);

  void finish() const;
  std::vector<std::string> field_names() const;
  [[noreturn]] void fail(const std::string& field, const std::string& expected,
                         const std::string& got) const;
  [[noreturn]] void fail(const std::string& field, const std::string& expected) const;
  std::string name_of(const std::string& field) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  const nlohmann::json& value_;
  std::filesystem::path path_;
  std::string where_;
  std::set<std::string> known_;
};

// True for a plain name: no slash, backslash, control character, "." or "..".
bool is_plain_file_name(const std::string& name);

}  // namespace probe
