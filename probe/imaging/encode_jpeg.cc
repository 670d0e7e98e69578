#include "probe/imaging/encode_jpeg.h"

#include "probe/codec/codec.h"
#include "probe/core/error.h"

namespace probe {

std::string encode_jpeg(const RgbImage& image, int quality, std::string_view comment) {
  constexpr std::size_t longest = 65533;  // two bytes of the length count themselves
  if (comment.size() > longest) {
    throw Error(ErrorKind::input, "JPEG comment: expected at most 65533 bytes, got " +
                                      std::to_string(comment.size()));
  }
  std::string file = encode_picture(image, PictureFormat::jpeg, quality);
  if (comment.empty()) return file;
  const std::size_t length = comment.size() + 2;
  std::string segment = "\xFF\xFE";
  segment += static_cast<char>(length >> 8);
  segment += static_cast<char>(length & 0xFF);
  segment += comment;
  return file.insert(2, segment);  // after the start marker
}

}  // namespace probe
