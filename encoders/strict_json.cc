#include "encoders/strict_json.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "probe/core/error.h"

namespace probe {
namespace {

using nlohmann::json;

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
  return cut(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string number_text(double value) { return json(value).dump(); }

}  // namespace

json parse_strict_json(const std::string& text, const std::filesystem::path& path) {
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxDepth) {
      throw Error(ErrorKind::model, path.string() + ": expected at most " +
                                        std::to_string(kMaxDepth) + " levels of nesting");
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
                path.string() + ": expected JSON, got " + first_line(error.what()));
  }
}

StrictObject::StrictObject(const json& value, std::filesystem::path path, std::string where)
    : value_(value), path_(std::move(path)), where_(std::move(where)) {
  if (!value_.is_object()) {
    throw Error(ErrorKind::model, path_.string() + ": " + (where_.empty() ? "" : where_ + ": ") +
                                      "expected an object, got " + shown(value_));
  }
}

std::string StrictObject::name_of(const std::string& field) const {
  return where_.empty() ? field : where_ + "." + field;
}

void StrictObject::fail(const std::string& field, const std::string& expected,
                        const std::string& got) const {
  throw Error(ErrorKind::model, path_.string() + ": " + name_of(field) + ": expected " +
                                    expected + ", got " + got);
}

void StrictObject::fail(const std::string& field, const std::string& expected) const {
  fail(field, expected, has(field) ? shown(value_[field]) : "nothing");
}

const json& StrictObject::any(const std::string& field, const std::string& expected) {
  known_.insert(field);
  if (!has(field)) fail(field, expected);
  return value_[field];
}

std::string StrictObject::text(const std::string& field) {
  const std::string expected = "a text that is not empty";
  const json& value = any(field, expected);
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) fail(field, expected);
  return value.get<std::string>();
}

std::string StrictObject::text_or_empty(const std::string& field) {
  known_.insert(field);
  if (!has(field)) return "";
  if (!value_[field].is_string()) fail(field, "a text");
  return value_[field].get<std::string>();
}

std::string StrictObject::choice(const std::string& field,
                                 const std::vector<std::string>& choices) {
  std::string expected;
  for (const std::string& name : choices) expected += (expected.empty() ? "" : " or ") + name;
  const json& value = any(field, expected);
  if (!value.is_string() ||
      std::find(choices.begin(), choices.end(), value.get<std::string>()) == choices.end()) {
    fail(field, expected);
  }
  return value.get<std::string>();
}

std::string StrictObject::file_name(const std::string& field) {
  const std::string expected = "a plain file name in the bundle";
  const json& value = any(field, expected);
  if (!value.is_string() || !is_plain_file_name(value.get<std::string>())) {
    fail(field, expected);
  }
  return value.get<std::string>();
}

std::int64_t StrictObject::integer(const std::string& field, std::int64_t least,
                                   std::int64_t most) {
  const std::string expected =
      "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  const json& value = any(field, expected);
  if (!value.is_number_integer()) fail(field, expected);
  const bool huge = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
  if (huge || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
    fail(field, expected);
  }
  return value.get<std::int64_t>();
}

double StrictObject::number(const std::string& field, double least, double most) {
  const std::string expected =
      "a number from " + number_text(least) + " to " + number_text(most);
  const json& value = any(field, expected);
  if (!value.is_number()) fail(field, expected);
  const double number = value.get<double>();
  if (!(number >= least && number <= most)) fail(field, expected);
  return number;
}

bool StrictObject::boolean(const std::string& field) {
  const json& value = any(field, "true or false");
  if (!value.is_boolean()) fail(field, "true or false");
  return value.get<bool>();
}

std::vector<double> StrictObject::numbers(const std::string& field, std::size_t count,
                                          double least, double most) {
  const std::string expected = std::to_string(count) + " numbers from " + number_text(least) +
                               " to " + number_text(most);
  const json& value = any(field, expected);
  if (!value.is_array() || value.size() != count) fail(field, expected);
  std::vector<double> result;
  for (const json& entry : value) {
    if (!entry.is_number()) fail(field, expected, shown(entry));
    const double number = entry.get<double>();
    if (!(number >= least && number <= most)) fail(field, expected, shown(entry));
    result.push_back(number);
  }
  return result;
}

StrictObject StrictObject::object(const std::string& field) {
  return StrictObject(any(field, "an object"), path_, name_of(field));
}

const json& StrictObject::array(const std::string& field, std::size_t least,
                                std::size_t most) {
  const std::string expected =
      "a list of " + std::to_string(least) + " to " + std::to_string(most) + " entries";
  const json& value = any(field, expected);
  if (!value.is_array() || value.size() < least || value.size() > most) fail(field, expected);
  return value;
}

void StrictObject::finish() const {
  for (const auto& [name, value] : value_.items()) {
    if (!known_.contains(name)) {
      fail(cut(name), "only fields of bundle format 1", "an unknown field");
    }
  }
}

std::vector<std::string> StrictObject::field_names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : value_.items()) names.push_back(name);
  return names;
}

bool is_plain_file_name(const std::string& name) {
  if (name.empty() || name.size() > 255 || name == "." || name == "..") return false;
  return std::none_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 0x20 || c == 0x7F || c == '/' || c == '\\';
  });
}

}  // namespace probe
