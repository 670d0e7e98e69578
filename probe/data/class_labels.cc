#include "probe/data/class_labels.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "probe/core/error.h"
#include "probe/core/split.h"
#include "probe/core/utf8.h"
#include "probe/data/text_input.h"

namespace probe {
namespace {

std::vector<ClassLabel> labels_of_lines(const std::filesystem::path& path,
                                        const std::string& content) {
  std::vector<ClassLabel> labels;
  for (const TextLine& line : split_lines(content)) {
    const std::vector<std::string> fields = split(std::string(line.text), '\t');
    if (fields.size() > 2) {
      throw Error(ErrorKind::input, path.string() + ":" + std::to_string(line.number) +
                                        ": expected a class, or class<TAB>name|name, got " +
                                        std::to_string(fields.size()) + " fields");
    }
    labels.push_back({fields[0], fields.size() == 2 ? split(fields[1], '|')
                                                    : std::vector<std::string>{fields[0]}});
  }
  return labels;
}

std::vector<ClassLabel> labels_of_json(const std::filesystem::path& path,
                                       const std::string& content) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::input, path.string() + ": " + what);
  };
  // A class named twice must not vanish in the parser's map.
  std::set<std::string> keys;
  const auto watch = [&](int depth, nlohmann::ordered_json::parse_event_t event,
                         nlohmann::ordered_json& value) {
    if (event == nlohmann::ordered_json::parse_event_t::key && depth == 1 &&
        !keys.insert(value.get<std::string>()).second) {
      fail("expected every class once, got \"" + printable(value.get<std::string>()) + "\" twice");
    }
    return true;
  };
  nlohmann::ordered_json document;
  try {
    document = nlohmann::ordered_json::parse(content, watch);
  } catch (const nlohmann::json::exception& error) {
    fail("expected JSON: " + first_line(error.what()));
  }
  std::vector<ClassLabel> labels;
  if (document.is_array()) {
    for (const auto& name : document) {
      if (!name.is_string()) fail("expected a list of texts");
      labels.push_back({name.get<std::string>(), {name.get<std::string>()}});
    }
    return labels;
  }
  if (!document.is_object()) fail("expected an object or a list");
  for (const auto& [name, names] : document.items()) {
    ClassLabel label{name, {}};
    if (!names.is_array()) fail("class \"" + printable(name) + "\": expected a list of names");
    for (const auto& text : names) {
      if (!text.is_string()) fail("class \"" + printable(name) + "\": expected texts as names");
      label.names.push_back(text.get<std::string>());
    }
    if (label.names.empty()) label.names.push_back(name);
    labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace

std::vector<ClassLabel> read_class_labels(const std::filesystem::path& path) {
  const std::string content = read_text(path);
  const std::vector<ClassLabel> labels = path.extension() == ".json"
                                             ? labels_of_json(path, content)
                                             : labels_of_lines(path, content);
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::input, path.string() + ": " + what);
  };
  if (labels.empty()) fail("expected classes, got none");
  std::set<std::string> classes;
  std::map<std::string, std::string> class_of;
  for (const ClassLabel& label : labels) {
    if (label.name.empty()) fail("expected a class, got an empty name");
    if (!classes.insert(label.name).second) {
      fail("expected every class once, got \"" + printable(label.name) + "\" twice");
    }
    for (const std::string& name : label.names) {
      if (name.empty()) fail("class \"" + printable(label.name) + "\": got an empty name");
      const auto [it, fresh] = class_of.emplace(name, label.name);
      if (!fresh) {
        fail("name \"" + printable(name) + "\" belongs to class \"" + printable(it->second) +
             "\" and again to \"" + printable(label.name) + "\"");
      }
    }
  }
  return labels;
}

}  // namespace probe
