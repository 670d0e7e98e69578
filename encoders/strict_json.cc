#include "encoders/strict_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {

using nlohmann::json;

struct StrictObject::Node {
  std::shared_ptr<const json> document;  // kept alive
  const json* value = nullptr;
};

namespace {

constexpr int kMaxDepth = 16;
constexpr std::size_t kMaxShown = 60;

std::string cut(std::string text) {
  if (text.size() > kMaxShown) {
    text.resize(kMaxShown);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) {
      text.pop_back();  // never half a character
    }
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0) text.pop_back();
    text += "...";
  }
  return text;
}

std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list of " + std::to_string(value.size());
  return cut(printable(value.dump(-1, ' ', false, json::error_handler_t::replace)));
}

std::string number_text(double value) {
  return json(value).dump();
}

std::string range_text(double least, double most) {
  return "from " + number_text(least) + " to " + number_text(most);
}

std::string count_text(std::size_t least, std::size_t most) {
  return "a list of " + std::to_string(least) + " to " + std::to_string(most) + " ";
}

json parse(const std::string& text, const std::filesystem::path& path) {
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxDepth) {
      throw Error(ErrorKind::model, path.string() + ": expected at most " +
                                        std::to_string(kMaxDepth) +
                                        " levels of nesting, got more");
    }
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed).second) {
      throw Error(ErrorKind::model, path.string() + ": expected each field once, got " +
                                        shown(parsed) + " twice");
    }
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::exception& error) {
    throw Error(ErrorKind::model,
                path.string() + ": expected JSON, got " + printable(first_line(error.what())));
  }
}

const json& get(const StrictObject::Node& node, const std::string& field) {
  return (*node.value)[field];
}

}  // namespace

StrictObject parse_strict_json(const std::string& text, const std::filesystem::path& path) {
  const auto document = std::make_shared<const json>(parse(text, path));
  if (!document->is_object()) {
    throw Error(ErrorKind::model,
                path.string() + ": expected an object, got " + shown(*document));
  }
  const StrictObject::Node node{document, document.get()};
  return StrictObject(std::make_shared<const StrictObject::Node>(node), path, "");
}

StrictObject::StrictObject(std::shared_ptr<const Node> node, std::filesystem::path path,
                           std::string where)
    : node_(std::move(node)), path_(std::move(path)), where_(std::move(where)) {}

std::string StrictObject::name_of(const std::string& field) const {
  return where_.empty() ? field : where_ + "." + field;
}

bool StrictObject::has(const std::string& field) const {
  return node_->value->contains(field);
}

void StrictObject::fail(const std::string& field, const std::string& expected,
                        const std::string& got) const {
  throw Error(ErrorKind::model, path_.string() + ": " +
                                    printable(name_of(field) + ": expected " + expected +
                                              ", got " + got));
}

void StrictObject::fail(const std::string& field, const std::string& expected) const {
  fail(field, expected, has(field) ? shown(get(*node_, field)) : "nothing");
}

std::string StrictObject::text(const std::string& field) {
  known_.insert(field);
  const bool good = has(field) && get(*node_, field).is_string() &&
                    !get(*node_, field).get_ref<const std::string&>().empty();
  if (!good) fail(field, "a text that is not empty");
  return get(*node_, field).get<std::string>();
}

std::string StrictObject::text_or_empty(const std::string& field) {
  known_.insert(field);
  if (!has(field)) return "";
  if (!get(*node_, field).is_string()) fail(field, "a text");
  return get(*node_, field).get<std::string>();
}

std::optional<std::string> StrictObject::text_or_null(const std::string& field) {
  known_.insert(field);
  if (!has(field)) fail(field, "a text or null");
  const json& value = get(*node_, field);
  if (value.is_null()) return std::nullopt;
  if (!value.is_string()) fail(field, "a text or null");
  return value.get<std::string>();
}

std::string StrictObject::choice(const std::string& field,
                                 const std::vector<std::string>& choices) {
  known_.insert(field);
  std::string expected;
  for (const std::string& name : choices) expected += (expected.empty() ? "" : " or ") + name;
  if (!has(field) || !get(*node_, field).is_string()) fail(field, expected);
  const std::string value = get(*node_, field).get<std::string>();
  if (std::find(choices.begin(), choices.end(), value) == choices.end()) fail(field, expected);
  return value;
}

std::string StrictObject::file_name(const std::string& field) {
  const std::string name = text(field);
  if (!is_plain_file_name(name)) fail(field, "a plain file name in the bundle");
  return name;
}

