// From a decoded picture to the pixels a tower wants, bit-equal to Pillow's resize and
// to the crop of the reference pipeline that the bundle names.
#pragma once

#include <vector>

#include "encoders/spec.h"
#include "probe/core/image.h"

namespace probe {

// Version of the pixel arithmetic; part of every cache key. Raise it on any change
// that alters a pixel.
inline constexpr int kPreprocessVersion = 1;

// Resize, pad and crop to size x size, still 8-bit levels. Memory stays proportional to
// the output, also for 100,000 x 1 images (only the rows and columns that survive the
// crop are computed). Throws Error(input) for an empty image.
RgbImage fit_to_tower(const RgbImage& image, const ImageSpec& spec);

// (level/255 - mean)/std of a size x size picture, as planes: 3 * size * size floats,
// channel first. REQUIRES out has room for them.
void normalize_pixels(const RgbImage& fitted, const ImageSpec& spec, float* out);

}  // namespace probe
