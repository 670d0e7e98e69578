// LocateBench's prompts as pictures (section 3.1): candidate boxes drawn on a photo, and one
// candidate shown by itself to an encoder.
//
// A frame lies inside its box, so that a box along the picture's edge shows on all sides
// (BUGCASES 53). Every coloured line stands between a white and a black one: it is seen on
// any background. Line width and letters grow with the picture's longer side.
#pragma once

#include <span>

#include "probe/core/image.h"
#include "probe/core/locate.h"

namespace probe {

// Red frames with the letters A, B, C, ... in tags at their top left corners, inside the
// picture. At most 26 boxes.
RgbImage draw_lettered_boxes(const RgbImage& image, std::span<const PixelBox> boxes);

// Frames in red, green, blue and yellow, in this order. At most 4 boxes.
RgbImage draw_colored_boxes(const RgbImage& image, std::span<const PixelBox> boxes);

// One red frame.
RgbImage draw_red_box(const RgbImage& image, const PixelBox& box);

// The box's part of the picture, with `margin` of its width and height added on each side,
// within the picture.
RgbImage crop_box(const RgbImage& image, const PixelBox& box, double margin);

// The picture with a red ellipse around the box (Shtedritski et al. 2023).
RgbImage draw_red_ellipse(const RgbImage& image, const PixelBox& box);

// The picture with everything but the box blurred (standard deviation 1/50 of the longer
// side, at least 2 pixels).
RgbImage blur_outside(const RgbImage& image, const PixelBox& box);

}  // namespace probe
