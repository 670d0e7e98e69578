#include "probe/imaging/oklab.h"

#include <gtest/gtest.h>

namespace probe {
namespace {

// sRGB_to_XYZ and XYZ_to_Oklab of the package colour-science; it rounds its matrices
// otherwise than Ottosson does, hence the tolerance.
TEST(Oklab, AgreesWithColourScience) {
  struct Case {
    Rgb rgb;
    Oklab expected;
  };
  for (const Case& c :
       {Case{{255, 0, 0}, {0.6279F, 0.2249F, 0.1258F}},
        Case{{0, 255, 0}, {0.8665F, -0.2339F, 0.1794F}},
        Case{{0, 0, 255}, {0.4520F, -0.0324F, -0.3116F}},
        Case{{255, 255, 255}, {1.0F, 0.0F, 0.0F}}, Case{{0, 0, 0}, {0.0F, 0.0F, 0.0F}},
        Case{{128, 128, 128}, {0.5999F, 0.0F, 0.0F}},
        Case{{255, 165, 0}, {0.7927F, 0.0566F, 0.1613F}},
        Case{{100, 50, 150}, {0.4343F, 0.0869F, -0.1318F}},
        Case{{12, 200, 180}, {0.7480F, -0.1324F, -0.0054F}}}) {
    const Oklab color = to_oklab(c.rgb);
    EXPECT_NEAR(color.lightness, c.expected.lightness, 3e-4);
    EXPECT_NEAR(color.a, c.expected.a, 3e-4);
    EXPECT_NEAR(color.b, c.expected.b, 3e-4);
  }
}

TEST(Oklab, EveryRgbColorComesBack) {
  for (int r = 0; r < 256; r += 15) {
    for (int g = 0; g < 256; g += 15) {
      for (int b = 0; b < 256; b += 15) {
        const Rgb rgb{static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(g),
                      static_cast<std::uint8_t>(b)};
        EXPECT_EQ(to_rgb(to_oklab(rgb)), rgb);
        EXPECT_EQ(to_rgb(to_oklab(to_oklch(to_oklab(rgb)))), rgb);
      }
    }
  }
}

TEST(Oklab, WhatSrgbCannotShowLosesOnlyChroma) {
  const Oklab wanted = to_oklab(Oklch{0.9F, 0.3F, 28.0F});  // a red as light as that is pink
  ASSERT_FALSE(in_srgb(wanted));
  const Oklch shown = to_oklch(to_oklab(to_rgb(wanted)));
  EXPECT_NEAR(shown.lightness, 0.9F, 0.005F);
  EXPECT_LT(hue_distance(shown.hue, 28.0F), 2.0F);
  EXPECT_LT(shown.chroma, 0.1F);
  EXPECT_GT(shown.chroma, 0.03F);
}

TEST(Oklab, HuesGoRound) {
  EXPECT_FLOAT_EQ(hue_distance(350.0F, 10.0F), 20.0F);
  EXPECT_FLOAT_EQ(hue_distance(10.0F, 350.0F), 20.0F);
  EXPECT_FLOAT_EQ(hue_distance(90.0F, 270.0F), 180.0F);
  EXPECT_FLOAT_EQ(hue_distance(-10.0F, 725.0F), 15.0F);
}

}  // namespace
}  // namespace probe
