#include "probe/imaging/encode_jpeg.h"

#include <gtest/gtest.h>

#include "probe/data/image_file.h"
#include "tests/imaging/pictures.h"
#include "tests/support/expect_error.h"

namespace probe {
namespace {

TEST(EncodeJpeg, HoldsTheCommentAndThePicture) {
  const RgbImage image = test::disc_picture(64, {230, 130, 20});
  const std::string file = encode_jpeg(image, 95, "SYNTHETIC: test");
  // Start of image, COM, length 17 (ITU-T T.81, tables B.1 and B.2.4.5).
  EXPECT_EQ(file.substr(0, 6), std::string("\xFF\xD8\xFF\xFE\x00\x11", 6));
  EXPECT_EQ(file.substr(6, 15), "SYNTHETIC: test");
  const RgbImage back = decode_image(file);
  ASSERT_EQ(back.width, 64);
  ASSERT_EQ(back.height, 64);
  EXPECT_LT(color_distance(test::color_at(back, 32, 32), test::color_at(image, 32, 32)), 0.03F);
  EXPECT_LT(encode_jpeg(image, 30, "").size(), encode_jpeg(image, 95, "").size());
}

TEST(EncodeJpeg, RefusesACommentThatCannotBeWritten) {
  EXPECT_PROBE_ERROR(
      encode_jpeg(test::plain_picture(8, 8, {1, 2, 3}), 90, std::string(65534, 'x')),
      ErrorKind::input, "JPEG comment: expected at most 65533 bytes, got 65534");
}

}  // namespace
}  // namespace probe
