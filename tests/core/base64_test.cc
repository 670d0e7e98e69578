#include "probe/core/base64.h"

#include <gtest/gtest.h>

namespace probe {
namespace {

// RFC 4648, section 10.
TEST(Base64, TestVectorsOfTheStandard) {
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("f"), "Zg==");
  EXPECT_EQ(encode_base64("fo"), "Zm8=");
  EXPECT_EQ(encode_base64("foo"), "Zm9v");
  EXPECT_EQ(encode_base64("foob"), "Zm9vYg==");
  EXPECT_EQ(encode_base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
}

// Python: base64.b64encode(bytes([0, 255, 254, 128, 62, 63])).
TEST(Base64, BytesAboveAscii) {
  EXPECT_EQ(encode_base64(std::string_view("\x00\xFF\xFE\x80\x3E\x3F", 6)), "AP/+gD4/");
}

}  // namespace
}  // namespace probe
