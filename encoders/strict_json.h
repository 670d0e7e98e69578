// Reading JSON that is not trusted: depth, types, ranges, repeated and unknown fields are
// checked, and every message says "<path>: <field>: expected ..., got ...".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace probe {

// One JSON object whose fields are taken one by one; finish() refuses what is left over.
// Every reader below marks its field as known and throws Error(model) if the field is
// missing ("got nothing") or not of the kind.
class StrictObject {
 public:
  struct Node;  // the object in its document

  bool has(const std::string& field) const;

  std::string text(const std::string& field);           // not empty
  std::string text_or_empty(const std::string& field);  // the field may be absent
  std::optional<std::string> text_or_null(const std::string& field);
  std::string choice(const std::string& field, const std::vector<std::string>& choices);
  std::string file_name(const std::string& field);  // see is_plain_file_name
  std::int64_t integer(const std::string& field, std::int64_t least, std::int64_t most);
  double number(const std::string& field, double least, double most);
  std::optional<double> number_or_null(const std::string& field, double least, double most);
  bool boolean(const std::string& field);
  std::vector<double> numbers(const std::string& field, std::size_t count, double least,
                              double most);
  std::vector<std::string> texts(const std::string& field, std::size_t least, std::size_t most);
  StrictObject object(const std::string& field);
  std::optional<StrictObject> object_or_null(const std::string& field);
  std::vector<StrictObject> objects(const std::string& field, std::size_t least,
                                    std::size_t most);

  // Names of all fields, for objects that serve as maps.
  std::vector<std::string> field_names() const;

  // Throws if a field was not asked for.
  void finish() const;

  [[noreturn]] void fail(const std::string& field, const std::string& expected,
                         const std::string& got) const;
  [[noreturn]] void fail(const std::string& field, const std::string& expected) const;

 private:
  friend StrictObject parse_strict_json(const std::string&, const std::filesystem::path&);
  StrictObject(std::shared_ptr<const Node> node, std::filesystem::path path, std::string where);
  std::string name_of(const std::string& field) const;

  std::shared_ptr<const Node> node_;
  std::filesystem::path path_;
  std::string where_;  // the object's own field, empty for the whole file
  std::set<std::string> known_;
};

// Throws Error(model) if `text` is no JSON object, nests deeper than 16 levels or repeats
// a field.
StrictObject parse_strict_json(const std::string& text, const std::filesystem::path& path);

// True for a plain name: no slash, backslash or control character, not "." or "..".
bool is_plain_file_name(const std::string& name);

}  // namespace probe
