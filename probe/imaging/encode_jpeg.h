#pragma once

#include <string>
#include <string_view>

#include "probe/core/image.h"

namespace probe {

// Bytes of a JPEG file with `comment` in a COM segment (ITU-T T.81, B.2.4.5), where tools
// such as exiftool show it. `quality` 1 to 100; chroma is subsampled (4:2:0).
// Throws Error(input) if the comment is longer than 65,533 bytes, Error(io) if the encoder
// fails.
std::string encode_jpeg(const RgbImage& image, int quality, std::string_view comment);

}  // namespace probe
