#include "probe/store/npy.h"

#include <gtest/gtest.h>

namespace probe {
namespace {

// numpy.lib.format, version 1.0: what np.save writes for the same array.
TEST(Npy, SameBytesAsNumpy) {
  RowMatrix rows(2, 2);
  rows << 1, 2, 3, 4;
  const std::string bytes = npy_bytes(rows, 0);
  const std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(bytes.substr(10, header.size()), header);
  EXPECT_EQ(bytes.size(), 128u + 16u);
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_NE(npy_bytes(rows, 2).find("(2, 2, 1)"), std::string::npos);
}

}  // namespace
}  // namespace probe
