// One picture with a small square for each item, as TensorBoard's embedding projector reads it.
#pragma once

#include "probe/core/image.h"

namespace probe {

// Squares in rows from the top left, as many in a row as there are rows: the projector reads
// the row length off the sheet's width, and browsers take sheets of up to 8192 pixels.
class SpriteSheet {
 public:
  static constexpr int kLargestSheet = 8192;  // side in pixels

  // The largest square not above `wanted` pixels with which `count` of them fit; 0: none does.
  static int fitting_side(int count, int wanted);

  // White squares. Throws Error(input) if count or side is below 1, or they do not fit.
  SpriteSheet(int count, int side);

  // Draws the picture, shrunk to fit, in the middle of a square. 0 <= place < count.
  void draw(int place, const RgbImage& picture);
  // A grey square: there is no picture.
  void leave_out(int place);

  const RgbImage& picture() const { return sheet_; }

 private:
  int side_, per_row_;
  RgbImage sheet_;
};

}  // namespace probe
