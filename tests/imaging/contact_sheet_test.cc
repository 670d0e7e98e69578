#include "probe/imaging/contact_sheet.h"

#include <gtest/gtest.h>

#include "probe/imaging/thumbnail.h"
#include "tests/imaging/pictures.h"
#include "tests/support/expect_error.h"

namespace probe {
namespace {

TEST(ContactSheet, PutsThreePicturesSideBySide) {
  SheetEntry entry;
  entry.label = "one";
  entry.original = test::plain_picture(40, 80, {200, 0, 0});
  entry.outlined = test::plain_picture(40, 80, {0, 200, 0});
  entry.recolored = test::plain_picture(40, 80, {0, 0, 200});
  const std::vector<SheetEntry> entries(3, entry);
  const RgbImage sheet = draw_sheet(entries, 40, 2);
  ASSERT_EQ(sheet.width, 2 * (3 * 40 + 4));  // two in a row
  ASSERT_EQ(sheet.height, 2 * (40 + 10 + 4));
  const auto pixel = [&](int x, int y) {
    const std::uint8_t* p = &sheet.pixels[3 * (static_cast<std::size_t>(y) * sheet.width + x)];
    return Rgb{p[0], p[1], p[2]};
  };
  EXPECT_EQ(pixel(20, 20), (Rgb{200, 0, 0}));  // 40 x 20 each, below a label of 10
  EXPECT_EQ(pixel(60, 20), (Rgb{0, 200, 0}));
  EXPECT_EQ(pixel(100, 20), (Rgb{0, 0, 200}));
  EXPECT_EQ(pixel(20, 40), (Rgb{255, 255, 255}));
  EXPECT_EQ(pixel(124 + 20, 20), (Rgb{200, 0, 0}));
  EXPECT_EQ(pixel(20, 54 + 20), (Rgb{200, 0, 0}));  // the third, in the second row
  EXPECT_EQ(pixel(144, 54 + 20), (Rgb{255, 255, 255}));
  EXPECT_PROBE_ERROR(draw_sheet({}, 40, 2), ErrorKind::input,
                     "contact sheet: expected pictures, got none");
}

TEST(ContactSheet, OutlineFollowsTheMask) {
  const RgbImage image = test::plain_picture(120, 120, {0, 200, 0});
  const RgbImage drawn = draw_outline(image, test::disc_mask(120));
  const auto red = [&](int x, int y) {
    return drawn.pixels[3 * (static_cast<std::size_t>(y) * 120 + x)];
  };
  EXPECT_EQ(red(60, 60), 0);  // the middle is as it was
  EXPECT_EQ(red(5, 5), 0);
  EXPECT_EQ(red(24, 60), 255);  // the disc begins at x = 24
}

TEST(ContactSheet, ShrinkNeverEnlarges) {
  EXPECT_EQ(thumbnail(test::plain_picture(10, 20, {1, 2, 3}), 40).width, 20);
  const RgbImage small = thumbnail(test::plain_picture(100, 50, {1, 2, 3}), 40);
  EXPECT_EQ(small.height, 40);
  EXPECT_EQ(small.width, 20);
}

}  // namespace
}  // namespace probe
