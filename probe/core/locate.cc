#include "probe/core/locate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace probe {
namespace {

constexpr std::array kFormats = {LocateFormat::letters,    LocateFormat::colors,
                                 LocateFormat::coordinates, LocateFormat::one_by_one,
                                 LocateFormat::crop,       LocateFormat::circle,
                                 LocateFormat::blur};

// The coordinate rounded, and held within 0 to `limit`, which also keeps it within int.
int pixel(double value, int limit) {
  return static_cast<int>(std::lround(std::clamp(value, 0.0, static_cast<double>(limit))));
}

}  // namespace

std::optional<PixelBox> clip_box(const Box& box, int image_width, int image_height) {
  for (const double value : {box.x, box.y, box.width, box.height}) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  if (box.width <= 0 || box.height <= 0) return std::nullopt;
  const PixelBox clipped{pixel(box.x, image_width), pixel(box.y, image_height),
                         pixel(box.x + box.width, image_width),
                         pixel(box.y + box.height, image_height)};
  if (clipped.width() <= 0 || clipped.height() <= 0) return std::nullopt;
  return clipped;
}

double box_overlap(const Box& a, const Box& b) {
  const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const double height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  if (width <= 0 || height <= 0) return 0.0;
  const double common = width * height;
  return common / (a.width * a.height + b.width * b.height - common);
}

const char* locate_format_name(LocateFormat format) {
  switch (format) {
    case LocateFormat::letters: return "letters";
    case LocateFormat::colors: return "colors";
    case LocateFormat::coordinates: return "coordinates";
    case LocateFormat::one_by_one: return "one_by_one";
    case LocateFormat::crop: return "crop";
    case LocateFormat::circle: return "circle";
    case LocateFormat::blur: return "blur";
  }
  return "";
}

std::optional<LocateFormat> parse_locate_format(const std::string& name) {
  for (const LocateFormat format : kFormats) {
    if (name == locate_format_name(format)) return format;
  }
  return std::nullopt;
}

}  // namespace probe
