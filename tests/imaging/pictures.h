// Pictures whose right answers are known.
#pragma once

#include <algorithm>
#include <cmath>

#include "probe/core/image.h"
#include "probe/imaging/object_mask.h"
#include "probe/imaging/oklab.h"

namespace probe::test {

inline RgbImage plain_picture(int height, int width, const Rgb& color) {
  RgbImage image{height, width, {}};
  for (int i = 0; i < height * width; ++i) {
    image.pixels.insert(image.pixels.end(), color.begin(), color.end());
  }
  return image;
}

inline bool in_disc(int x, int y, int size) {
  return std::hypot(x + 0.5 - size / 2.0, y + 0.5 - size / 2.0) < size * 0.3;
}

// A disc of the given colour, lit from the left (55% to 100%), on grey.
inline RgbImage disc_picture(int size, const Rgb& color) {
  RgbImage image = plain_picture(size, size, {128, 128, 128});
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      if (!in_disc(x, y, size)) continue;
      const double light = 1.0 - 0.45 * std::clamp((x - 0.2 * size) / (0.6 * size), 0.0, 1.0);
      for (int c = 0; c < 3; ++c) {
        image.pixels[3 * (static_cast<std::size_t>(y) * size + x) + c] =
            static_cast<std::uint8_t>(std::lround(light * color[c]));
      }
    }
  }
  return image;
}

// 255 in the disc, 0 elsewhere.
inline Mask disc_mask(int size) {
  Mask mask{size, size, {}};
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) mask.alpha.push_back(in_disc(x, y, size) ? 255 : 0);
  }
  return mask;
}

inline Oklab color_at(const RgbImage& image, int x, int y) {
  const std::uint8_t* p = &image.pixels[3 * (static_cast<std::size_t>(y) * image.width + x)];
  return to_oklab(Rgb{p[0], p[1], p[2]});
}

}  // namespace probe::test
