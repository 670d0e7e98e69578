#include "probe/imaging/draw_boxes.h"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "probe/core/error.h"
#include "probe/imaging/picture_mat.h"

namespace probe {
namespace {

const cv::Scalar kRed(255, 0, 0), kWhite(255, 255, 255), kBlack(0, 0, 0);
const cv::Scalar kColors[] = {kRed, {0, 200, 0}, {0, 0, 255}, {255, 230, 0}};

cv::Rect rect_of(const PixelBox& box) { return {box.x0, box.y0, box.width(), box.height()}; }

// 1/200 of the longer side, and never so wide that two sides of the box meet.
int line_width(const cv::Mat3b& picture, const PixelBox& box) {
  const int wanted = std::max(2, std::max(picture.rows, picture.cols) / 200);
  return std::clamp(std::min(box.width(), box.height()) / 6, 1, wanted);
}

// Fills the ring between `outer` and the rectangle `width` further in.
void fill_ring(cv::Mat3b& picture, cv::Rect outer, int width, const cv::Scalar& color) {
  const int w = std::min({width, outer.width, outer.height});
  if (w < 1) return;
  picture(cv::Rect(outer.x, outer.y, outer.width, w)).setTo(color);
  picture(cv::Rect(outer.x, outer.br().y - w, outer.width, w)).setTo(color);
  picture(cv::Rect(outer.x, outer.y, w, outer.height)).setTo(color);
  picture(cv::Rect(outer.br().x - w, outer.y, w, outer.height)).setTo(color);
}

cv::Rect shrunk(const cv::Rect& rect, int by) {
  return {rect.x + by, rect.y + by, std::max(0, rect.width - 2 * by),
          std::max(0, rect.height - 2 * by)};
}

// White, the colour, black, from the box's edge inwards. Boxes too small for three lines get
// the colour alone.
void draw_frame(cv::Mat3b& picture, const PixelBox& box, const cv::Scalar& color) {
  const cv::Rect rect = rect_of(box);
  const int width = line_width(picture, box);
  if (std::min(box.width(), box.height()) < 2 * (width + 2) + 1) {
    fill_ring(picture, rect, width, color);
    return;
  }
  fill_ring(picture, rect, 1, kWhite);
  fill_ring(picture, shrunk(rect, 1), width, color);
  fill_ring(picture, shrunk(rect, 1 + width), 1, kBlack);
}

// A red tag with a white letter, its corner at the box's; moved so that all of it is within
// the picture. 1/24 of the longer side high, at least 14 pixels.
void draw_tag(cv::Mat3b& picture, const PixelBox& box, char letter) {
  const int height = std::min(std::max(14, std::max(picture.rows, picture.cols) / 24),
                              std::min(picture.rows, picture.cols));
  const int font = cv::FONT_HERSHEY_SIMPLEX;
  const std::string text(1, letter);
  int baseline = 0;
  const cv::Size unit = cv::getTextSize(text, font, 1.0, 2, &baseline);
  const double scale = 0.62 * height / unit.height;
  const int thickness = std::max(1, static_cast<int>(std::lround(height / 9.0)));
  const int width = std::min(picture.cols,
                             static_cast<int>(std::lround(unit.width * scale)) + height / 2);
  const cv::Rect tag(std::clamp(box.x0, 0, picture.cols - width),
                     std::clamp(box.y0, 0, picture.rows - height), width, height);
  picture(tag).setTo(kRed);
  fill_ring(picture, tag, 1, kWhite);
  const cv::Point origin(
      tag.x + (width - static_cast<int>(std::lround(unit.width * scale))) / 2,
      tag.y + (height + static_cast<int>(std::lround(unit.height * scale))) / 2);
  // Drawn on the tag alone: nothing of the letter can stand outside.
  cv::Mat3b part = picture(tag);
  cv::putText(part, text, origin - tag.tl(), font, scale, kWhite, thickness, cv::LINE_AA);
}

}  // namespace

RgbImage draw_lettered_boxes(const RgbImage& image, std::span<const PixelBox> boxes) {
  cv::Mat3b picture = view_of(image).clone();
  for (const PixelBox& box : boxes) draw_frame(picture, box, kRed);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    draw_tag(picture, boxes[i], static_cast<char>('A' + i));
  }
  return copy_of(picture);
}

RgbImage draw_colored_boxes(const RgbImage& image, std::span<const PixelBox> boxes) {
  cv::Mat3b picture = view_of(image).clone();
  for (std::size_t i = 0; i < boxes.size(); ++i) draw_frame(picture, boxes[i], kColors[i]);
  return copy_of(picture);
}

RgbImage draw_red_box(const RgbImage& image, const PixelBox& box) {
  cv::Mat3b picture = view_of(image).clone();
  draw_frame(picture, box, kRed);
  return copy_of(picture);
}

RgbImage crop_box(const RgbImage& image, const PixelBox& box, double margin) {
  const int dx = static_cast<int>(std::lround(margin * box.width()));
  const int dy = static_cast<int>(std::lround(margin * box.height()));
  const cv::Rect wanted(box.x0 - dx, box.y0 - dy, box.width() + 2 * dx, box.height() + 2 * dy);
  return copy_of(view_of(image)(wanted & cv::Rect(0, 0, image.width, image.height)));
}

RgbImage draw_red_ellipse(const RgbImage& image, const PixelBox& box) {
  cv::Mat3b picture = view_of(image).clone();
  const cv::RotatedRect around(
      cv::Point2f((box.x0 + box.x1) / 2.0F, (box.y0 + box.y1) / 2.0F),
      cv::Size2f(static_cast<float>(box.width()), static_cast<float>(box.height())), 0.0F);
  const int width = std::max(2, std::max(image.width, image.height) / 200);
  cv::ellipse(picture, around, kRed, width, cv::LINE_AA);
  return copy_of(picture);
}

RgbImage blur_outside(const RgbImage& image, const PixelBox& box) {
  const cv::Mat3b source = view_of(image);
  const double sigma = std::max(2.0, std::max(image.width, image.height) / 50.0);
  cv::Mat3b blurred;
  cv::GaussianBlur(source, blurred, {0, 0}, sigma);
  source(rect_of(box)).copyTo(blurred(rect_of(box)));
  return copy_of(blurred);
}

}  // namespace probe
