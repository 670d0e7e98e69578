// Annotations in COCO's format (cocodataset.org, "Data format": images, annotations,
// categories), with boxes in one of three conventions.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "probe/core/locate.h"

namespace probe {

enum class BoxFormat {
  xywh,        // x, y, width, height in pixels: COCO's own
  xyxy,        // left, top, right, bottom in pixels
  normalized,  // left, top, right, bottom as shares of width and height
};
std::optional<BoxFormat> parse_box_format(const std::string& name);

// A box that cannot be used, and why.
struct BadBox {
  std::int64_t object_id = 0;
  std::string file_name, reason;
};

struct CocoAnnotations {
  std::vector<LocateImage> images;
  std::vector<LocateObject> objects;  // boxes clipped to their picture (BUGCASES 53)
  std::vector<BadBox> bad;            // outside the picture, reversed or empty
};

// Throws Error(input) with the place in the file for missing fields, wrong types, ids that
// stand twice and references to nothing; and if most boxes leave their picture, which says
// that `format` is not the file's (BUGCASES 55).
CocoAnnotations read_coco(const std::filesystem::path& path, BoxFormat format);

}  // namespace probe
