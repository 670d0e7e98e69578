// A decoded picture.
#pragma once

#include <cstdint>
#include <vector>

namespace probe {

// 8-bit RGB, rows top to bottom, no padding: pixels.size() == 3 * height * width.
struct RgbImage {
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> pixels;
};

}  // namespace probe
