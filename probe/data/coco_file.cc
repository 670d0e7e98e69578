#include "probe/data/coco_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/text_input.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::json;

constexpr double kSlack = 1.0;  // pixels a box may stick out before it counts as leaving
constexpr int kLargestSide = 1 << 20;

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::input, where + ": " + message);
}

const Json& field(const Json& object, const char* name, const std::string& where) {
  const auto it = object.find(name);
  if (it == object.end()) fail(where, std::string("\"") + name + "\" is missing");
  return *it;
}

std::int64_t whole(const Json& object, const char* name, const std::string& where) {
  const Json& value = field(object, name, where);
  if (!value.is_number_integer()) {
    fail(where, std::string("\"") + name + "\": expected an integer, got " + value.type_name());
  }
  return value.get<std::int64_t>();
}

std::string text(const Json& object, const char* name, const std::string& where) {
  const Json& value = field(object, name, where);
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    fail(where, std::string("\"") + name + "\": expected a string that is not empty");
  }
  return value.get<std::string>();
}

// Calls `use` for each object of the list called `name`.
template <typename Use>
void for_each(const Json& file, const char* name, const std::string& path, const Use& use) {
  const Json& list = field(file, name, path);
  if (!list.is_array()) fail(path, std::string("\"") + name + "\": expected a list");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = path + ": " + name + "[" + std::to_string(i) + "]";
    if (!list[i].is_object()) fail(where, "expected an object");
    use(list[i], where);
  }
}

Box read_box(const Json& object, BoxFormat format, const LocateImage& image,
             const std::string& where) {
  const Json& value = field(object, "bbox", where);
  double v[4];
  if (!value.is_array() || value.size() != 4) fail(where, "\"bbox\": expected four numbers");
  for (int i = 0; i < 4; ++i) {
    if (!value[i].is_number()) {
      fail(where, std::string("\"bbox\": expected four numbers, got a ") + value[i].type_name());
    }
    v[i] = value[i].get<double>();
  }
  switch (format) {
    case BoxFormat::xywh: return {v[0], v[1], v[2], v[3]};
    case BoxFormat::xyxy: return {v[0], v[1], v[2] - v[0], v[3] - v[1]};
    case BoxFormat::normalized: {
      const double w = image.width, h = image.height;
      return {v[0] * w, v[1] * h, (v[2] - v[0]) * w, (v[3] - v[1]) * h};
    }
  }
  return {};
}

bool leaves(const Box& box, const LocateImage& image) {
  return box.x < -kSlack || box.y < -kSlack || box.x + box.width > image.width + kSlack ||
         box.y + box.height > image.height + kSlack;
}

// The part within the picture, not rounded; nullopt if there is none.
std::optional<Box> clipped(const Box& box, const LocateImage& image) {
  const double x0 = std::max(box.x, 0.0), y0 = std::max(box.y, 0.0);
  const double x1 = std::min(box.x + box.width, static_cast<double>(image.width));
  const double y1 = std::min(box.y + box.height, static_cast<double>(image.height));
  if (!(x1 > x0 && y1 > y0)) return std::nullopt;
  const bool whole = x0 == box.x && y0 == box.y && x1 == box.x + box.width &&
                     y1 == box.y + box.height;
  if (whole) return box;  // its digits as they stood in the file
  return Box{x0, y0, x1 - x0, y1 - y0};
}

Json parse(const fs::path& path) {
  const std::string content = read_text(path);
  try {
    Json file = Json::parse(content);
    if (!file.is_object()) fail(path.string(), "expected one JSON object");
    return file;
  } catch (const Json::exception& error) {
    fail(path.string(), "invalid JSON: " + first_line(error.what()));
  }
}

}  // namespace

std::optional<BoxFormat> parse_box_format(const std::string& name) {
  if (name == "xywh") return BoxFormat::xywh;
  if (name == "xyxy") return BoxFormat::xyxy;
  if (name == "normalized") return BoxFormat::normalized;
  return std::nullopt;
}

CocoAnnotations read_coco(const fs::path& path, BoxFormat format) {
  const Json file = parse(path);
  CocoAnnotations result;
  std::unordered_map<std::int64_t, std::size_t> images;
  for_each(file, "images", path.string(), [&](const Json& object, const std::string& where) {
    const std::int64_t width = whole(object, "width", where);
    const std::int64_t height = whole(object, "height", where);
    if (width < 1 || height < 1 || width > kLargestSide || height > kLargestSide) {
      fail(where, "width and height: expected 1 to " + std::to_string(kLargestSide));
    }
    const LocateImage image{whole(object, "id", where), text(object, "file_name", where),
                            static_cast<int>(width), static_cast<int>(height)};
    if (!images.emplace(image.id, result.images.size()).second) {
      fail(where, "id " + std::to_string(image.id) + " stands twice");
    }
    result.images.push_back(image);
  });
  std::unordered_map<std::int64_t, std::pair<std::string, std::string>> categories;
  for_each(file, "categories", path.string(), [&](const Json& object, const std::string& where) {
    const std::int64_t id = whole(object, "id", where);
    const std::string name = text(object, "name", where);
    const std::string super = object.contains("supercategory")
                                  ? text(object, "supercategory", where)
                                  : name;
    if (!categories.emplace(id, std::pair{name, super}).second) {
      fail(where, "id " + std::to_string(id) + " stands twice");
    }
  });
  std::unordered_set<std::int64_t> ids;
  std::int64_t leaving = 0, boxes = 0;
  for_each(file, "annotations", path.string(), [&](const Json& object, const std::string& where) {
    LocateObject entry;
    entry.id = whole(object, "id", where);
    entry.image_id = whole(object, "image_id", where);
    entry.crowd = object.contains("iscrowd") && whole(object, "iscrowd", where) != 0;
    if (!ids.insert(entry.id).second) {
      fail(where, "id " + std::to_string(entry.id) + " stands twice");
    }
    const auto image = images.find(entry.image_id);
    if (image == images.end()) {
      fail(where, "image_id " + std::to_string(entry.image_id) + " is not among the images");
    }
    const std::int64_t category_id = whole(object, "category_id", where);
    const auto category = categories.find(category_id);
    if (category == categories.end()) {
      fail(where, "category_id " + std::to_string(category_id) + " is not among the categories");
    }
    entry.category = category->second.first;
    entry.super_category = category->second.second;
    const LocateImage& picture = result.images[image->second];
    const Box box = read_box(object, format, picture, where);
    ++boxes;
    leaving += leaves(box, picture) ? 1 : 0;
    if (!(box.width > 0 && box.height > 0)) {
      result.bad.push_back({entry.id, picture.file_name,
                            "expected a box with width and height above 0"});
      return;
    }
    const auto inside = clipped(box, picture);
    if (!inside) {
      result.bad.push_back({entry.id, picture.file_name, "the box is outside the picture"});
      return;
    }
    entry.box = *inside;
    result.objects.push_back(std::move(entry));
  });
  const auto reversed = std::count_if(result.bad.begin(), result.bad.end(), [](const BadBox& bad) {
    return bad.reason.starts_with("expected");
  });
  if (2 * (leaving + reversed) > boxes) {
    fail(path.string(), std::to_string(leaving) + " of " + std::to_string(boxes) +
                            " boxes leave their picture and " + std::to_string(reversed) +
                            " are reversed or empty: is --box-format another one?");
  }
  return result;
}

}  // namespace probe
