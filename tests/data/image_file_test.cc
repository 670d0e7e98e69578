// Expected pixels are what Pillow 13.0 reads (tests/data/images/make_images.py prints
// them), except Bugcase 02, where probe differs on purpose.
#include "probe/data/image_file.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

const std::filesystem::path kImages = PROBE_SOURCE_DIR "/tests/data/images";

using Rgb = std::array<int, 3>;

Rgb pixel(const RgbImage& image, int x, int y) {
  const std::uint8_t* p = &image.pixels[3 * (std::size_t(y) * image.width + x)];
  return {p[0], p[1], p[2]};
}

void expect_near(const Rgb& got, const Rgb& wanted, int tolerance) {
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(got[c], wanted[c], tolerance) << "channel " << c;
}

std::int64_t sum(const RgbImage& image) {
  return std::accumulate(image.pixels.begin(), image.pixels.end(), std::int64_t{0});
}

// Orientation is ignored alike in every format: 40 wide, 20 high, left red.
TEST(Bugcase01, ExifOrientationIsIgnoredInEveryFormat) {
  for (const char* name : {"exif6.jpg", "exif6.png", "exif6.webp", "exif0.jpg", "exif9.jpg"}) {
    SCOPED_TRACE(name);
    const RgbImage image = read_image(kImages / name);
    EXPECT_EQ(image.width, 40);
    EXPECT_EQ(image.height, 20);
    expect_near(pixel(image, 0, 0), {255, 0, 0}, 1);
    expect_near(pixel(image, 39, 19), {0, 0, 255}, 1);
  }
  EXPECT_EQ(sum(read_image(kImages / "exif6.jpg")), 203400);  // Pillow's sum, to the level
}

// Scaled by v >> 8, not clipped as Pillow does (255 of 256 columns white there).
TEST(Bugcase02, SixteenBitGreyIsScaled) {
  const RgbImage image = read_image(kImages / "grey16.png");
  ASSERT_EQ(image.width, 256);
  for (int x = 0; x < 256; ++x) EXPECT_EQ(pixel(image, x, 3), (Rgb{x, x, x}));
  EXPECT_EQ(pixel(read_image(kImages / "rgb16.png"), 2, 2), (Rgb{18, 128, 255}));
}

TEST(Bugcase04, CmykAndYcckAreNotInverted) {
  expect_near(pixel(read_image(kImages / "cmyk.jpg"), 0, 0), {255, 0, 0}, 0);
  expect_near(pixel(read_image(kImages / "ycck.jpg"), 0, 0), {179, 0, 227}, 0);
  expect_near(pixel(read_image(kImages / "cmyk_no_adobe.jpg"), 15, 15), {255, 0, 0}, 0);
  EXPECT_EQ(sum(read_image(kImages / "ycck.jpg")), 103936);
}

TEST(Bugcase05, DamagedFilesAreRefusedWithTheReason) {
  EXPECT_EQ(sum(read_image(kImages / "whole.jpg")), 1556394);
  EXPECT_PROBE_ERROR(read_image(kImages / "half.jpg"), ErrorKind::input,
                     "half.jpg: damaged JPEG: the data end early after row ");
  EXPECT_PROBE_ERROR(read_image(kImages / "half.png"), ErrorKind::input,
                     "half.png: damaged image: the decoder gave nothing");
  EXPECT_PROBE_ERROR(read_image(kImages / "empty.jpg"), ErrorKind::input,
                     "empty.jpg: empty file");
  EXPECT_PROBE_ERROR(read_image(kImages / "page.jpg"), ErrorKind::input,
                     "page.jpg: expected JPEG, PNG, WebP, BMP or TIFF, got another format");
}

// Without its last two bytes a JPEG has lost only the end mark, and no pixel.
TEST(Bugcase05, MissingEndMarkIsNoDamage) {
  EXPECT_EQ(read_image(kImages / "no_end.jpg").pixels, read_image(kImages / "whole.jpg").pixels);
}

