#include "probe/imaging/thumbnail.h"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <string>

#include "probe/core/error.h"

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
  RgbImage small{scaled(image.height), scaled(image.width), {}};
  small.pixels.resize(std::size_t{3} * small.height * small.width);
  const cv::Mat from(image.height, image.width, CV_8UC3,
                     const_cast<std::uint8_t*>(image.pixels.data()));
  cv::Mat to(small.height, small.width, CV_8UC3, small.pixels.data());
  cv::resize(from, to, to.size(), 0, 0, cv::INTER_AREA);
  return small;
}

}  // namespace probe
