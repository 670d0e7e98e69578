// A picture as OpenCV sees it. Private to probe/imaging.
#pragma once

#include <opencv2/core.hpp>

#include "probe/core/image.h"

namespace probe {

// The picture's own pixels, RGB, not copied: the picture must outlive them, and who has it as
// const must not write.
inline cv::Mat3b view_of(const RgbImage& image) {
  return cv::Mat(image.height, image.width, CV_8UC3,
                 const_cast<std::uint8_t*>(image.pixels.data()));
}

inline RgbImage copy_of(const cv::Mat3b& mat) {
  RgbImage image{mat.rows, mat.cols, {}};
  image.pixels.resize(3 * mat.total());
  mat.copyTo(view_of(image));
  return image;
}

}  // namespace probe
