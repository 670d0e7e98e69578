// NumPy's .npy format: written as version 1.0, read as 1.0, 2.0 and 3.0.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "probe/core/matrix.h"

namespace probe {

// The bytes of a float32, C-order array [n, w] (or [n, t, w/t] if `tokens` > 0).
std::string npy_bytes(const RowMatrix& rows, int tokens);

// What a header says of an array [n, d].
struct NpyHeader {
  std::int64_t rows = 0, columns = 0;  // both at least 1
  int value_bytes = 4;                 // little-endian floats: 2, 4 or 8
  std::int64_t data_offset = 0;        // of the first value in the file
};

// Reads and checks a header; the file is untrusted. Accepted is exactly what np.save
// writes of a matrix: two dimensions, C order, '<f2', '<f4' or '<f8', and as many bytes as
// the shape asks for. Throws Error(input) "<file>: expected ..., got ...", also for Fortran
// order, pickled objects, structures, other types, .npz, and pointers of Git LFS;
// Error(io) if the file cannot be read.
NpyHeader read_npy_header(const std::filesystem::path& path);

// Reads the array, converted to float32. Throws as read_npy_header does, and Error(input)
// naming the row for NaN, infinity or a double that float32 cannot hold.
RowMatrix read_npy(const std::filesystem::path& path);

}  // namespace probe
