#include "probe/store/npy.h"

#include <cstdint>

namespace probe {

std::string npy_bytes(const RowMatrix& rows, int tokens) {
  std::string shape = std::to_string(rows.rows()) + ", ";
  shape += tokens > 0 ? std::to_string(tokens) + ", " + std::to_string(rows.cols() / tokens)
                      : std::to_string(rows.cols());
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  // Magic (6), version (2), length (2), header and line end fill a multiple of 64.
  const std::size_t used = 10 + header.size() + 1;
  header += std::string((64 - used % 64) % 64, ' ') + "\n";
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(rows.data()),
               static_cast<std::size_t>(rows.size()) * sizeof(float));
  return bytes;
}

}  // namespace probe
