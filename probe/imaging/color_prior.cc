#include "probe/imaging/color_prior.h"

#include <algorithm>
#include <cmath>

namespace probe {
namespace {

constexpr int kLightness = 8, kChroma = 20;  // cells along lightness, and along a and b
constexpr float kReach = 0.3F;               // a and b are cut off at +-kReach
constexpr int kCells = kLightness * kChroma * kChroma;
constexpr double kFewest = 3.0;  // pictures

int along(float value, float low, float high, int cells) {
  const float place = (value - low) / (high - low) * static_cast<float>(cells);
  return std::clamp(static_cast<int>(place), 0, cells - 1);
}

int cell_of(const Oklab& color) {
  return (along(color.lightness, 0.0F, 1.0F, kLightness) * kChroma +
          along(color.a, -kReach, kReach, kChroma)) *
             kChroma +
         along(color.b, -kReach, kReach, kChroma);
}

// [1 2 1] / 4 along one axis of the cells.
void smooth(std::vector<double>& cells, int stride, int length) {
  const std::vector<double> before = cells;
  for (int i = 0; i < kCells; ++i) {
    const int place = i / stride % length;
    const double low = before[place > 0 ? i - stride : i];
    const double high = before[place + 1 < length ? i + stride : i];
    cells[i] = 0.25 * low + 0.5 * before[i] + 0.25 * high;
  }
}

std::vector<double> smoothed(std::vector<double> cells) {
  smooth(cells, kChroma * kChroma, kLightness);
  smooth(cells, kChroma, kChroma);
  smooth(cells, 1, kChroma);
  return cells;
}

}  // namespace

ColorHistogram::ColorHistogram() : cells_(kCells, 0.0) {}

void ColorHistogram::add(const RgbImage& image) {
  // A picture counts once, whatever its size; every second pixel is enough.
  std::vector<double> own(kCells, 0.0);
  double total = 0.0;
  for (int y = 0; y < image.height; y += 2) {
    for (int x = 0; x < image.width; x += 2) {
      const double dy = 2.0 * (y + 0.5) / image.height - 1.0;
      const double dx = 2.0 * (x + 0.5) / image.width - 1.0;
      const double weight = std::exp(-1.5 * (dx * dx + dy * dy));
      const std::size_t at = 3 * (static_cast<std::size_t>(y) * image.width + x);
      own[cell_of(to_oklab(
          Rgb{image.pixels[at], image.pixels[at + 1], image.pixels[at + 2]}))] += weight;
      total += weight;
    }
  }
  if (total <= 0.0) return;
  for (int i = 0; i < kCells; ++i) cells_[i] += own[i] / total;
  pictures_ += 1.0;
}

ColorPrior::ColorPrior(const ColorHistogram& category, const ColorHistogram& all)
    : cells_(kCells, 0.0F) {
  const double own = category.pictures(), others = all.pictures() - own;
  if (own < kFewest || others < kFewest) return;
  const std::vector<double> mine = smoothed(category.cells());
  const std::vector<double> total = smoothed(all.cells());
  constexpr double floor = 2e-4;  // a share too small to tell anything
  for (int i = 0; i < kCells; ++i) {
    const double rest = std::max(total[i] - mine[i], 0.0) / others;
    const double ratio = std::log((mine[i] / own + floor) / (rest + floor));
    cells_[i] = static_cast<float>(std::clamp(ratio, -3.0, 3.0));
  }
}

float ColorPrior::log_ratio(const Oklab& color) const {
  return cells_[cell_of(color)];
}

}  // namespace probe
