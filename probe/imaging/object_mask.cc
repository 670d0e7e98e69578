#include "probe/imaging/object_mask.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <string>

#include "probe/core/error.h"
#include "probe/imaging/oklab.h"
#include "probe/imaging/picture_mat.h"

namespace probe {
namespace {

constexpr double kLeastArea = 0.01, kMostArea = 0.98;  // of a GrabCut result that is believed
constexpr int kColorGroups = 8;
constexpr float kSurelyObject = 1.0F;  // saliency that only the category's own colours reach
constexpr int kSeed = 12345;           // OpenCV's generator is global: set before each use

// [h, w] of (lightness, a, b).
cv::Mat3f oklab_of(const cv::Mat3b& rgb) {
  cv::Mat3f lab(rgb.size());
  for (int y = 0; y < rgb.rows; ++y) {
    for (int x = 0; x < rgb.cols; ++x) {
      const cv::Vec3b& pixel = rgb(y, x);
      const Oklab color = to_oklab(Rgb{pixel[0], pixel[1], pixel[2]});
      lab(y, x) = {color.lightness, color.a, color.b};
    }
  }
  return lab;
}

// 1 at the middle of `frame`, falling to 0.05 at its corners; 0 outside.
cv::Mat1f centre_weights(cv::Size size, const cv::Rect& frame) {
  cv::Mat1f weights = cv::Mat1f::zeros(size);
  for (int y = frame.y; y < frame.y + frame.height; ++y) {
    for (int x = frame.x; x < frame.x + frame.width; ++x) {
      const float dy = 2.0F * (y + 0.5F - frame.y) / frame.height - 1.0F;
      const float dx = 2.0F * (x + 0.5F - frame.x) / frame.width - 1.0F;
      weights(y, x) = std::exp(-1.5F * (dx * dx + dy * dy));
    }
  }
  return weights;
}

// For each pixel, how central the pixels of its colour lie: log of the mean weight of its
// colour group over the mean weight of the picture.
cv::Mat1f group_centrality(const cv::Mat3f& lab, const cv::Mat1f& weights) {
  cv::Mat3f smooth;
  cv::GaussianBlur(lab, smooth, {5, 5}, 0);
  cv::Mat samples = smooth.reshape(1, static_cast<int>(smooth.total())).clone();
  samples.col(0) *= 0.5;  // shading counts less than hue
  cv::Mat1i labels;
  cv::setRNGSeed(kSeed);
  cv::kmeans(samples, kColorGroups, labels,
             {cv::TermCriteria::COUNT + cv::TermCriteria::EPS, 20, 1e-3}, 1,
             cv::KMEANS_PP_CENTERS);
  std::vector<double> weight(kColorGroups, 0.0), count(kColorGroups, 1.0);
  double total = 0.0;
  for (int i = 0; i < labels.rows; ++i) {
    const float w = weights(i / weights.cols, i % weights.cols);
    weight[labels(i)] += w;
    count[labels(i)] += 1.0;
    total += w;
  }
  const double mean = total / labels.rows;
  cv::Mat1f centrality(lab.size());
  for (int i = 0; i < labels.rows; ++i) {
    const double ratio = (weight[labels(i)] / count[labels(i)] + 1e-3) / (mean + 1e-3);
    centrality(i / lab.cols, i % lab.cols) = static_cast<float>(std::log(ratio));
  }
  return centrality;
}

// How likely each pixel is object, in arbitrary units around 0.
cv::Mat1f saliency_of(const cv::Mat3f& lab, const cv::Rect& frame, const ColorPrior* prior) {
  const cv::Mat1f weights = centre_weights(lab.size(), frame);
  const cv::Mat1f centrality = group_centrality(lab, weights);
  cv::Mat1f saliency(lab.size());
  for (int y = 0; y < lab.rows; ++y) {
    for (int x = 0; x < lab.cols; ++x) {
      const cv::Vec3f& p = lab(y, x);
      const float chroma = std::min(std::hypot(p[1], p[2]) / 0.15F, 1.0F);
      const float known = prior == nullptr ? 0.0F : prior->log_ratio({p[0], p[1], p[2]});
      saliency(y, x) =
          0.6F * weights(y, x) + 1.5F * centrality(y, x) + 0.6F * chroma + 0.8F * known;
    }
  }
  cv::GaussianBlur(saliency, saliency, {0, 0}, 2.0);
  return saliency;
}

// Otsu's threshold of a float picture, and the standard deviation of its values.
struct Split {
  float threshold = 0.0F, spread = 0.0F;
};

Split otsu(const cv::Mat1f& values, const cv::Rect& frame) {
  const cv::Mat1f inside = values(frame).clone();
  double low = 0.0, high = 0.0;
  cv::minMaxLoc(inside, &low, &high);
  cv::Scalar mean, spread;
  cv::meanStdDev(inside, mean, spread);
  if (high - low < 1e-6) return {static_cast<float>(low), 0.0F};
  cv::Mat1b codes;
  inside.convertTo(codes, CV_8U, 255.0 / (high - low), -low * 255.0 / (high - low));
  const double code = cv::threshold(codes, codes, 0, 255, cv::THRESH_BINARY | cv::THRESH_OTSU);
  return {static_cast<float>(low + (code + 0.5) * (high - low) / 255.0),
          static_cast<float>(spread[0])};
}

// True if there is nothing to tell an object by.
bool is_flat(const cv::Mat3f& lab) {
  cv::Scalar mean, spread;
  cv::meanStdDev(lab, mean, spread);
  return spread[0] + spread[1] + spread[2] < 0.005;
}

// 255 where GrabCut says object.
cv::Mat1b grabcut_mask(const cv::Mat3b& rgb, const cv::Mat1f& saliency, const cv::Rect& frame,
                       const MaskOptions& options) {
  Split split = otsu(saliency, frame);
  // A heap that fills the picture has no background for Otsu to find.
  if (options.prior != nullptr) split.threshold = std::min(split.threshold, kSurelyObject);
  // In a box most is object: only what is clearly different is left out at first.
  if (options.box) split.threshold -= 0.5F * split.spread;
  cv::Mat1b labels(rgb.size(), static_cast<std::uint8_t>(cv::GC_BGD));
  for (int y = frame.y; y < frame.y + frame.height; ++y) {
    for (int x = frame.x; x < frame.x + frame.width; ++x) {
      const float above = saliency(y, x) - split.threshold;
      labels(y, x) = above > split.spread    ? cv::GC_FGD
                     : above > 0.0F          ? cv::GC_PR_FGD
                     : above > -split.spread ? cv::GC_PR_BGD
                                             : cv::GC_BGD;
    }
  }
  cv::Mat bgr, background, foreground;
  cv::cvtColor(rgb, bgr, cv::COLOR_RGB2BGR);
  cv::setRNGSeed(kSeed);
  try {
    cv::grabCut(bgr, labels, {}, background, foreground, options.iterations,
                cv::GC_INIT_WITH_MASK);
  } catch (const cv::Exception&) {
    return cv::Mat1b::zeros(rgb.size());  // one of the two sides had no pixels
  }
  return (labels & 1) * 255;  // GC_FGD 1, GC_PR_FGD 3
}

// The fallback: HSV saturation above Otsu's threshold.
cv::Mat1b saturation_mask(const cv::Mat3b& rgb, const cv::Rect& frame) {
  cv::Mat hsv, saturation;
  cv::cvtColor(rgb, hsv, cv::COLOR_RGB2HSV);
  cv::extractChannel(hsv, saturation, 1);
  cv::GaussianBlur(saturation, saturation, {5, 5}, 0);
  cv::Mat1b mask = cv::Mat1b::zeros(rgb.size());
  cv::Mat inside = saturation(frame).clone();
  cv::threshold(inside, mask(frame), 0, 255, cv::THRESH_BINARY | cv::THRESH_OTSU);
  return mask;
}

// Drops specks of less than 0.15% of the picture, and fills holes of less than 0.5%: glints
// and spots on a fruit.
void drop_specks(cv::Mat1b& mask) {
  for (const bool holes : {false, true}) {
    cv::Mat1b side = holes ? cv::Mat1b(255 - mask) : mask;
    cv::Mat labels, stats, centroids;
    const int parts = cv::connectedComponentsWithStats(side, labels, stats, centroids, 8);
    const double least = (holes ? 0.005 : 0.0015) * static_cast<double>(mask.total());
    for (int part = 1; part < parts; ++part) {
      if (stats.at<int>(part, cv::CC_STAT_AREA) >= least) continue;
      mask.setTo(holes ? 255 : 0, labels == part);
    }
  }
}

double area_share(const cv::Mat1b& mask) {
  return static_cast<double>(cv::countNonZero(mask >= 128)) / static_cast<double>(mask.total());
}

// He, Sun, Tang, "Guided Image Filtering", 2010: the mask's edge follows the guide's.
cv::Mat1f guided(const cv::Mat1f& guide, const cv::Mat1f& mask, int radius, float epsilon) {
  const cv::Size window(2 * radius + 1, 2 * radius + 1);
  const auto mean = [&](const cv::Mat& values) {
    cv::Mat1f result;
    cv::blur(values, result, window, {-1, -1}, cv::BORDER_REFLECT);
    return result;
  };
  const cv::Mat1f mean_guide = mean(guide), mean_mask = mean(mask);
  const cv::Mat1f covariance = mean(guide.mul(mask)) - mean_guide.mul(mean_mask);
  const cv::Mat1f variance = mean(guide.mul(guide)) - mean_guide.mul(mean_guide);
  cv::Mat1f slope;
  cv::divide(covariance, variance + epsilon, slope);
  const cv::Mat1f offset = mean_mask - slope.mul(mean_guide);
  return mean(slope).mul(guide) + mean(offset);
}

// Full-size soft mask. Pixels farther than the filter's reach from the edge are 0 or 255.
Mask soft_mask(const cv::Mat1b& hard, const cv::Mat3f& lab) {
  cv::Mat1f wide;
  hard.convertTo(wide, CV_32F, 1.0 / 255.0);
  if (hard.size() != lab.size()) cv::resize(wide, wide, lab.size(), 0, 0, cv::INTER_LINEAR);
  cv::Mat1f guide;
  cv::extractChannel(lab, guide, 0);
  cv::Mat1f soft = guided(guide, wide, 2, 1e-3F);
  Mask mask{lab.rows, lab.cols, {}};
  mask.alpha.resize(lab.total());
  for (int y = 0; y < lab.rows; ++y) {
    for (int x = 0; x < lab.cols; ++x) {
      // Stretched, so that the filter's faint tails end.
      const float value = std::clamp((soft(y, x) - 0.15F) / 0.7F, 0.0F, 1.0F);
      mask.alpha[static_cast<std::size_t>(y) * lab.cols + x] =
          static_cast<std::uint8_t>(std::lround(255.0F * value));
    }
  }
  return mask;
}

cv::Rect frame_of(const std::optional<Box>& box, cv::Size full, double scale, cv::Size size) {
  if (!box) return {0, 0, size.width, size.height};
  const cv::Rect inside = cv::Rect(box->x, box->y, box->width, box->height) &
                          cv::Rect(0, 0, full.width, full.height);
  const cv::Rect scaled(static_cast<int>(inside.x * scale), static_cast<int>(inside.y * scale),
                        static_cast<int>(std::ceil(inside.width * scale)),
                        static_cast<int>(std::ceil(inside.height * scale)));
  const cv::Rect frame = scaled & cv::Rect(0, 0, size.width, size.height);
  if (frame.width < 4 || frame.height < 4) {
    throw Error(ErrorKind::input, "box: expected at least 4 x 4 pixels inside the picture of " +
                                      std::to_string(full.width) + " x " +
                                      std::to_string(full.height) + ", got " +
                                      std::to_string(inside.width) + " x " +
                                      std::to_string(inside.height));
  }
  return frame;
}

}  // namespace

const char* mask_method_name(MaskMethod method) {
  switch (method) {
    case MaskMethod::saliency_grabcut:
      return "grabcut from saliency";
    case MaskMethod::box_grabcut:
      return "grabcut from a box";
    case MaskMethod::saturation:
      return "saturation";
  }
  return "";
}

ObjectMask find_object(const RgbImage& image, const MaskOptions& options) {
  if (image.height < 8 || image.width < 8) {
    throw Error(ErrorKind::input, "expected at least 8 x 8 pixels, got " +
                                      std::to_string(image.width) + " x " +
                                      std::to_string(image.height));
  }
  cv::setNumThreads(1);
  const cv::Mat3b full = view_of(image);
  const double scale =
      std::min(1.0, static_cast<double>(options.work_side) / std::max(full.cols, full.rows));
  cv::Mat3b small = full;
  if (scale < 1.0) {
    cv::resize(full, small,
               {std::max(8, static_cast<int>(std::lround(full.cols * scale))),
                std::max(8, static_cast<int>(std::lround(full.rows * scale)))},
               0, 0, cv::INTER_AREA);
  }
  const cv::Rect frame = frame_of(options.box, full.size(), scale, small.size());
  const cv::Mat3f small_lab = oklab_of(small);

  ObjectMask result;
  result.method = options.box ? MaskMethod::box_grabcut : MaskMethod::saliency_grabcut;
  cv::Mat1b hard = cv::Mat1b::zeros(small.size());
  if (!is_flat(small_lab)) {
    hard = grabcut_mask(small, saliency_of(small_lab, frame, options.prior), frame, options);
  }
  drop_specks(hard);
  const double area = area_share(hard);
  if (area < kLeastArea || area > kMostArea) {
    result.method = MaskMethod::saturation;
    hard = saturation_mask(small, frame);
    drop_specks(hard);
  }
  result.mask = soft_mask(hard, oklab_of(full));
  result.quality = measure_mask(result.mask);
  return result;
}

MaskQuality measure_mask(const Mask& mask) {
  const cv::Mat1b alpha(mask.height, mask.width, const_cast<std::uint8_t*>(mask.alpha.data()));
  const cv::Mat1b object = alpha >= 128;
  MaskQuality quality;
  quality.area = area_share(alpha);
  const int sides = 2 * (mask.width + mask.height) - 4;
  int touching = 0;
  for (int x = 0; x < mask.width; ++x) {
    touching += (object(0, x) != 0) + (object(mask.height - 1, x) != 0);
  }
  for (int y = 1; y + 1 < mask.height; ++y) {
    touching += (object(y, 0) != 0) + (object(y, mask.width - 1) != 0);
  }
  quality.border = static_cast<double>(touching) / sides;
  cv::Mat labels, stats, centroids;
  const int parts = cv::connectedComponentsWithStats(object, labels, stats, centroids, 8);
  int largest = 0, largest_area = 0;
  for (int part = 1; part < parts; ++part) {
    const int area = stats.at<int>(part, cv::CC_STAT_AREA);
    quality.parts += area >= 0.001 * static_cast<double>(object.total()) ? 1 : 0;
    if (area > largest_area) largest = part, largest_area = area;
  }
  if (largest > 0) {
    std::vector<std::vector<cv::Point>> outlines;
    cv::findContours(labels == largest, outlines, cv::RETR_CCOMP, cv::CHAIN_APPROX_NONE);
    double length = 0.0;
    for (const auto& outline : outlines) length += cv::arcLength(outline, true);
    if (length > 0.0) {
      quality.compactness =
          std::min(1.0, 4.0 * std::numbers::pi * largest_area / (length * length));
    }
  }
  return quality;
}

}  // namespace probe
