#include "probe/data/json_lines.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/text_input.h"

namespace probe {

using Json = nlohmann::json;

struct JsonObject::Content {
  Json json;
};

namespace {

Json parse(const std::string& where, std::string_view text) {
  const auto fail = [&](const std::string& message) {
    throw Error(ErrorKind::input, where + ": " + printable(message));
  };
  // Nested values deeper than a few levels have no place here; the parser would recurse.
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;  // what it escapes ends no string
    if (quoted) continue;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  if (deepest > 512) fail("expected an object, got one nested " + std::to_string(deepest) + " deep");
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    const std::string reason = error.what();  // "[json.exception...] parse error at line ..."
    fail("expected one JSON object, got invalid JSON: " +
         first_line(reason.substr(std::min(reason.size(), reason.find("] ") + 2))));
  }
  return {};
}

}  // namespace

JsonObject::JsonObject(const std::string& where, std::unique_ptr<Content> content)
    : where_(where), content_(std::move(content)) {
  if (!content_->json.is_object()) {
    fail(std::string("expected one JSON object, got ") + content_->json.type_name());
  }
}

JsonObject::JsonObject(const std::string& where, std::string_view text)
    : JsonObject(where, std::make_unique<Content>(Content{parse(where, text)})) {}

JsonObject::JsonObject(JsonObject&&) noexcept = default;
JsonObject::~JsonObject() = default;

void JsonObject::fail(const std::string& message) const {
  throw Error(ErrorKind::input, where_ + ": " + printable(message));
}

bool JsonObject::has(const char* field) const {
  const auto it = content_->json.find(field);
  return it != content_->json.end() && !it->is_null();
}

std::string JsonObject::text(const char* field) const {
  if (!has(field)) fail(std::string("\"") + field + "\" is missing");
  const Json& value = content_->json.at(field);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  fail(std::string("\"") + field + "\": expected a string, got " + value.type_name());
}

std::string JsonObject::text_or(const char* field, const std::string& fallback) const {
  return has(field) ? text(field) : fallback;
}

std::vector<std::string> JsonObject::texts(const char* field) const {
  if (!has(field)) fail(std::string("\"") + field + "\" is missing");
  const Json& value = content_->json.at(field);
  if (!value.is_array()) {
    fail(std::string("\"") + field + "\": expected a list of strings, got " + value.type_name());
  }
  std::vector<std::string> texts;
  for (const Json& entry : value) {
    if (!entry.is_string()) {
      fail(std::string("\"") + field + "\": expected strings, got " + entry.type_name());
    }
    texts.push_back(entry.get<std::string>());
  }
  return texts;
}

bool JsonObject::is_integer(const char* field) const {
  return has(field) && content_->json.at(field).is_number_integer();
}

bool JsonObject::is_text_or_number(const char* field) const {
  return has(field) &&
         (content_->json.at(field).is_string() || content_->json.at(field).is_number());
}

std::string JsonObject::text_or_number(const char* field) const {
  if (is_text_or_number(field) && content_->json.at(field).is_number()) {
    return content_->json.at(field).dump();
  }
  return text(field);
}

std::optional<std::string> JsonObject::only_text(const char* field) const {
  if (!has(field)) return std::nullopt;
  const Json* value = &content_->json.at(field);
  while (value->is_array() && value->size() == 1) value = &value->front();
  if (!value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

std::optional<JsonObject> JsonObject::object(const char* field) const {
  if (!has(field) || !content_->json.at(field).is_object()) return std::nullopt;
  return JsonObject(where_, std::make_unique<Content>(Content{content_->json.at(field)}));
}

bool JsonObject::flag(const char* field) const {
  if (!has(field)) return false;
  const Json& value = content_->json.at(field);
  if (!value.is_boolean()) {
    fail(std::string("\"") + field + "\": expected true or false, got " + value.type_name());
  }
  return value.get<bool>();
}

int JsonObject::integer(const char* field) const {
  if (!has(field)) fail(std::string("\"") + field + "\" is missing");
  const Json& value = content_->json.at(field);
  if (!value.is_number_integer()) {
    fail(std::string("\"") + field + "\": expected an integer, got " + value.type_name());
  }
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= std::numeric_limits<int>::max()
                        : value.get<std::int64_t>() >= std::numeric_limits<int>::min();
  if (!fits) fail(std::string("\"") + field + "\": " + value.dump() + " is out of range");
  return value.get<int>();
}

double JsonObject::number(const char* field) const {
  if (!has(field)) fail(std::string("\"") + field + "\" is missing");
  const Json& value = content_->json.at(field);
  if (!value.is_number()) {
    fail(std::string("\"") + field + "\": expected a number, got " + value.type_name());
  }
  return value.get<double>();
}

std::int64_t JsonObject::integer64(const char* field) const {
  if (!has(field)) fail(std::string("\"") + field + "\" is missing");
  const Json& value = content_->json.at(field);
  if (!value.is_number_integer()) {
    fail(std::string("\"") + field + "\": expected an integer, got " + value.type_name());
  }
  return value.get<std::int64_t>();
}

std::vector<std::vector<double>> JsonObject::number_lists(const char* field) const {
  if (!has(field)) fail(std::string("\"") + field + "\" is missing");
  std::vector<std::vector<double>> lists;
  try {
    content_->json.at(field).get_to(lists);
  } catch (const Json::exception&) {
    fail(std::string("\"") + field + "\": expected lists of numbers");
  }
  return lists;
}

void JsonObject::allow_only(std::initializer_list<const char*> fields) const {
  for (const auto& entry : content_->json.items()) {
    const bool known = std::any_of(fields.begin(), fields.end(),
                                   [&](const char* f) { return entry.key() == f; });
    if (known) continue;
    std::string list;
    for (const char* field : fields) list += (list.empty() ? "" : ", ") + std::string(field);
    fail("unknown field \"" + entry.key() + "\"; known are " + list);
  }
}

void for_each_json_line(const std::filesystem::path& path,
                        const std::function<void(const JsonObject&)>& use) {
  const std::string content = read_text(path);
  const std::vector<TextLine> lines = split_lines(content);
  if (lines.empty()) {
    throw Error(ErrorKind::input, path.string() + ": expected JSON Lines, got 0 lines");
  }
  if (lines.front().text.starts_with('[')) {
    Json list = parse(path.string(), content);
    for (std::size_t i = 0; i < list.size(); ++i) {
      use(JsonObject(path.string() + ":" + std::to_string(i + 1),
                     std::make_unique<JsonObject::Content>(
                         JsonObject::Content{std::move(list[i])})));
    }
    return;
  }
  for (const TextLine& line : lines) {
    use(JsonObject(path.string() + ":" + std::to_string(line.number), line.text));
  }
}

}  // namespace probe
