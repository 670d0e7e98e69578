// IEEE 754 binary16, converted by ourselves: HDF5's converter runs at 33 MB/s.
#pragma once

#include <cstddef>
#include <cstdint>

namespace probe {

// Round to nearest even; values too large become infinity (callers refuse them).
void floats_to_halves(const float* in, std::uint16_t* out, std::size_t count);
void halves_to_floats(const std::uint16_t* in, float* out, std::size_t count);

}  // namespace probe
