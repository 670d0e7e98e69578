// Image bytes to RGB, as the reference pipelines see them: PIL.Image.open().convert("RGB").
//
// - EXIF orientation is ignored for every format, as PIL's open and convert do.
// - Embedded colour profiles are ignored. Alpha is dropped, not composited.
// - CMYK and YCCK JPEG as Pillow reads them (inverted, as Adobe writes).
// - 16-bit PNG is scaled to 8 bits (v >> 8). Pillow clips 16-bit grey at 255 instead,
//   which turns it white (python-pillow#2574); BUGCASES 02 says why we differ.
// - A JPEG whose data end before the last row is refused; a missing end mark is not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "probe/core/image.h"

namespace probe {

// Largest picture that is decoded: Pillow's decompression-bomb limit, in pixels.
inline constexpr std::int64_t kMaxImagePixels = 178'956'970;
// Largest file that is read.
inline constexpr std::size_t kMaxImageBytes = std::size_t{512} << 20;

enum class ImageFormat { unknown, jpeg, png, webp, bmp, tiff };

struct ImageHeader {
  ImageFormat format = ImageFormat::unknown;
  std::int64_t width = 0;  // 0: not found
  std::int64_t height = 0;
};

// What the first bytes say, without decoding. Never throws.
ImageHeader read_image_header(std::string_view bytes);

// Decodes. Throws Error(input) whose message is the reason alone (no path): callers
// know the name of the item. Memory is not allocated before the size was checked.
// `fast_side` above 0: a JPEG comes at a half, a quarter or an eighth of its size, the smallest whose
// shorter side is still at least twice `fast_side` (--fast-decode).
RgbImage decode_image(std::string_view bytes, int fast_side = 0);

// Reads a regular file and decodes it. Throws Error(io) or Error(input) with the path.
RgbImage read_image(const std::filesystem::path& path);

// Writes PNG, or JPEG of quality 92 if the name ends so, atomically.
void write_image(const RgbImage& image, const std::filesystem::path& path);

// Bytes of standard base64; white space is passed over, and so is a leading
// "data:image/...;base64,". Throws Error(input) for anything else.
std::string decode_base64(std::string_view text);

}  // namespace probe