std::int64_t StrictObject::integer(const std::string& field, std::int64_t least,
                                   std::int64_t most) {
  known_.insert(field);
  const std::string expected =
      "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  if (!has(field) || !get(*node_, field).is_number_integer()) fail(field, expected);
  const json& value = get(*node_, field);
  const bool huge = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
  if (huge || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
    fail(field, expected);
  }
  return value.get<std::int64_t>();
}

double StrictObject::number(const std::string& field, double least, double most) {
  known_.insert(field);
  const std::string expected = "a number " + range_text(least, most);
  if (!has(field) || !get(*node_, field).is_number()) fail(field, expected);
  const double number = get(*node_, field).get<double>();
  if (!(number >= least && number <= most)) fail(field, expected);
  return number;
}

std::optional<double> StrictObject::number_or_null(const std::string& field, double least,
                                                   double most) {
  known_.insert(field);
  if (has(field) && get(*node_, field).is_null()) return std::nullopt;
  if (!has(field) || !get(*node_, field).is_number()) {
    fail(field, "a number " + range_text(least, most) + " or null");
  }
  return number(field, least, most);
}

bool StrictObject::boolean(const std::string& field) {
  known_.insert(field);
  if (!has(field) || !get(*node_, field).is_boolean()) fail(field, "true or false");
  return get(*node_, field).get<bool>();
}

std::vector<double> StrictObject::numbers(const std::string& field, std::size_t count,
                                          double least, double most) {
  known_.insert(field);
  const std::string expected = std::to_string(count) + " numbers " + range_text(least, most);
  if (!has(field)) fail(field, expected);
  const json& value = get(*node_, field);
  if (!value.is_array() || value.size() != count) fail(field, expected);
  std::vector<double> result;
  for (const json& entry : value) {
    const double number = entry.is_number() ? entry.get<double>() : least - 1;
    if (!(number >= least && number <= most)) fail(field, expected, shown(entry));
    result.push_back(number);
  }
  return result;
}

std::vector<std::string> StrictObject::texts(const std::string& field, std::size_t least,
                                             std::size_t most) {
  known_.insert(field);
  const std::string expected = count_text(least, most) + "texts";
  if (!has(field)) fail(field, expected);
  const json& value = get(*node_, field);
  if (!value.is_array() || value.size() < least || value.size() > most) fail(field, expected);
  std::vector<std::string> result;
  for (const json& entry : value) {
    if (!entry.is_string()) fail(field, expected, "one that is " + shown(entry));
    result.push_back(entry.get<std::string>());
  }
  return result;
}

StrictObject StrictObject::object(const std::string& field) {
  known_.insert(field);
  if (!has(field) || !get(*node_, field).is_object()) fail(field, "an object");
  const Node node{node_->document, &get(*node_, field)};
  return StrictObject(std::make_shared<const Node>(node), path_, name_of(field));
}

std::optional<StrictObject> StrictObject::object_or_null(const std::string& field) {
  known_.insert(field);
  if (has(field) && get(*node_, field).is_null()) return std::nullopt;
  if (!has(field) || !get(*node_, field).is_object()) fail(field, "an object or null");
  return object(field);
}

std::vector<StrictObject> StrictObject::objects(const std::string& field, std::size_t least,
                                                std::size_t most) {
  known_.insert(field);
  const std::string expected = count_text(least, most) + "objects";
  if (!has(field)) fail(field, expected);
  const json& value = get(*node_, field);
  if (!value.is_array() || value.size() < least || value.size() > most) fail(field, expected);
  std::vector<StrictObject> result;
  for (const json& entry : value) {
    if (!entry.is_object()) fail(field, expected, "one that is " + shown(entry));
    const Node node{node_->document, &entry};
    const std::string where = name_of(field) + "[" + std::to_string(result.size()) + "]";
    result.push_back(StrictObject(std::make_shared<const Node>(node), path_, where));
  }
  return result;
}

void StrictObject::finish() const {
  for (const auto& [name, value] : node_->value->items()) {
    if (!known_.contains(name)) {
      fail(cut(name), "only fields that bundle format 1 has", "an unknown field");
    }
  }
}

std::vector<std::string> StrictObject::field_names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : node_->value->items()) names.push_back(name);
  return names;
}

bool is_plain_file_name(const std::string& name) {
  if (name.empty() || name.size() > 255 || name == "." || name == "..") return false;
  return std::none_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 0x20 || c == 0x7F || c == '/' || c == '\\';
  });
}

}  // namespace probe
