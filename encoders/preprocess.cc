#include "encoders/preprocess.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "encoders/resample.h"
#include "probe/core/error.h"

namespace probe {
namespace {

std::string shape_of(const RgbImage& image) {
  return std::to_string(image.width) + " x " + std::to_string(image.height);
}

void check_image(const RgbImage& image) {
  if (image.width < 1 || image.height < 1) {
    throw Error(ErrorKind::input,
                "image: expected at least 1 x 1 pixels, got " + shape_of(image));
  }
  const std::size_t bytes = 3 * static_cast<std::size_t>(image.width) * image.height;
  if (image.pixels.size() != bytes) {
    throw Error(ErrorKind::input, "image: expected " + std::to_string(bytes) + " bytes for " +
                                      shape_of(image) + " pixels, got " +
                                      std::to_string(image.pixels.size()));
  }
}

// floor(to * longer / shorter): torchvision's and Hugging Face's int().
int long_side(const RgbImage& image, int to) {
  const std::int64_t shorter = std::min(image.width, image.height);
  const std::int64_t longer = std::max(image.width, image.height);
  const std::int64_t side = to * longer / shorter;
  if (side > std::numeric_limits<int>::max()) {
    throw Error(ErrorKind::input, "image: expected sides that differ less, got " +
                                      shape_of(image) + " pixels (the long side would become " +
                                      std::to_string(side) + ")");
  }
  return static_cast<int>(side);
}

// First pixel of a centred crop; `excess` = pixels that the crop drops on this axis.
int crop_start(int excess, CropRounding rounding) {
  const int half = excess / 2;
  const bool rounds_up =
      rounding == CropRounding::half_even && excess % 2 == 1 && half % 2 == 1;
  return half + (rounds_up ? 1 : 0);
}

RgbImage shrink_and_pad(const RgbImage& image, const ImageSpec& spec) {
  // open_clip's ResizeMaxSize: sides times one double scale, rounded half to even; the odd
  // pixel of padding goes right and below.
  const double scale =
      spec.resize_to / static_cast<double>(std::max(image.width, image.height));
  const auto scaled = [&](int side) {
    return std::clamp(static_cast<int>(std::nearbyint(side * scale)), 1, spec.resize_to);
  };
  const int width = scaled(image.width), height = scaled(image.height);
  const RgbImage inner =
      resample(image, width, height, spec.interpolation, {0, 0, width, height});
  RgbImage result;
  result.width = result.height = spec.resize_to;
  result.pixels.resize(3 * static_cast<std::size_t>(result.width) * result.height);
  for (std::size_t i = 0; i < result.pixels.size(); ++i) result.pixels[i] = spec.fill[i % 3];
  const int left = (result.width - width) / 2, top = (result.height - height) / 2;
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* from = inner.pixels.data() + 3 * static_cast<std::size_t>(y) * width;
    std::copy_n(
        from, 3 * static_cast<std::size_t>(width),
        result.pixels.begin() + 3 * (static_cast<std::size_t>(top + y) * result.width + left));
  }
  return result;
}

}  // namespace

RgbImage fit_to_tower(const RgbImage& image, const ImageSpec& spec) {
  check_image(image);
  if (spec.resize == ResizeRule::pad) return shrink_and_pad(image, spec);
  int width = spec.resize_to, height = spec.resize_to;
  if (spec.resize == ResizeRule::shortest) {
    (image.width > image.height ? width : height) = long_side(image, spec.resize_to);
  }
  Window window{0, 0, width, height};
  if (spec.crop == CropRule::center) {
    window = {crop_start(width - spec.size, spec.crop_rounding),
              crop_start(height - spec.size, spec.crop_rounding), spec.size, spec.size};
  }
  return resample(image, width, height, spec.interpolation, window);
}

void normalize_pixels(const RgbImage& fitted, const ImageSpec& spec, float* out) {
  const std::size_t plane = static_cast<std::size_t>(spec.size) * spec.size;
  for (int c = 0; c < 3; ++c) {
    // Single precision, in the order of torchvision's ToTensor and Normalize.
    std::array<float, 256> value;
    for (int level = 0; level < 256; ++level) {
      value[level] = (static_cast<float>(level) / 255.0f - spec.mean[c]) / spec.std[c];
    }
    for (std::size_t i = 0; i < plane; ++i) {
      out[c * plane + i] = value[fitted.pixels[3 * i + c]];
    }
  }
}

}  // namespace probe
