#include "probe/imaging/object_mask.h"

#include <gtest/gtest.h>

#include "tests/imaging/pictures.h"
#include "tests/support/expect_error.h"

namespace probe {
namespace {

double overlap(const Mask& mask, const Mask& truth) {
  int both = 0, either = 0;
  for (std::size_t i = 0; i < mask.alpha.size(); ++i) {
    both += mask.alpha[i] >= 128 && truth.alpha[i] >= 128;
    either += mask.alpha[i] >= 128 || truth.alpha[i] >= 128;
  }
  return static_cast<double>(both) / either;
}

TEST(ObjectMask, FindsADisc) {
  for (const int size : {120, 400}) {  // 400: found on a smaller copy
    for (const Rgb& color : {Rgb{220, 60, 30}, Rgb{40, 160, 60}, Rgb{60, 60, 200}}) {
      const ObjectMask found = find_object(test::disc_picture(size, color), {});
      EXPECT_GE(overlap(found.mask, test::disc_mask(size)), 0.95) << size;
      EXPECT_EQ(found.method, MaskMethod::saliency_grabcut);
      EXPECT_NEAR(found.quality.area, 3.14159 * 0.09, 0.02);
      EXPECT_EQ(found.quality.border, 0.0);
      EXPECT_GT(found.quality.compactness, 0.75);
      EXPECT_EQ(found.quality.parts, 1);
    }
  }
}

TEST(ObjectMask, TheSamePictureGivesTheSameMask) {
  const RgbImage image = test::disc_picture(160, {220, 160, 30});
  EXPECT_EQ(find_object(image, {}).mask.alpha, find_object(image, {}).mask.alpha);
}

// Two discs: the box says which one is meant.
TEST(ObjectMask, NothingOutsideTheBoxIsObject) {
  RgbImage image = test::plain_picture(120, 240, {128, 128, 128});
  const RgbImage disc = test::disc_picture(120, {220, 60, 30});
  for (int y = 0; y < 120; ++y) {
    for (const int left : {0, 120}) {
      std::copy_n(&disc.pixels[3 * y * 120], 3 * 120, &image.pixels[3 * (y * 240 + left)]);
    }
  }
  MaskOptions options;
  options.box = Box{120, 10, 120, 100};
  const ObjectMask found = find_object(image, options);
  EXPECT_EQ(found.method, MaskMethod::box_grabcut);
  Mask right{120, 240, std::vector<std::uint8_t>(120 * 240, 0)};
  const Mask truth = test::disc_mask(120);
  for (int y = 0; y < 120; ++y) {
    std::copy_n(&truth.alpha[y * 120], 120, &right.alpha[y * 240 + 120]);
  }
  EXPECT_GE(overlap(found.mask, right), 0.95);
}

// GrabCut has nothing to cut in one flat colour; the fallback has no saturation to find.
TEST(ObjectMask, AFlatPictureFallsBackToSaturation) {
  const ObjectMask found = find_object(test::plain_picture(64, 64, {90, 90, 90}), {});
  EXPECT_EQ(found.method, MaskMethod::saturation);
  EXPECT_EQ(found.quality.area, 0.0);
}

TEST(ObjectMask, RefusesWhatItCannotUse) {
  EXPECT_PROBE_ERROR(find_object(test::plain_picture(7, 30, {1, 2, 3}), {}), ErrorKind::input,
                     "expected at least 8 x 8 pixels, got 30 x 7");
  MaskOptions options;
  options.box = Box{64, 0, 20, 20};
  EXPECT_PROBE_ERROR(find_object(test::plain_picture(64, 64, {1, 2, 3}), options),
                     ErrorKind::input,
                     "box: expected at least 4 x 4 pixels inside the picture");
}

TEST(ObjectMask, Measures) {
  Mask mask{10, 20, std::vector<std::uint8_t>(200, 0)};
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 20; ++x) mask.alpha[y * 20 + x] = 255;
  }
  const MaskQuality quality = measure_mask(mask);
  EXPECT_DOUBLE_EQ(quality.area, 0.5);
  // 20 along the top, and 4 more down each side, of 56 pixels at the border.
  EXPECT_DOUBLE_EQ(quality.border, 28.0 / 56.0);
  EXPECT_EQ(quality.parts, 1);
}

}  // namespace
}  // namespace probe
