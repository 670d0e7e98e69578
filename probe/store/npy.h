// NumPy's .npy format, version 1.0.
#pragma once

#include <string>

#include "probe/core/matrix.h"

namespace probe {

// The bytes of a float32, C-order array [n, w] (or [n, t, w/t] if `tokens` > 0).
std::string npy_bytes(const RowMatrix& rows, int tokens);

}  // namespace probe
