#include "probe/imaging/thumbnail.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <string>

#include "probe/core/error.h"
#include "probe/imaging/picture_mat.h"

namespace probe {

RgbImage thumbnail(const RgbImage& image, int side) {
  if (side < 1 || image.width < 1 || image.height < 1) {
    throw Error(ErrorKind::input, "thumbnail: expected a picture and a side of at least 1, got " +
                                      std::to_string(image.width) + " x " +
                                      std::to_string(image.height) + " and " +
                                      std::to_string(side));
  }
  const int longer = std::max(image.width, image.height);
  if (longer <= side) return image;
  const double scale = static_cast<double>(side) / longer;
  const auto scaled = [&](int length) {
    return std::max(1, static_cast<int>(std::lround(length * scale)));
  };
  cv::Mat3b small;
  cv::resize(view_of(image), small, {scaled(image.width), scaled(image.height)}, 0, 0,
             cv::INTER_AREA);
  return copy_of(small);
}

}  // namespace probe
