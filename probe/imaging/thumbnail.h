// Small copies of pictures, for pages and contact sheets.
#pragma once

#include "probe/core/image.h"

namespace probe {

// The whole picture, shrunk so that its longer side has `side` pixels (area average, the
// other side rounded and at least 1). A picture that is small enough is returned as it is.
// Throws Error(input) if side < 1 or the picture is empty.
RgbImage thumbnail(const RgbImage& image, int side);

}  // namespace probe
