// Against Pillow 13: golden/pixels.json, made by tests/parity/make_pixels.py.
#include "encoders/preprocess.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "probe/core/error.h"
#include "probe/core/sha256.h"
#include "tests/encoders/golden_json.h"
#include "tests/encoders/made_up.h"

namespace probe {
namespace {

ImageSpec clip_spec(int size = 224) {
  ImageSpec spec;
  spec.size = spec.resize_to = size;
  spec.mean = {0.5f, 0.25f, 0.125f};
  spec.std = {0.5f, 0.25f, 2.0f};
  return spec;
}

TEST(FitToTower, GivesPillowsPixels) {
  const nlohmann::json golden = read_golden("pixels.json");
  ASSERT_GT(golden["cases"].size(), 150u);
  for (const nlohmann::json& entry : golden["cases"]) {
    ImageSpec spec = clip_spec(entry["size"]);
    spec.resize_to = entry["to"];
    spec.resize = entry["rule"] == "shortest" ? ResizeRule::shortest
                  : entry["rule"] == "squash" ? ResizeRule::squash
                                              : ResizeRule::pad;
    spec.interpolation =
        entry["interpolation"] == "bicubic" ? Interpolation::bicubic : Interpolation::bilinear;
    spec.crop = entry["crop"] == "center" ? CropRule::center : CropRule::none;
    spec.crop_rounding =
        entry["rounding"] == "floor" ? CropRounding::floor : CropRounding::half_even;
    spec.fill = {0, 128, 255};
    const RgbImage fitted =
        fit_to_tower(made_up(entry["formula"], entry["width"], entry["height"]), spec);
    ASSERT_EQ(fitted.width, spec.size);
    ASSERT_EQ(fitted.height, spec.size);
    const std::vector<int> start(fitted.pixels.begin(), fitted.pixels.begin() + 12);
    EXPECT_EQ(start, entry["start"].get<std::vector<int>>()) << entry;
    EXPECT_EQ(
        sha256_hex({reinterpret_cast<const char*>(fitted.pixels.data()), fitted.pixels.size()}),
        entry["sha256"])
        << entry;
  }
}

// Columns are numbered, so that the first value of a row is the first column kept.
TEST(Bugcase07, CropStartsWhereTheReferenceDoes) {
  const int widths[] = {297, 299, 301};
  const int half_even[] = {36, 38, 38}, floor[] = {36, 37, 38};
  for (int i = 0; i < 3; ++i) {
    ImageSpec spec = clip_spec();
    const RgbImage image = made_up("columns", widths[i], 224);
    EXPECT_EQ(fit_to_tower(image, spec).pixels[0], half_even[i]);
    spec.crop_rounding = CropRounding::floor;
    EXPECT_EQ(fit_to_tower(image, spec).pixels[0], floor[i]);
  }
}

// 298, 335 and 336 columns or rows: with one more or less, all other pixels would move too
// (the hashes of golden/pixels.json hold these sizes). A squash keeps both ends.
TEST(Bugcase07, SquashKeepsTheSides) {
  RgbImage image;
  image.width = 1000;
  image.height = 200;
  image.pixels.assign(3 * 1000 * 200, 0);
  for (int y = 0; y < 200; ++y) {
    for (int x = 0; x < 8; ++x) image.pixels[3 * (y * 1000 + x)] = 255;
  }
  ImageSpec spec = clip_spec();
  spec.resize = ResizeRule::squash;
  spec.crop = CropRule::none;
  const RgbImage squashed = fit_to_tower(image, spec);
  EXPECT_GT(squashed.pixels[0], 200);
  EXPECT_EQ(squashed.pixels[1], 0);
  const RgbImage cropped = fit_to_tower(image, clip_spec());
  EXPECT_EQ(*std::max_element(cropped.pixels.begin(), cropped.pixels.end()), 0);
}

TEST(Bugcase08, LongThinPicturesAreCroppedInTheSource) {
  const RgbImage wide = fit_to_tower(made_up("columns", 1000, 1), clip_spec());
  const auto [low, high] = std::minmax_element(wide.pixels.begin(), wide.pixels.end());
  EXPECT_EQ(*low, 243);  // column 499 mod 256
  EXPECT_EQ(*high, 244);
  for (const auto& [width, height] : {std::pair(1, 1), {1, 1000}, {100'000, 1}, {1, 100'000}}) {
    const RgbImage fitted = fit_to_tower(made_up("noise", width, height), clip_spec());
    EXPECT_EQ(fitted.pixels.size(), 3u * 224 * 224);
  }
}

// Squashing must not hold a full-width row of weights for each of many million columns.
TEST(Bugcase08, SquashingAMillionColumnsOrRowsTakesLittleMemory) {
  ImageSpec spec = clip_spec();
  spec.resize = ResizeRule::squash;
  spec.crop = CropRule::none;
  for (const auto& [width, height] : {std::pair(4'000'000, 1), {1, 4'000'000}}) {
    RgbImage image;
    image.width = width;
    image.height = height;
    image.pixels.assign(12'000'000, 77);
    const RgbImage fitted = fit_to_tower(image, spec);
    EXPECT_EQ(std::count(fitted.pixels.begin(), fitted.pixels.end(), 77), 3 * 224 * 224);
  }
}

TEST(FitToTower, RefusesWhatIsNoPicture) {
  const auto message = [](const RgbImage& image) {
    try {
      fit_to_tower(image, clip_spec());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  RgbImage image;
  EXPECT_EQ(message(image), "image: expected at least 1 x 1 pixels, got 0 x 0");
  image.width = image.height = 2;
  image.pixels.resize(11);
  EXPECT_EQ(message(image), "image: expected 12 bytes for 2 x 2 pixels, got 11");
  image.height = 1;
  image.width = 10'000'000;
  image.pixels.resize(30'000'000);
  EXPECT_EQ(message(image),
            "image: expected sides that differ less, got 10000000 x 1 pixels (the long side "
            "would become 2240000000)");
}

TEST(NormalizePixels, ScalesEachChannelIntoItsPlane) {
  ImageSpec spec = clip_spec(2);
  RgbImage image;
  image.width = image.height = 2;
  image.pixels = {0, 51, 255, 255, 51, 0, 102, 0, 1, 255, 255, 255};
  std::vector<float> out(12, NAN);
  normalize_pixels(image, spec, out.data());
  // (level / 255 - mean) / std
  const std::vector<float> want = {-1.0f, 1.0f, -0.2f,   1.0f,     -0.2f,        -0.2f,
                                   -1.0f, 3.0f, 0.4375f, -0.0625f, -0.06053922f, 0.4375f};
  for (int i = 0; i < 12; ++i) EXPECT_NEAR(out[i], want[i], 1e-6f) << i;
}

}  // namespace
}  // namespace probe
