// JSON Lines with typed, checked access to fields. Private to probe/data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace probe {

// One object of a JSON Lines file. Every message begins "<file>:<line>: ".
class JsonObject {
 public:
  JsonObject(const std::string& where, std::string_view text);
  JsonObject(JsonObject&&) noexcept;
  ~JsonObject();

  const std::string& where() const { return where_; }
  bool has(const char* field) const;  // present and not null

  // Throw Error(input) if the field has another type; `text` also accepts an integer,
  // since ids are often written as numbers.
  std::string text(const char* field) const;  // required
  std::string text_or(const char* field, const std::string& fallback) const;
  std::vector<std::string> texts(const char* field) const;  // required
  bool flag(const char* field) const;  // false if it is not there
  int integer(const char* field) const;                     // required
  std::int64_t integer64(const char* field) const;          // required
  bool is_integer(const char* field) const;
  double number(const char* field) const;  // required; any JSON number
  std::vector<std::vector<double>> number_lists(const char* field) const;  // required
  bool is_text_or_number(const char* field) const;
  std::string text_or_number(const char* field) const;  // any number, as it is written
  // The text in a list of one, however deep: [["yes"]] is "yes". nullopt for anything else.
  std::optional<std::string> only_text(const char* field) const;
  std::optional<JsonObject> object(const char* field) const;  // nullopt if it is no object

  // Throws Error(input) if the object has a field that is not listed.
  void allow_only(std::initializer_list<const char*> fields) const;

  [[noreturn]] void fail(const std::string& message) const;

 private:
  struct Content;
  JsonObject(const std::string& where, std::unique_ptr<Content> content);
  friend void for_each_json_line(const std::filesystem::path& path,
                                 const std::function<void(const JsonObject&)>& use);
  std::string where_;
  std::unique_ptr<Content> content_;
};

// Calls `use` for each object of the file, which holds one a line or one list of them (then
// "<file>:<number>: " begins a message). Throws Error(input) if there is none, or what
// stands there is not one JSON object.
void for_each_json_line(const std::filesystem::path& path,
                        const std::function<void(const JsonObject&)>& use);

}  // namespace probe
