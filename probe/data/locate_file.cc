#include "probe/data/locate_file.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/json_lines.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string required_text(const JsonObject& object, const char* field) {
  const std::string value = object.text(field);
  if (value.empty()) object.fail(std::string("\"") + field + "\" is empty");
  return value;
}

std::vector<Box> boxes_of(const JsonObject& object, int width, int height) {
  const auto lists = object.number_lists("boxes");
  if (lists.size() != kLocateCandidates) {
    object.fail("\"boxes\": expected 4 boxes, got " + std::to_string(lists.size()));
  }
  std::vector<Box> boxes;
  for (const std::vector<double>& v : lists) {
    if (v.size() != 4) object.fail("\"boxes\": expected four numbers for each box");
    const bool inside = v[0] >= 0 && v[1] >= 0 && v[2] > 0 && v[3] > 0 &&
                        v[0] + v[2] <= width + 1e-6 && v[1] + v[3] <= height + 1e-6;
    if (!inside) object.fail("\"boxes\": a box is not within the picture");
    boxes.push_back({v[0], v[1], v[2], v[3]});
  }
  return boxes;
}

std::string box_text(const Box& box) {
  const auto whole = [](double value) { return std::to_string(std::lround(value)); };
  return "(" + whole(box.x) + ", " + whole(box.y) + ", " + whole(box.width) + ", " +
         whole(box.height) + ")";
}

}  // namespace

std::vector<LocateExpression> read_locate_expressions(const fs::path& path) {
  std::vector<LocateExpression> expressions;
  for_each_json_line(path, [&](const JsonObject& object) {
    object.allow_only({"annotation_id", "expression", "question", "yes_no"});
    LocateExpression entry;
    entry.object_id = object.integer64("annotation_id");
    entry.expression = required_text(object, "expression");
    entry.question =
        object.text_or("question", "Which one contains " + entry.expression + "?");
    entry.yes_no =
        object.text_or("yes_no", "Does the red box contain " + entry.expression + "?");
    expressions.push_back(std::move(entry));
  });
  return expressions;
}

std::vector<LocateItem> read_locate_items(const fs::path& path) {
  std::vector<LocateItem> items;
  std::unordered_set<std::string> ids;
  for_each_json_line(path, [&](const JsonObject& object) {
    object.allow_only({"item_id", "image", "width", "height", "category", "boxes", "answer",
                       "expression", "question", "yes_no"});
    LocateItem item;
    item.id = required_text(object, "item_id");
    if (!ids.insert(item.id).second) {
      object.fail("item_id \"" + printable(item.id) + "\" stands twice");
    }
    item.image = required_text(object, "image");
    item.width = object.integer("width");
    item.height = object.integer("height");
    item.category = object.text("category");
    item.boxes = boxes_of(object, item.width, item.height);
    item.answer = object.integer("answer");
    if (item.answer < 0 || item.answer >= kLocateCandidates) {
      object.fail("\"answer\": expected 0 to 3, got " + std::to_string(item.answer));
    }
    item.expression = object.text_or("expression", "");
    item.question = object.text_or("question", "");
    item.yes_no = object.text_or("yes_no", "");
    items.push_back(std::move(item));
  });
  return items;
}

std::string locate_items_file(const std::vector<LocateItem>& items) {
  std::string file;
  for (const LocateItem& item : items) {
    OrderedJson boxes = OrderedJson::array();
    for (const Box& box : item.boxes) boxes.push_back({box.x, box.y, box.width, box.height});
    OrderedJson line = {{"item_id", item.id},   {"image", item.image},
                        {"width", item.width},  {"height", item.height},
                        {"category", item.category}};
    line["boxes"] = boxes;
    line["answer"] = item.answer;
    line["expression"] = item.expression;
    line["question"] = item.question;
    line["yes_no"] = item.yes_no;
    file += line.dump() + "\n";
  }
  return file;
}

std::vector<LocateResponse> read_locate_responses(const fs::path& path) {
  std::vector<LocateResponse> responses;
  for_each_json_line(path, [&](const JsonObject& object) {
    object.allow_only({"model", "item_id", "format", "candidate", "response"});
    const std::string name = object.text("format");
    const auto format = parse_locate_format(name);
    if (!format) {
      object.fail("\"format\": expected letters, colors, coordinates, one_by_one, crop, circle "
                  "or blur, got \"" + printable(name) + "\"");
    }
    responses.push_back({object.where(), required_text(object, "model"),
                         required_text(object, "item_id"), *format,
                         object.has("candidate") ? object.integer("candidate") : -1,
                         object.text("response")});
  });
  return responses;
}

std::string locate_responses_file(const std::vector<LocateResponse>& responses) {
  std::string file;
  for (const LocateResponse& response : responses) {
    OrderedJson line = {{"model", response.model},
                        {"item_id", response.item_id},
                        {"format", locate_format_name(response.format)}};
    if (response.candidate >= 0) line["candidate"] = response.candidate;
    line["response"] = response.response;
    file += line.dump() + "\n";
  }
  return file;
}

std::string locate_prompt(const LocateItem& item, LocateFormat format) {
  switch (format) {
    case LocateFormat::letters:
      return "There are 4 bounding boxes (drawn in red rectangles) marked with A, B, C, D in the "
             "image. " + item.question +
             "\n\nPlease answer in the following format: Answer: (A|B|C|D)";
    case LocateFormat::colors:
      return "There are 4 bounding boxes drawn in color red, green, blue and yellow. " +
             item.question +
             "\n\nPlease answer in the following format: Answer: (red|green|blue|yellow)";
    case LocateFormat::coordinates: {
      std::string boxes;
      for (const Box& box : item.boxes) boxes += (boxes.empty() ? "" : ", ") + box_text(box);
      return "There are 4 " + item.category +
             " in the image. Their bounding boxes (x, y, width, height) are " + boxes +
             " respectively. " + item.question +
             "\n\nPlease output the bounding box in the following format: Answer: (x, y, width, "
             "height)";
    }
    case LocateFormat::one_by_one:
      return item.yes_no + " Please output the answer in the following format: Answer: (Yes|No)";
    default: return item.expression;
  }
}

std::string locate_prompt_line(const LocateItem& item, LocateFormat format, int candidate,
                               const std::string& image) {
  OrderedJson line = {{"item_id", item.id}, {"format", locate_format_name(format)}};
  if (candidate >= 0) line["candidate"] = candidate;
  line["image"] = image;
  line["prompt"] = locate_prompt(item, format);
  return line.dump() + "\n";
}

}  // namespace probe
