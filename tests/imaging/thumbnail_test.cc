#include "probe/imaging/thumbnail.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace probe {
namespace {

RgbImage plain(int width, int height, std::uint8_t value) {
  return {height, width, std::vector<std::uint8_t>(std::size_t{3} * width * height, value)};
}

TEST(Thumbnail, LongerSideShrinksAndTheOtherFollows) {
  const RgbImage wide = thumbnail(plain(1000, 333, 7), 96);
  EXPECT_EQ(wide.width, 96);
  EXPECT_EQ(wide.height, 32);  // 333 * 96 / 1000 = 31.97
  EXPECT_EQ(wide.pixels, std::vector<std::uint8_t>(96 * 32 * 3, 7));
  EXPECT_EQ(thumbnail(plain(3, 4000, 7), 96).width, 1);
}

TEST(Thumbnail, PixelsAreAveraged) {
  RgbImage image = plain(2, 2, 0);
  image.pixels = {0, 10, 20, 100, 10, 20, 200, 10, 20, 100, 10, 24};
  EXPECT_EQ(thumbnail(image, 1).pixels, (std::vector<std::uint8_t>{100, 10, 21}));
}

TEST(Thumbnail, SmallPicturesStayAsTheyAre) {
  const RgbImage small = plain(20, 96, 5);
  EXPECT_EQ(thumbnail(small, 96).pixels, small.pixels);
}

TEST(Thumbnail, EmptyPicturesAreRefused) {
  EXPECT_PROBE_ERROR(thumbnail(RgbImage{}, 96), ErrorKind::input,
                     "thumbnail: expected a picture and a side of at least 1, got 0 x 0 and 96");
}

}  // namespace
}  // namespace probe
