#include "probe/cli/twin_manifest.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/text_input.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

bool leaves(const fs::path& relative) {
  return relative.is_absolute() || (!relative.empty() && *relative.begin() == "..");
}

bool is_earlier_twin(const Item& item, const fs::path& relative) {
  return item.condition == "color" && !item.original_id.empty() && !relative.empty() &&
         *relative.begin() == "modified";
}

// The choice question an item carries in the manifest itself, or nullptr.
using OwnQuestions = std::map<std::string, const Question*>;

OwnQuestions own_questions(const Dataset& dataset) {
  OwnQuestions result;
  for (const Question& question : dataset.questions) {
    if (question.id == question.item_id + ":choice")
      result.emplace(question.item_id, &question);
  }
  return result;
}

std::string line_of(const Item& item, const fs::path& image, const Question* question) {
  Json line = {{"id", item.id}, {"image", image.generic_string()}};
  if (!item.category.empty()) line["category"] = item.category;
  line["condition"] = item.condition;
  if (!item.original_id.empty()) line["original_id"] = item.original_id;
  if (!item.attribute.empty()) line["attribute"] = item.attribute;
  if (question != nullptr) {
    line["choices"] = question->choices;
    line["answer"] = question->answer;
  }
  // As Python's json.dumps spaces it, so that mixed manifests look alike.
  std::string text = "{";
  for (const auto& [key, value] : line.items()) {
    text += (text.size() > 1 ? ", " : "") + Json(key).dump() + ": ";
    if (!value.is_array()) {
      text += value.dump();
      continue;
    }
    std::string list;
    for (const Json& element : value) list += (list.empty() ? "" : ", ") + element.dump();
    text += "[" + list + "]";
  }
  return text + "}\n";
}

// Lines of a JSON Lines manifest by the id they hold.
std::map<std::string, std::string> lines_by_id(const fs::path& manifest) {
  std::map<std::string, std::string> lines;
  const std::string content = read_text(manifest);
  for (const TextLine& line : split_lines(content)) {
    const Json id = Json::parse(line.text).at("id");  // read_dataset has checked the file
    lines.emplace(id.is_string() ? id.get<std::string>() : id.dump(),
                  std::string(line.text) + "\n");
  }
  return lines;
}

}  // namespace

fs::path relative_to(const fs::path& path, const fs::path& folder) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  const fs::path from = (fs::absolute(folder) / "").lexically_normal();
  return whole.lexically_relative(from);
}

std::string safe_file_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                       (c == '.' && !name.empty());
    name += plain ? c : '_';
  }
  return name;
}

MergedManifest merge_manifest(const Dataset& dataset, const std::vector<Twin>& twins,
                              const fs::path& folder, bool twins_only) {
  MergedManifest merged;
  const fs::path manifest =
      fs::is_directory(dataset.source) ? dataset.source / "items.jsonl" : dataset.source;
  const bool same =
      relative_to(manifest, folder) == fs::path("items.jsonl") && fs::exists(manifest);
  const auto raw = same ? lines_by_id(manifest) : std::map<std::string, std::string>{};
  const OwnQuestions questions = own_questions(dataset);
  const auto question_of = [&](const std::string& id) {
    const auto it = questions.find(id);
    return it == questions.end() ? nullptr : it->second;
  };
  std::set<std::string> ids, made;
  for (const Twin& twin : twins) made.insert(twin.id);
  std::set<fs::path> earlier;
  for (const Item& item : dataset.items) {
    const fs::path image = item.image.empty() ? fs::path() : relative_to(item.image, folder);
    if (is_earlier_twin(item, image)) {
      earlier.insert(image);
      continue;
    }
    // A twin that another run made elsewhere gives way to the one made now.
    if (twins_only || (!item.original_id.empty() && made.contains(item.id))) continue;
    ids.insert(item.id);
    // An item whose image stands in the table itself has no file to name.
    if (image.empty()) continue;
    merged.outside += leaves(image) ? 1 : 0;
    merged.text += same ? raw.at(item.id) : line_of(item, image, question_of(item.id));
  }
  for (const Twin& twin : twins) {
    if (!ids.insert(twin.id).second) {
      throw Error(ErrorKind::input, "the twin's id \"" + printable(twin.id) +
                                        "\" is that of another item already");
    }
    Item item;
    item.id = twin.id;
    item.category = twin.category;
    item.condition = "color";
    item.original_id = twin.original_id;
    item.attribute = twin.attribute;
    merged.text += line_of(item, twin.image, question_of(twin.original_id));
    earlier.erase(twin.image);
  }
  merged.gone.assign(earlier.begin(), earlier.end());
  return merged;
}

}  // namespace probe
