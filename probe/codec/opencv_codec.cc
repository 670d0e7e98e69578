#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "probe/codec/codec_library.h"
#include "probe/core/error.h"

namespace probe {
namespace {

RgbImage decode(std::string_view bytes) {
  // Colours are converted in a moment, and threads for it would stay until the end.
  cv::setNumThreads(1);
  const cv::Mat raw(1, static_cast<int>(bytes.size()), CV_8UC1,
                    const_cast<char*>(bytes.data()));
  cv::Mat bgr;
  try {
    bgr = cv::imdecode(raw, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
  } catch (const cv::Exception& error) {
    throw Error(ErrorKind::input, "cannot decode: " + first_line(error.err));
  }
  if (bgr.empty()) throw Error(ErrorKind::input, "damaged image: the decoder gave nothing");
  RgbImage image{bgr.rows, bgr.cols, {}};
  image.pixels.resize(std::size_t{3} * bgr.rows * bgr.cols);
  cv::Mat rgb(bgr.rows, bgr.cols, CV_8UC3, image.pixels.data());
  cv::cvtColor(bgr, rgb, cv::COLOR_BGR2RGB);
  return image;
}

std::string encode(const RgbImage& image, PictureFormat format, int quality) {
  const bool jpeg = format == PictureFormat::jpeg;
  const std::string name = jpeg ? "JPEG" : "PNG";
  const cv::Mat rgb(image.height, image.width, CV_8UC3,
                    const_cast<std::uint8_t*>(image.pixels.data()));
  std::vector<std::uint8_t> bytes;
  try {
    cv::Mat bgr;
    cv::cvtColor(rgb, bgr, cv::COLOR_RGB2BGR);
    const std::vector<int> options =
        jpeg ? std::vector<int>{cv::IMWRITE_JPEG_QUALITY, quality, cv::IMWRITE_JPEG_OPTIMIZE, 1}
             : std::vector<int>{};
    if (cv::imencode(jpeg ? ".jpg" : ".png", bgr, bytes, options)) {
      return {bytes.begin(), bytes.end()};
    }
  } catch (const cv::Exception& error) {
    throw Error(ErrorKind::io, "cannot encode as " + name + ": " + first_line(error.err));
  }
  throw Error(ErrorKind::io, "cannot encode as " + name);
}

std::string version() { return cv::getVersionString(); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const CodecLibrary probe_codec = {decode, encode, version};

}  // namespace probe
