// JPEG by libjpeg, so that damage is noticed: OpenCV returns grey rows for data that end
// early and says nothing (BUGCASES 05).
#pragma once

#include <string_view>

#include "probe/core/image.h"

namespace probe {

// Throws Error(input) with libjpeg's reason, or how many rows of how many were there.
// `divisor` 2, 4 or 8: sides of a half, a quarter, an eighth (rounded up), from fewer coefficients of each
// block (DCT scaling).
RgbImage decode_jpeg(std::string_view bytes, int divisor);

}  // namespace probe
