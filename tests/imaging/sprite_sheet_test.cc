#include "probe/imaging/sprite_sheet.h"

#include <gtest/gtest.h>

#include "tests/imaging/pictures.h"
#include "tests/support/expect_error.h"

namespace probe {
namespace {

Rgb pixel(const RgbImage& image, int x, int y) {
  const std::uint8_t* p = &image.pixels[3 * (static_cast<std::size_t>(y) * image.width + x)];
  return {p[0], p[1], p[2]};
}

TEST(SpriteSheet, SquaresStandInRowsFromTheTopLeft) {
  const Rgb red{200, 0, 0}, blue{0, 0, 200}, white{255, 255, 255}, grey{128, 128, 128};
  SpriteSheet sheet(5, 4);  // three in a row, and three rows
  sheet.draw(0, test::plain_picture(40, 40, red));
  sheet.draw(3, test::plain_picture(20, 40, blue));  // 2 pixels high, in the middle
  sheet.leave_out(4);
  const RgbImage& picture = sheet.picture();
  ASSERT_EQ(picture.width, 12);
  ASSERT_EQ(picture.height, 12);
  EXPECT_EQ(pixel(picture, 0, 0), red);
  EXPECT_EQ(pixel(picture, 3, 3), red);
  EXPECT_EQ(pixel(picture, 4, 0), white);
  EXPECT_EQ(pixel(picture, 0, 4), white);
  EXPECT_EQ(pixel(picture, 0, 5), blue);
  EXPECT_EQ(pixel(picture, 3, 6), blue);
  EXPECT_EQ(pixel(picture, 3, 7), white);
  EXPECT_EQ(pixel(picture, 4, 4), grey);
  EXPECT_EQ(pixel(picture, 8, 8), white);
}

TEST(SpriteSheet, SidesFitTheLargestSheet) {
  EXPECT_EQ(SpriteSheet::fitting_side(403, 64), 64);
  EXPECT_EQ(SpriteSheet::fitting_side(128 * 128, 64), 64);
  EXPECT_EQ(SpriteSheet::fitting_side(128 * 128 + 1, 64), 63);
  EXPECT_EQ(SpriteSheet::fitting_side(100'000'000, 64), 0);
  EXPECT_PROBE_ERROR(SpriteSheet(128 * 128 + 1, 64), ErrorKind::input,
                     "sprite sheet: expected squares that fit 8192 pixels, got 16385 of 64");
  EXPECT_PROBE_ERROR(SpriteSheet(0, 64), ErrorKind::input, "got 0 of 64");
}

}  // namespace
}  // namespace probe
