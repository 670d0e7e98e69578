#include "probe/imaging/recolor.h"

#include <gtest/gtest.h>

#include "tests/imaging/pictures.h"
#include "tests/support/expect_error.h"

namespace probe {
namespace {

constexpr int kSize = 120;

TEST(Recolor, EveryNamedColorIsReached) {
  for (const Rgb& start : {Rgb{230, 130, 20}, Rgb{60, 140, 50}, Rgb{120, 90, 70}}) {
    const RgbImage image = test::disc_picture(kSize, start);
    for (const NamedColor& color : named_colors()) {
      const Recolored result = recolor(image, test::disc_mask(kSize), color);
      EXPECT_LE(result.quality.hue_error, 8.0) << color.name;
      EXPECT_LE(result.quality.color_distance, 0.12) << color.name;
      // Measured here again, away from the code under test.
      double a = 0.0, b = 0.0;
      for (int y = 0; y < kSize; ++y) {
        for (int x = 0; x < kSize; ++x) {
          if (!test::in_disc(x, y, kSize)) continue;
          a += test::color_at(result.image, x, y).a;
          b += test::color_at(result.image, x, y).b;
        }
      }
      if (color.target.chroma < 0.04F) continue;
      const double hue = std::atan2(b, a) * 180.0 / 3.14159265;
      EXPECT_LE(hue_distance(static_cast<float>(hue), color.target.hue), 8.0F) << color.name;
    }
  }
}

TEST(Recolor, BackgroundStaysByteForByte) {
  const RgbImage image = test::disc_picture(kSize, {230, 130, 20});
  const Recolored result =
      recolor(image, test::disc_mask(kSize), *find_named_color("deep purple"));
  int changed = 0;
  for (int y = 0; y < kSize; ++y) {
    for (int x = 0; x < kSize; ++x) {
      const std::size_t at = 3 * (static_cast<std::size_t>(y) * kSize + x);
      const bool same =
          std::equal(&image.pixels[at], &image.pixels[at] + 3, &result.image.pixels[at]);
      if (!test::in_disc(x, y, kSize)) {
        ASSERT_TRUE(same) << x << ", " << y;
      }
      changed += same ? 0 : 1;
    }
  }
  EXPECT_GT(changed, 2500);
}

// The disc gets darker from left to right; so must every recoloured one.
TEST(Recolor, ShadingKeepsItsOrder) {
  const RgbImage image = test::disc_picture(kSize, {230, 130, 20});
  for (const char* name : {"black", "pure white", "light pink", "bright yellow", "deep red"}) {
    const RgbImage result =
        recolor(image, test::disc_mask(kSize), *find_named_color(name)).image;
    int falls = 0;
    for (int x = 26; x < 94; ++x) {
      const float left = test::color_at(result, x - 1, 60).lightness;
      const float here = test::color_at(result, x, 60).lightness;
      EXPECT_LE(here, left + 0.004F) << name << " at " << x;  // half a code of rounding
      falls += here < left - 0.0005F ? 1 : 0;
    }
    EXPECT_GT(falls, 15) << name << " lost its shading";
  }
}

TEST(Recolor, HalfAMaskMixesHalf) {
  const RgbImage image = test::plain_picture(10, 10, {200, 40, 40});
  const NamedColor color = *find_named_color("rich blue");
  const Mask whole{10, 10, std::vector<std::uint8_t>(100, 255)};
  Mask half = whole;
  half.alpha[0] = 128;
  const Oklab before = test::color_at(image, 0, 0);
  const Oklab full = test::color_at(recolor(image, whole, color).image, 0, 0);
  const Oklab mixed = test::color_at(recolor(image, half, color).image, 0, 0);
  EXPECT_NEAR(mixed.a, (before.a + full.a) / 2, 0.01);
  EXPECT_NEAR(mixed.b, (before.b + full.b) / 2, 0.01);
}

TEST(Recolor, TheDifferenceFromItsOwnColor) {
  const RgbImage red = test::plain_picture(10, 10, {230, 20, 20});
  const Mask whole{10, 10, std::vector<std::uint8_t>(100, 255)};
  const ObjectColor object = measure_object(red, whole);
  EXPECT_LT(difference_from(object, *find_named_color("vivid red")), 0.05F);
  EXPECT_GT(difference_from(object, *find_named_color("rich blue")), 0.3F);
}

TEST(Recolor, SaysWhatFallsShort) {
  const QualityLimits limits;
  const auto quality = [](double area, double hue, double distance, double change) {
    RecolorQuality q;
    q.mask_fraction = area, q.hue_error = hue, q.color_distance = distance, q.change = change;
    return q;
  };
  EXPECT_EQ(quality_failure(quality(0.3, 5, 0.1, 0.2), limits), "");
  EXPECT_EQ(quality_failure(quality(0.012, 5, 0.1, 0.2), limits),
            "mask too small: expected at least 4.0% of the picture, got 1.2%");
  EXPECT_EQ(quality_failure(quality(0.99, 5, 0.1, 0.2), limits),
            "mask too large: expected at most 98.0% of the picture, got 99.0%");
  EXPECT_EQ(quality_failure(quality(0.3, 45, 0.1, 0.2), limits),
            "colour not reached: expected a hue within 20 degrees, got 45");
  EXPECT_EQ(quality_failure(quality(0.3, 5, 0.35, 0.2), limits),
            "colour not reached: expected within 0.20 of it (OKLab), got 0.35");
  EXPECT_EQ(quality_failure(quality(0.3, 5, 0.1, 0.01), limits),
            "hardly changed: expected at least 0.06 (OKLab), got 0.01");
}

TEST(Recolor, RefusesAMaskThatDoesNotFit) {
  const RgbImage image = test::plain_picture(10, 10, {200, 40, 40});
  const NamedColor color = *find_named_color("golden");
  EXPECT_PROBE_ERROR(recolor(image, {5, 10, std::vector<std::uint8_t>(50, 255)}, color),
                     ErrorKind::input, "mask: expected 10 x 10, got 10 x 5");
  EXPECT_PROBE_ERROR(recolor(image, {10, 10, std::vector<std::uint8_t>(100, 0)}, color),
                     ErrorKind::input, "mask: expected pixels of the object, got none");
}

}  // namespace
}  // namespace probe
