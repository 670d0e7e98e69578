#include "probe/imaging/sprite_sheet.h"

#include <cmath>
#include <opencv2/imgproc.hpp>
#include <string>

#include "probe/core/error.h"
#include "probe/imaging/picture_mat.h"
#include "probe/imaging/thumbnail.h"

namespace probe {
namespace {

int squares_per_row(int count) {
  return static_cast<int>(std::ceil(std::sqrt(static_cast<double>(count))));
}

}  // namespace

int SpriteSheet::fitting_side(int count, int wanted) {
  return std::min(wanted, kLargestSheet / std::max(1, squares_per_row(count)));
}

SpriteSheet::SpriteSheet(int count, int side) : side_(side), per_row_(squares_per_row(count)) {
  if (count < 1 || side < 1 || fitting_side(count, side) < side) {
    throw Error(ErrorKind::input, "sprite sheet: expected squares that fit " +
                                      std::to_string(kLargestSheet) + " pixels, got " +
                                      std::to_string(count) + " of " + std::to_string(side));
  }
  const int length = per_row_ * side_;
  sheet_ = {length, length, std::vector<std::uint8_t>(std::size_t{3} * length * length, 255)};
}

void SpriteSheet::draw(int place, const RgbImage& picture) {
  const RgbImage small = thumbnail(picture, side_);
  const cv::Rect target(place % per_row_ * side_ + (side_ - small.width) / 2,
                        place / per_row_ * side_ + (side_ - small.height) / 2, small.width,
                        small.height);
  view_of(small).copyTo(view_of(sheet_)(target));
}

void SpriteSheet::leave_out(int place) {
  cv::Mat3b sheet = view_of(sheet_);
  sheet(cv::Rect(place % per_row_ * side_, place / per_row_ * side_, side_, side_)) =
      cv::Vec3b(128, 128, 128);
}

}  // namespace probe
