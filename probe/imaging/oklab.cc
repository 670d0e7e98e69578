#include "probe/imaging/oklab.h"

#include <algorithm>
#include <cmath>

namespace probe {
namespace {

constexpr float kDegree = 3.14159265358979F / 180.0F;

// The transfer curve of IEC 61966-2-1, for the 256 codes.
std::array<float, 256> linear_table() {
  std::array<float, 256> table{};
  for (int code = 0; code < 256; ++code) {
    const double value = code / 255.0;
    table[code] = static_cast<float>(value <= 0.04045 ? value / 12.92
                                                      : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return table;
}

std::uint8_t code_of(float linear) {
  const float clipped = std::clamp(linear, 0.0F, 1.0F);
  const float value = clipped <= 0.0031308F ? 12.92F * clipped
                                            : 1.055F * std::pow(clipped, 1.0F / 2.4F) - 0.055F;
  return static_cast<std::uint8_t>(std::lround(255.0F * value));
}

std::array<float, 3> to_linear(const Oklab& color) {
  const float l = color.lightness + 0.3963377774F * color.a + 0.2158037573F * color.b;
  const float m = color.lightness - 0.1055613458F * color.a - 0.0638541728F * color.b;
  const float s = color.lightness - 0.0894841775F * color.a - 1.2914855480F * color.b;
  const float l3 = l * l * l, m3 = m * m * m, s3 = s * s * s;
  return {4.0767416621F * l3 - 3.3077115913F * m3 + 0.2309699292F * s3,
          -1.2684380046F * l3 + 2.6097574011F * m3 - 0.3413193965F * s3,
          -0.0041960863F * l3 - 0.7034186147F * m3 + 1.7076147010F * s3};
}

bool shows(const std::array<float, 3>& linear) {
  constexpr float slack = 0.001F;
  return std::all_of(linear.begin(), linear.end(),
                     [](float v) { return v >= -slack && v <= 1.0F + slack; });
}

}  // namespace

Oklab to_oklab(const Rgb& color) {
  static const std::array<float, 256> kLinear = linear_table();
  const float r = kLinear[color[0]], g = kLinear[color[1]], b = kLinear[color[2]];
  const float l = std::cbrt(0.4122214708F * r + 0.5363325363F * g + 0.0514459929F * b);
  const float m = std::cbrt(0.2119034982F * r + 0.6806995451F * g + 0.1073969566F * b);
  const float s = std::cbrt(0.0883024619F * r + 0.2817188376F * g + 0.6299787005F * b);
  return {0.2104542553F * l + 0.7936177850F * m - 0.0040720468F * s,
          1.9779984951F * l - 2.4285922050F * m + 0.4505937099F * s,
          0.0259040371F * l + 0.7827717662F * m - 0.8086757660F * s};
}

Oklch to_oklch(const Oklab& color) {
  float hue = std::atan2(color.b, color.a) / kDegree;
  if (hue < 0.0F) hue += 360.0F;
  return {color.lightness, std::hypot(color.a, color.b), hue};
}

Oklab to_oklab(const Oklch& color) {
  return {color.lightness, color.chroma * std::cos(color.hue * kDegree),
          color.chroma * std::sin(color.hue * kDegree)};
}

bool in_srgb(const Oklab& color) {
  return shows(to_linear(color));
}

Rgb to_rgb(const Oklab& color) {
  const float lightness = std::clamp(color.lightness, 0.0F, 1.0F);
  std::array<float, 3> linear = to_linear({lightness, color.a, color.b});
  if (!shows(linear)) {
    float low = 0.0F, high = 1.0F;  // share of the chroma that is kept
    for (int step = 0; step < 12; ++step) {
      const float share = 0.5F * (low + high);
      const bool fits = shows(to_linear({lightness, share * color.a, share * color.b}));
      (fits ? low : high) = share;
    }
    linear = to_linear({lightness, low * color.a, low * color.b});
  }
  return {code_of(linear[0]), code_of(linear[1]), code_of(linear[2])};
}

float hue_distance(float hue, float other) {
  const float turn = std::fabs(std::fmod(hue - other, 360.0F));
  return std::min(turn, 360.0F - turn);
}

float color_distance(const Oklab& color, const Oklab& other) {
  const float lightness = color.lightness - other.lightness;
  const float a = color.a - other.a, b = color.b - other.b;
  return std::sqrt(lightness * lightness + a * a + b * b);
}

}  // namespace probe
