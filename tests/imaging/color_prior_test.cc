#include "probe/imaging/color_prior.h"

#include <gtest/gtest.h>

#include "tests/imaging/pictures.h"

namespace probe {
namespace {

const Rgb kOrange{240, 150, 30}, kGreen{60, 150, 60}, kGrey{128, 128, 128};

TEST(ColorPrior, TellsACategorysOwnColorsFromCommonOnes) {
  ColorHistogram oranges, all;
  for (int i = 0; i < 5; ++i) {
    const RgbImage orange = test::disc_picture(64, kOrange);
    oranges.add(orange);
    all.add(orange);
    all.add(test::disc_picture(64, kGreen));
  }
  const ColorPrior prior(oranges, all);
  EXPECT_GT(prior.log_ratio(to_oklab(Rgb{220, 138, 28})), 1.0F);
  EXPECT_LT(prior.log_ratio(to_oklab(Rgb{55, 138, 55})), -1.0F);
  EXPECT_NEAR(prior.log_ratio(to_oklab(kGrey)), 0.0F, 0.1F);  // behind both
}

TEST(ColorPrior, KnowsNothingFromTwoPictures) {
  ColorHistogram few, all;
  for (int i = 0; i < 5; ++i) all.add(test::disc_picture(64, kGreen));
  for (int i = 0; i < 2; ++i) {
    few.add(test::disc_picture(64, kOrange));
    all.add(test::disc_picture(64, kOrange));
  }
  EXPECT_EQ(ColorPrior(few, all).log_ratio(to_oklab(kOrange)), 0.0F);
}

}  // namespace
}  // namespace probe
