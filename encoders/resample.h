// Pillow's antialiased resampling (libImaging/Resample.c, 8 bits a channel), bit-exact.
#pragma once

#include "encoders/spec.h"
#include "probe/core/image.h"

namespace probe {

// Part of the resized picture that is wanted, in pixels of the resized picture.
struct Window {
  int x = 0, y = 0, width = 0, height = 0;
};

// Which axis is resized first. Levels are rounded and clamped in between, so that the order
// shows in a few pixels of portraits (by up to 4 levels in our photos). Pillow 13.0 goes
// down first if the height loses more than twice the pixels that the width loses; up to
// Pillow 12 it always went across first.
enum class PassOrder { pillow_13, across_first };

// The pixels `window` of `image` resized to `width` x `height`, equal to
// PIL.Image.resize((width, height), filter) followed by a crop to `window`, but
// computing only the pixels that the window needs.
// REQUIRES a non-empty image and a window inside the resized picture.
RgbImage resample(const RgbImage& image, int width, int height, Interpolation filter,
                  const Window& window, PassOrder order = PassOrder::pillow_13);

}  // namespace probe
