// The made-up pictures of tests/parity/make_pixels.py.
#pragma once

#include <cstdint>
#include <string>

#include "probe/core/image.h"

namespace probe {

// By its formula: "columns" or "noise".
inline RgbImage made_up(const std::string& formula, int width, int height) {
  RgbImage image;
  image.width = width;
  image.height = height;
  image.pixels.resize(3 * static_cast<std::size_t>(width) * height);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    if (formula == "columns") {
      image.pixels[i] = static_cast<std::uint8_t>(i / 3 % width);
    } else {
      std::uint64_t mixed = (i + 1) * 6364136223846793005u + 1442695040888963407u;
      mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9u;
      image.pixels[i] = static_cast<std::uint8_t>(mixed >> 56);
    }
  }
  return image;
}

}  // namespace probe
