#include "probe/imaging/encode_jpeg.h"

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "probe/core/error.h"
#include "probe/imaging/picture_mat.h"

namespace probe {

std::string encode_jpeg(const RgbImage& image, int quality, std::string_view comment) {
  constexpr std::size_t longest = 65533;  // two bytes of the length count themselves
  if (comment.size() > longest) {
    throw Error(ErrorKind::input, "JPEG comment: expected at most 65533 bytes, got " +
                                      std::to_string(comment.size()));
  }
  cv::Mat bgr;
  std::vector<std::uint8_t> bytes;
  try {
    cv::cvtColor(view_of(image), bgr, cv::COLOR_RGB2BGR);
    if (!cv::imencode(".jpg", bgr, bytes,
                      {cv::IMWRITE_JPEG_QUALITY, quality, cv::IMWRITE_JPEG_OPTIMIZE, 1})) {
      throw Error(ErrorKind::io, "cannot encode as JPEG");
    }
  } catch (const cv::Exception& error) {
    throw Error(ErrorKind::io, "cannot encode as JPEG: " + first_line(error.err));
  }
  std::string file(bytes.begin(), bytes.end());
  if (comment.empty()) return file;
  const std::size_t length = comment.size() + 2;
  std::string segment = "\xFF\xFE";
  segment += static_cast<char>(length >> 8);
  segment += static_cast<char>(length & 0xFF);
  segment += comment;
  return file.insert(2, segment);  // after the start marker
}

}  // namespace probe
