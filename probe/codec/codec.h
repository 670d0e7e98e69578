// Pictures to bytes and back, by OpenCV's imgcodecs.
//
// OpenCV's codecs are a library of our own that is opened when a picture is first coded: in Debian
// they bring GDAL and a hundred libraries more, whose loading takes most of the time of a command that
// needs no pictures (`probe --help`: 0.14 s with them, 0.03 s without).
#pragma once

#include <string>
#include <string_view>

#include "probe/core/image.h"

namespace probe {

enum class PictureFormat { png, jpeg };

// Decodes every format OpenCV knows as RGB of 8 bits; orientation in EXIF is ignored.
// Throws Error(input) whose message is the reason alone. REQUIRES that the caller checked the size in
// the header (memory is allocated by it).
RgbImage decode_picture(std::string_view bytes);

// Bytes of a file. `quality` (JPEG alone) 1 to 100; chroma is subsampled (4:2:0), Huffman tables are
// optimal. Throws Error(io) if the encoder fails.
std::string encode_picture(const RgbImage& image, PictureFormat format, int quality = 92);

// Version of OpenCV, e.g. "4.6.0".
std::string codec_version();

}  // namespace probe
