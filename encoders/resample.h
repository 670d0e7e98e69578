// Pillow's antialiased resampling (libImaging/Resample.c, 8 bits a channel), bit-exact.
#pragma once

#include "encoders/spec.h"
#include "probe/core/image.h"

namespace probe {

// Part of the resized picture that is wanted, in pixels of the resized picture.
struct Window {
  int x = 0, y = 0, width = 0, height = 0;
};

// The pixels `window` of `image` resized to `width` x `height`, equal to
// PIL.Image.resize((width, height), filter) followed by a crop to `window`, but
// computing only the pixels that the window needs.
// REQUIRES a non-empty image and a window inside the resized picture.
RgbImage resample(const RgbImage& image, int width, int height, Interpolation filter,
                  const Window& window);

}  // namespace probe
