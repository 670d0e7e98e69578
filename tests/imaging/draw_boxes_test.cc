#include "probe/imaging/draw_boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace probe {
namespace {

using Pixel = std::array<int, 3>;

RgbImage plain(int width, int height, Pixel color) {
  RgbImage image{height, width, {}};
  for (int i = 0; i < width * height; ++i) {
    for (const int value : color) image.pixels.push_back(static_cast<std::uint8_t>(value));
  }
  return image;
}

Pixel at(const RgbImage& image, int x, int y) {
  const auto* p = &image.pixels[3 * (static_cast<std::size_t>(y) * image.width + x)];
  return {p[0], p[1], p[2]};
}

int count(const RgbImage& image, Pixel color, PixelBox part) {
  int found = 0;
  for (int y = part.y0; y < part.y1; ++y) {
    for (int x = part.x0; x < part.x1; ++x) found += at(image, x, y) == color ? 1 : 0;
  }
  return found;
}

constexpr Pixel kRed{255, 0, 0}, kWhite{255, 255, 255};

// BUGCASES 53: a box that covers the whole picture shows on every side.
TEST(Bugcase53, FrameAlongTheEdgeIsDrawn) {
  const PixelBox whole = *clip_box({-50, -50, 550, 550}, 100, 80);
  const RgbImage drawn = draw_red_box(plain(100, 80, {9, 9, 9}), whole);
  EXPECT_GT(count(drawn, kRed, {0, 0, 100, 6}), 90);
  EXPECT_GT(count(drawn, kRed, {0, 74, 100, 80}), 90);
  EXPECT_GT(count(drawn, kRed, {0, 0, 6, 80}), 70);
  EXPECT_GT(count(drawn, kRed, {94, 0, 100, 80}), 70);
  EXPECT_EQ(at(drawn, 50, 40), (Pixel{9, 9, 9}));
}

// BUGCASES 53 and 55: the pixel at column x and row y is (x, y, 0).
TEST(Bugcase55, CropsHaveTheRightCorners) {
  RgbImage image = plain(100, 80, {0, 0, 0});
  for (int y = 0; y < 80; ++y) {
    for (int x = 0; x < 100; ++x) {
      image.pixels[3 * (y * 100 + x)] = static_cast<std::uint8_t>(x);
      image.pixels[3 * (y * 100 + x) + 1] = static_cast<std::uint8_t>(y);
    }
  }
  const RgbImage crop = crop_box(image, *clip_box({10, 20, 30, 40}, 100, 80), 0);
  EXPECT_EQ(crop.width, 30);
  EXPECT_EQ(crop.height, 40);
  EXPECT_EQ(at(crop, 0, 0), (Pixel{10, 20, 0}));
  EXPECT_EQ(at(crop, 29, 39), (Pixel{39, 59, 0}));
  // A tenth of 30 and of 40 on each side, but not beyond the picture.
  const RgbImage wide = crop_box(image, {70, 40, 100, 80}, 0.1);
  EXPECT_EQ(wide.width, 33);
  EXPECT_EQ(wide.height, 44);
  EXPECT_EQ(at(wide, 0, 0), (Pixel{67, 36, 0}));
}

// On every background, the frame differs from it: on red, its white line does.
TEST(DrawBoxes, FramesShowOnAnyBackground) {
  for (const Pixel background : {Pixel{255, 0, 0}, Pixel{255, 255, 255}, Pixel{0, 0, 0},
                                 Pixel{0, 200, 0}, Pixel{0, 0, 255}, Pixel{255, 230, 0}}) {
    const std::array<PixelBox, 4> boxes = {PixelBox{10, 10, 90, 90}, PixelBox{110, 10, 190, 90},
                                           PixelBox{10, 110, 90, 190},
                                           PixelBox{110, 110, 190, 190}};
    const RgbImage drawn = draw_colored_boxes(plain(200, 200, background), boxes);
    for (const PixelBox& box : boxes) {
      // Three adjacent lines; at most one has the background's colour.
      int other = 0;
      for (int x = box.x0; x < box.x0 + 4; ++x) other += at(drawn, x, box.y0 + 40) != background;
      EXPECT_GE(other, 2);
      EXPECT_EQ(at(drawn, box.x0 - 1, box.y0 + 30), background);
    }
  }
}

// The order that the prompt names: red, green, blue, yellow.
TEST(DrawBoxes, ColorsAreInTheOrderOfThePrompt) {
  const std::array<PixelBox, 4> boxes = {PixelBox{0, 0, 90, 90}, PixelBox{100, 0, 190, 90},
                                         PixelBox{0, 100, 90, 190},
                                         PixelBox{100, 100, 190, 190}};
  const RgbImage drawn = draw_colored_boxes(plain(200, 200, {90, 90, 90}), boxes);
  EXPECT_EQ(at(drawn, 1, 45), kRed);
  EXPECT_EQ(at(drawn, 101, 45), (Pixel{0, 200, 0}));
  EXPECT_EQ(at(drawn, 1, 145), (Pixel{0, 0, 255}));
  EXPECT_EQ(at(drawn, 101, 145), (Pixel{255, 230, 0}));
}

// A white letter on a red tag at the corner, at any size of picture, also where the corner
// leaves no room.
TEST(DrawBoxes, LettersAreWhiteOnRedWithinThePicture) {
  for (const int side : {40, 400, 1500}) {
    const RgbImage image = plain(side, side, {120, 130, 140});
    const int q = side / 4;
    const std::array<PixelBox, 2> boxes = {PixelBox{q, q, 2 * q, 2 * q},
                                           PixelBox{side - 5, side - 5, side, side}};
    const RgbImage drawn = draw_lettered_boxes(image, boxes);
    const int tag = std::max(14, side / 24);
    EXPECT_GT(count(drawn, kWhite, {q + 2, q + 2, q + tag - 2, q + tag - 2}), tag) << side;
    EXPECT_GT(count(drawn, kRed, {q, q, q + tag, q + tag}), tag * tag / 4) << side;
    EXPECT_GT(count(drawn, kWhite, {side - tag, side - tag + 2, side - 2, side - 2}), tag) << side;
  }
}

// A, B, C and D are four different pictures.
TEST(DrawBoxes, LettersDiffer) {
  const RgbImage image = plain(400, 100, {0, 0, 0});
  const std::array<PixelBox, 4> boxes = {PixelBox{0, 0, 90, 90}, PixelBox{100, 0, 190, 90},
                                         PixelBox{200, 0, 290, 90}, PixelBox{300, 0, 390, 90}};
  const RgbImage drawn = draw_lettered_boxes(image, boxes);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < i; ++j) {
      EXPECT_NE(crop_box(drawn, boxes[i], 0).pixels, crop_box(drawn, boxes[j], 0).pixels);
    }
  }
}

TEST(DrawBoxes, BlurLeavesTheBoxAsItIs) {
  RgbImage image = plain(100, 80, {0, 0, 0});
  for (std::size_t i = 0; i < image.pixels.size(); i += 6) image.pixels[i] = 255;
  const PixelBox box{20, 20, 60, 60};
  const RgbImage blurred = blur_outside(image, box);
  EXPECT_EQ(crop_box(blurred, box, 0).pixels, crop_box(image, box, 0).pixels);
  EXPECT_NEAR(at(blurred, 5, 5)[0], 128, 8);
}

TEST(DrawBoxes, EllipseGoesAroundTheBox) {
  const RgbImage drawn = draw_red_ellipse(plain(100, 80, {9, 9, 9}), {20, 20, 80, 60});
  EXPECT_EQ(at(drawn, 50, 40), (Pixel{9, 9, 9}));
  EXPECT_EQ(at(drawn, 20, 40), kRed);
  EXPECT_EQ(at(drawn, 50, 20), kRed);
  EXPECT_EQ(at(drawn, 5, 5), (Pixel{9, 9, 9}));
}

}  // namespace
}  // namespace probe
