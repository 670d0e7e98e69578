#include "probe/data/image_file.h"

#include <algorithm>
#include <array>

#include "probe/codec/codec.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/data/jpeg.h"

namespace probe {

namespace {

int jpeg_divisor(const ImageHeader& header, int fast_side) {
  const std::int64_t shorter = std::min(header.width, header.height);
  int divisor = 1;
  while (fast_side > 0 && divisor < 8 && shorter / (2 * divisor) >= 2 * std::int64_t{fast_side}) {
    divisor *= 2;
  }
  return divisor;
}

}  // namespace

RgbImage decode_image(std::string_view bytes, int fast_side) {
  if (bytes.empty()) throw Error(ErrorKind::input, "empty file");
  const ImageHeader header = read_image_header(bytes);
  if (header.format == ImageFormat::unknown) {
    throw Error(ErrorKind::input, "expected JPEG, PNG, WebP, BMP or TIFF, got another format");
  }
  if (header.width <= 0 || header.height <= 0) {
    throw Error(ErrorKind::input, "damaged image: no size in its header");
  }
  if (header.width > kMaxImagePixels / header.height) {
    throw Error(ErrorKind::input, "expected at most " + std::to_string(kMaxImagePixels) +
                                      " pixels, got " + std::to_string(header.width) + " x " +
                                      std::to_string(header.height));
  }
  const bool jpeg = header.format == ImageFormat::jpeg;
  const int divisor = jpeg ? jpeg_divisor(header, fast_side) : 1;
  RgbImage image = jpeg ? decode_jpeg(bytes, divisor) : decode_picture(bytes);
  const auto divided = [&](std::int64_t side) { return (side + divisor - 1) / divisor; };
  if (image.width != divided(header.width) || image.height != divided(header.height)) {
    throw Error(ErrorKind::input, "damaged image: its header says " +
                                      std::to_string(header.width) + " x " +
                                      std::to_string(header.height) + ", its data " +
                                      std::to_string(image.width) + " x " +
                                      std::to_string(image.height));
  }
  return image;
}

RgbImage read_image(const std::filesystem::path& path) {
  const std::string bytes = read_file(path, kMaxImageBytes);
  try {
    return decode_image(bytes);
  } catch (const Error& error) {
    throw Error(error.kind(), path.string() + ": " + error.what());
  }
}

void write_image(const RgbImage& image, const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  const bool jpeg = extension == ".jpg" || extension == ".jpeg";
  write_file_atomically(
      path, encode_picture(image, jpeg ? PictureFormat::jpeg : PictureFormat::png));
}

std::string decode_base64(std::string_view text) {
  if (text.starts_with("data:image/")) {
    const std::size_t comma = text.find(";base64,");
    if (comma == std::string_view::npos) {
      throw Error(ErrorKind::input, "expected \"data:image/...;base64,\" before the data");
    }
    text.remove_prefix(comma + 8);
  }
  std::array<std::int8_t, 256> value;
  value.fill(-1);
  const std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    value[static_cast<std::uint8_t>(digits[i])] = static_cast<std::int8_t>(i);
  }
  std::string bytes;
  std::uint32_t bits = 0;
  std::size_t symbols = 0, padding = 0;
  for (const char c : text) {
    if (c == '\r' || c == '\n' || c == ' ' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const std::int8_t digit = value[static_cast<std::uint8_t>(c)];
    if (digit < 0 || padding > 0) {
      throw Error(ErrorKind::input, "expected base64, got another character");
    }
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if (++symbols % 4 == 0) {
      bytes += static_cast<char>(bits >> 16);
      bytes += static_cast<char>(bits >> 8);
      bytes += static_cast<char>(bits);
    }
  }
  const std::size_t rest = symbols % 4;
  if (rest == 1 || padding > 2) {
    throw Error(ErrorKind::input, "expected base64, got data that end early");
  }
  if (rest == 2) bytes += static_cast<char>(bits >> 4);
  if (rest == 3) {
    bytes += static_cast<char>(bits >> 10);
    bytes += static_cast<char>(bits >> 2);
  }
  return bytes;
}

}  // namespace probe
