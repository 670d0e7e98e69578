#include "encoders/resample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "encoders/resample_kernels.h"

namespace probe {
namespace {

RgbImage noise(int width, int height, unsigned seed) {
  std::mt19937 random(seed);
  RgbImage image;
  image.width = width;
  image.height = height;
  image.pixels.resize(3 * static_cast<std::size_t>(width) * height);
  for (std::uint8_t& level : image.pixels) level = static_cast<std::uint8_t>(random());
  return image;
}

RgbImage crop(const RgbImage& image, const Window& window) {
  RgbImage result;
  result.width = window.width;
  result.height = window.height;
  for (int y = window.y; y < window.y + window.height; ++y) {
    const auto row = image.pixels.begin() + 3 * (y * image.width + window.x);
    result.pixels.insert(result.pixels.end(), row, row + 3 * window.width);
  }
  return result;
}

// Pillow's definition in floating point, without the rounding in between: two passes of a
// widened Keys filter. Fixed point and rounding to levels may differ by little.
double direct(const RgbImage& image, int width, int height, int x, int y, int channel) {
  const auto cubic = [](double t) {
    t = std::fabs(t);
    if (t < 1) return 1.5 * t * t * t - 2.5 * t * t + 1;
    if (t < 2) return -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2;
    return 0.0;
  };
  const auto weights = [&](int in, int out, int position) {
    const double scale = static_cast<double>(in) / out, wide = std::max(scale, 1.0);
    const double center = (position + 0.5) * scale;
    std::vector<double> w(in);
    double sum = 0;
    for (int i = 0; i < in; ++i) sum += w[i] = cubic((i + 0.5 - center) / wide);
    for (double& value : w) value /= sum;
    return w;
  };
  const std::vector<double> across = weights(image.width, width, x);
  const std::vector<double> down = weights(image.height, height, y);
  double sum = 0;
  for (int i = 0; i < image.height; ++i) {
    for (int j = 0; j < image.width; ++j) {
      sum += down[i] * across[j] * image.pixels[3 * (i * image.width + j) + channel];
    }
  }
  return sum;
}

TEST(Resample, IsTheAntialiasedCubicFilter) {
  // Levels near the middle, so that nothing is clamped between the passes.
  RgbImage image = noise(41, 33, 1);
  for (std::uint8_t& level : image.pixels) level = static_cast<std::uint8_t>(100 + level / 8);
  for (const auto& [width, height] : {std::pair(17, 12), {90, 70}, {41, 10}, {20, 33}}) {
    const RgbImage got =
        resample(image, width, height, Interpolation::bicubic, {0, 0, width, height});
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        for (int c = 0; c < 3; ++c) {
          EXPECT_NEAR(got.pixels[3 * (y * width + x) + c],
                      direct(image, width, height, x, y, c), 1.2)
              << x << ' ' << y;
        }
      }
    }
  }
}

TEST(Resample, WindowIsACropOfTheWhole) {
  std::mt19937 random(2);
  const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % most); };
  for (int round = 0; round < 200; ++round) {
    const RgbImage image = noise(up_to(60), up_to(60), round);
    const int width = up_to(80), height = up_to(80);
    const int x = static_cast<int>(random() % width), y = static_cast<int>(random() % height);
    const Window window{x, y, up_to(width - x), up_to(height - y)};
    const Interpolation filter =
        round % 2 == 0 ? Interpolation::bicubic : Interpolation::bilinear;
    const RgbImage whole = resample(image, width, height, filter, {0, 0, width, height});
    const RgbImage part = resample(image, width, height, filter, window);
    EXPECT_EQ(part.pixels, crop(whole, window).pixels)
        << image.width << 'x' << image.height << " to " << width << 'x' << height;
  }
}

TEST(Resample, SameSizeIsACopy) {
  const RgbImage image = noise(13, 7, 3);
  EXPECT_EQ(resample(image, 13, 7, Interpolation::bicubic, {0, 0, 13, 7}).pixels, image.pixels);
}

TEST(Resample, OrderOfThePassesFollowsPillow13) {
  const auto both = [](const RgbImage& image, int width, int height) {
    return resample(image, width, height, Interpolation::bicubic, {0, 0, width, height}).pixels;
  };
  // Black and white, so that clamping between the passes shows the order.
  RgbImage tall = noise(60, 90, 4);
  for (std::uint8_t& level : tall.pixels) level = level < 128 ? 0 : 255;
  const RgbImage across_first =
      resample(tall, 50, 40, Interpolation::bicubic, {0, 0, 50, 40}, PassOrder::across_first);
  EXPECT_NE(both(tall, 50, 40), across_first.pixels);  // loses 50 rows, 10 columns
  const RgbImage columns_more =
      resample(tall, 20, 40, Interpolation::bicubic, {0, 0, 20, 40}, PassOrder::across_first);
  EXPECT_EQ(both(tall, 20, 40), columns_more.pixels);  // loses 50 rows, 40 columns
}

TEST(ResampleKernels, FastAndPortablePathsAgree) {
  using namespace resample_kernels;
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const int taps = 4 * (1 + static_cast<int>(random() % 8)), positions = 37, width = 80;
    Weights weights;
    weights.taps = taps;
    for (int i = 0; i < positions; ++i) {
      const int used = 1 + static_cast<int>(random() % taps);
      weights.used.push_back(used);
      weights.first.push_back(static_cast<int>(random() % (width - used + 1)));
      for (int t = 0; t < taps; ++t) {
        const int fixed = t < used ? static_cast<int>(random() % (1 << 23)) - (1 << 22) : 0;
        weights.high.push_back(static_cast<std::int16_t>((fixed / used) >> kLowBits));
        weights.low.push_back(static_cast<std::int16_t>(t < used ? random() % 4096 : 0));
      }
    }
    std::vector<std::uint8_t> row(3 * width + 16);
    for (std::uint8_t& level : row) level = static_cast<std::uint8_t>(random());
    std::vector<std::uint8_t> fast(3 * positions), portable(3 * positions);
    horizontal(row.data(), weights, fast.data());
    horizontal(row.data(), weights, portable.data(), Path::portable);
    EXPECT_EQ(fast, portable);

    const int columns = 1 + static_cast<int>(random() % 100);
    std::vector<std::vector<std::uint8_t>> data(taps, std::vector<std::uint8_t>(columns + 32));
    std::vector<const std::uint8_t*> rows;
    for (auto& line : data) {
      for (std::uint8_t& level : line) level = static_cast<std::uint8_t>(random());
      rows.push_back(line.data());
    }
    std::vector<std::int32_t> sums(columns + 32, 9), portable_sums(columns + 32, 9);
    vertical(rows.data(), weights.high.data(), weights.low.data(), taps, columns, sums.data());
    vertical(rows.data(), weights.high.data(), weights.low.data(), taps, columns,
             portable_sums.data(), Path::portable);
    sums.resize(columns);
    portable_sums.resize(columns);
    EXPECT_EQ(sums, portable_sums);
  }
}

}  // namespace
}  // namespace probe