TEST(Bugcase08, BombIsRefusedBeforeMemoryIsAskedFor) {
  EXPECT_PROBE_ERROR(read_image(kImages / "header_bomb.png"), ErrorKind::input,
                     "expected at most 178956970 pixels, got 60000 x 60000");
}

TEST(ImageFile, AlphaIsDroppedNotComposited) {
  EXPECT_EQ(pixel(read_image(kImages / "rgba.png"), 0, 0), (Rgb{10, 20, 30}));
  EXPECT_EQ(pixel(read_image(kImages / "rgba.png"), 1, 0), (Rgb{200, 100, 50}));
  EXPECT_EQ(sum(read_image(kImages / "palette.png")), 650);
  EXPECT_EQ(pixel(read_image(kImages / "grey_alpha.png"), 1, 1), (Rgb{77, 77, 77}));
}

// The smallest of a half, a quarter and an eighth whose shorter side is at least twice the tower's.
TEST(ImageFile, FastDecodingKeepsTwiceTheSide) {
  const test::TempDir folder;
  RgbImage image;
  image.width = 133;
  image.height = 80;
  image.pixels.assign(std::size_t{3} * 133 * 80, 90);
  for (const char* name : {"x.jpg", "x.png"}) write_image(image, folder.path() / name);
  const std::string jpeg = test::slurp(folder.path() / "x.jpg");
  const auto width = [&](int side) { return decode_image(jpeg, side).width; };
  EXPECT_EQ(width(0), 133);
  EXPECT_EQ(width(21), 133);  // 40 < 42
  EXPECT_EQ(width(20), 67);   // rounded up
  EXPECT_EQ(width(10), 34);
  EXPECT_EQ(width(5), 17);
  EXPECT_EQ(width(1), 17);    // an eighth at the least
  EXPECT_EQ(decode_image(jpeg, 20).height, 40);
  EXPECT_EQ(decode_image(jpeg, 20).pixels, std::vector<std::uint8_t>(3 * 67 * 40, 90));
  EXPECT_EQ(decode_image(test::slurp(folder.path() / "x.png"), 20).width, 133);
}

TEST(ImageFile, PngRoundTrip) {
  const test::TempDir folder;
  const RgbImage image = read_image(kImages / "whole.jpg");
  write_image(image, folder.path() / "copy.png");
  EXPECT_EQ(read_image(folder.path() / "copy.png").pixels, image.pixels);
}

TEST(ImageHeader, SizesOfEveryFormat) {
  for (const char* name : {"exif6.jpg", "exif6.png", "exif6.webp"}) {
    const ImageHeader header = read_image_header(test::slurp(kImages / name));
    EXPECT_EQ(header.width, 40) << name;
    EXPECT_EQ(header.height, 20) << name;
  }
}

// A directory that names the width twice: libtiff takes the first, and so must the limit.
TEST(ImageHeader, TheFirstSizeOfATiffCounts) {
  const auto entry = [](std::uint8_t tag, std::uint8_t value) {
    return std::string({static_cast<char>(tag), 1, 4, 0, 1, 0, 0, 0, static_cast<char>(value), 0, 0, 0});
  };
  const std::string tiff = std::string("II*\0\10\0\0\0\3\0", 10) + entry(0, 11) + entry(1, 7) +
                           entry(0, 238) + std::string(4, '\0');
  EXPECT_EQ(read_image_header(tiff).width, 11);
  EXPECT_EQ(read_image_header(tiff).height, 7);
}

// RFC 4648 section 10.
TEST(Base64, PublishedVectors) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
  EXPECT_EQ(decode_base64("data:image/png;base64,Zm9v\r\nYmFy"), "foobar");
  EXPECT_PROBE_ERROR(decode_base64("Zm9v!"), ErrorKind::input, "expected base64");
  EXPECT_PROBE_ERROR(decode_base64("Zm9vY"), ErrorKind::input, "data that end early");
}

}  // namespace
}  // namespace probe
