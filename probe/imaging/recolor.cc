#include "probe/imaging/recolor.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "probe/core/error.h"

namespace probe {
namespace {

constexpr float kGrey = 0.04F;           // chroma under which a hue means nothing
constexpr float kHueKept = 1.0F / 7.0F;  // share of a pixel's own deviation in hue
constexpr float kLargestGain = 2.6F;     // of dark pixels: more would show noise as texture

Oklab pixel_color(const RgbImage& image, std::size_t pixel) {
  const std::uint8_t* p = &image.pixels[3 * pixel];
  return to_oklab(Rgb{p[0], p[1], p[2]});
}

float median(std::vector<float>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Monotone, through (0,0), (from, to) and (1,1). Below `from` a straight line, so that shading
// keeps its ratios, or a power curve where that would be steeper than kLargestGain. Above, a
// cubic that stays near `to` at first: sRGB has no strong colours near white.
class LightnessCurve {
 public:
  LightnessCurve(float from, float to) : from_(std::clamp(from, 0.02F, 0.98F)), to_(to) {}

  float operator()(float lightness) const {
    if (lightness >= from_) {
      const float t = std::min((lightness - from_) / (1.0F - from_), 1.0F);
      return to_ + (1.0F - to_) * t * (0.4F + 0.6F * t * t);
    }
    const float gain = to_ / from_;
    if (gain <= kLargestGain) return gain * lightness;
    return std::pow(std::max(lightness, 0.0F), std::log(to_) / std::log(from_));
  }

 private:
  float from_, to_;
};

float smooth_step(float low, float high, float value) {
  const float t = std::clamp((value - low) / (high - low), 0.0F, 1.0F);
  return t * t * (3.0F - 2.0F * t);
}

float signed_turn(float hue, float from) {
  return std::remainder(hue - from, 360.0F);
}

void check_sizes(const RgbImage& image, const Mask& mask) {
  if (image.height != mask.height || image.width != mask.width) {
    throw Error(ErrorKind::input,
                fmt::format("mask: expected {} x {}, got {} x {}", image.width, image.height,
                            mask.width, mask.height));
  }
}

}  // namespace

ObjectColor measure_object(const RgbImage& image, const Mask& mask) {
  check_sizes(image, mask);
  std::vector<float> lightness, chroma;
  double weight = 0.0, l = 0.0, a = 0.0, b = 0.0;
  for (std::size_t i = 0; i < mask.alpha.size(); ++i) {
    if (mask.alpha[i] == 0) continue;
    const Oklab color = pixel_color(image, i);
    const double share = mask.alpha[i] / 255.0;
    weight += share;
    l += share * color.lightness, a += share * color.a, b += share * color.b;
    if (mask.alpha[i] < 128) continue;
    lightness.push_back(color.lightness);
    chroma.push_back(to_oklch(color).chroma);
  }
  if (lightness.empty()) {
    throw Error(ErrorKind::input, "mask: expected pixels of the object, got none");
  }
  return {{static_cast<float>(l / weight), static_cast<float>(a / weight),
           static_cast<float>(b / weight)},
          median(lightness),
          median(chroma)};
}

float difference_from(const ObjectColor& object, const NamedColor& color) {
  const Oklab target = to_oklab(color.target);
  const float lightness = (object.lightness - target.lightness) / 3.0F;
  const float a = object.mean.a - target.a, b = object.mean.b - target.b;
  return std::sqrt(lightness * lightness + a * a + b * b);
}

Recolored recolor(const RgbImage& image, const Mask& mask, const NamedColor& color) {
  const ObjectColor object = measure_object(image, mask);
  const Oklch own = to_oklch(object.mean), target = color.target;
  const float to = std::clamp(object.lightness, target.lightness - color.lightness_slack,
                              std::min(target.lightness + color.lightness_slack, 0.98F));
  const LightnessCurve curve(object.lightness, to);
  const float usual_chroma = std::max(object.chroma, 0.02F);
  const bool grey_object = object.chroma < kGrey;

  Recolored result{image, {}};
  double weight = 0.0, change = 0.0;
  for (std::size_t i = 0; i < mask.alpha.size(); ++i) {
    if (mask.alpha[i] == 0) continue;
    const Oklab before = pixel_color(image, i);
    const Oklch old = to_oklch(before);
    Oklch fresh;
    fresh.lightness = curve(old.lightness);
    // Shading scales lightness and chroma alike (both are cube roots of light).
    const float shade = std::min(fresh.lightness / to, 1.0F);
    // Paler than the object usually is, and brighter: light mirrored by the surface, or paper.
    const float paleness = 1.0F - old.chroma / usual_chroma;
    const float glare = grey_object
                            ? smooth_step(0.22F, 0.40F, old.lightness - object.lightness)
                            : smooth_step(0.35F, 0.85F, paleness) *
                                  smooth_step(0.08F, 0.25F, old.lightness - object.lightness);
    fresh.chroma = target.chroma * shade * (1.0F - 0.9F * glare);
    fresh.hue = target.hue;
    if (old.chroma > kGrey && !grey_object) {
      fresh.hue += kHueKept * std::clamp(signed_turn(old.hue, own.hue), -60.0F, 60.0F);
    }
    const Oklab moved = to_oklab(fresh);
    const float share = static_cast<float>(mask.alpha[i]) / 255.0F;
    const Oklab mixed{before.lightness + share * (moved.lightness - before.lightness),
                      before.a + share * (moved.a - before.a),
                      before.b + share * (moved.b - before.b)};
    const Rgb shown = to_rgb(mixed);
    std::copy(shown.begin(), shown.end(), &result.image.pixels[3 * i]);
    weight += share;
    change += share * color_distance(before, to_oklab(shown));
  }
  const ObjectColor after = measure_object(result.image, mask);
  RecolorQuality& quality = result.quality;
  quality.mask_fraction = weight / static_cast<double>(mask.alpha.size());
  const Oklab wanted = to_oklab(target);
  quality.hue_error =
      target.chroma < kGrey ? 0.0 : hue_distance(to_oklch(after.mean).hue, target.hue);
  quality.color_distance = color_distance(after.mean, wanted);
  quality.start_distance = color_distance(object.mean, wanted);
  quality.change = change / weight;
  return result;
}

std::string quality_failure(const RecolorQuality& quality, const QualityLimits& limits) {
  if (quality.mask_fraction < limits.min_area) {
    return fmt::format("mask too small: expected at least {:.1f}% of the picture, got {:.1f}%",
                       100.0 * limits.min_area, 100.0 * quality.mask_fraction);
  }
  if (quality.mask_fraction > limits.max_area) {
    return fmt::format("mask too large: expected at most {:.1f}% of the picture, got {:.1f}%",
                       100.0 * limits.max_area, 100.0 * quality.mask_fraction);
  }
  if (quality.hue_error > limits.max_hue_error) {
    return fmt::format("colour not reached: expected a hue within {:.0f} degrees, got {:.0f}",
                       limits.max_hue_error, quality.hue_error);
  }
  if (quality.color_distance > limits.max_color_distance) {
    return fmt::format("colour not reached: expected within {:.2f} of it (OKLab), got {:.2f}",
                       limits.max_color_distance, quality.color_distance);
  }
  if (quality.change < limits.min_change) {
    return fmt::format("hardly changed: expected at least {:.2f} (OKLab), got {:.2f}",
                       limits.min_change, quality.change);
  }
  return "";
}

}  // namespace probe
