#include "probe/imaging/contact_sheet.h"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "probe/core/error.h"
#include "probe/imaging/picture_mat.h"
#include "probe/imaging/thumbnail.h"

namespace probe {
namespace {

constexpr int kGap = 4;  // pixels between entries

cv::Scalar mark_color(SheetMark mark) {
  switch (mark) {
    case SheetMark::open:
      return {0, 0, 0};
    case SheetMark::accepted:
      return {0, 120, 0};
    case SheetMark::rejected:
      return {200, 0, 0};
  }
  return {};
}

// The label in one line of the given width, as large as fits (at most `height` pixels high).
void draw_label(cv::Mat3b& sheet, const SheetEntry& entry, cv::Point corner, int width,
                int height) {
  std::string text = entry.label;
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  const int font = cv::FONT_HERSHEY_SIMPLEX;
  int baseline = 0;
  const cv::Size unit = cv::getTextSize(text, font, 1.0, 1, &baseline);
  const double scale = std::min(width / std::max(1.0, static_cast<double>(unit.width)),
                                (height - 3) / static_cast<double>(unit.height + baseline));
  cv::putText(sheet, text, {corner.x, corner.y + height - 4}, font, scale,
              mark_color(entry.mark), 1, cv::LINE_AA);
}

}  // namespace

RgbImage draw_outline(const RgbImage& image, const Mask& mask) {
  const cv::Mat1b alpha(mask.height, mask.width, const_cast<std::uint8_t*>(mask.alpha.data()));
  std::vector<std::vector<cv::Point>> outlines;
  cv::findContours(alpha >= 128, outlines, cv::RETR_CCOMP, cv::CHAIN_APPROX_NONE);
  cv::Mat3b drawn = view_of(image).clone();
  const int width = std::max(1, std::max(image.width, image.height) / 170);
  cv::drawContours(drawn, outlines, -1, cv::Scalar(0, 0, 0), 3 * width);
  cv::drawContours(drawn, outlines, -1, cv::Scalar(255, 0, 255), width);
  return copy_of(drawn);
}

RgbImage draw_sheet(std::span<const SheetEntry> entries, int side, int per_row) {
  if (entries.empty()) {
    throw Error(ErrorKind::input, "contact sheet: expected pictures, got none");
  }
  const int columns = std::min(per_row, static_cast<int>(entries.size()));
  const int rows = (static_cast<int>(entries.size()) + columns - 1) / columns;
  const int label = std::max(10, side / 9);
  const int width = 3 * side + kGap, height = side + label + kGap;
  cv::Mat3b sheet(rows * height, columns * width, cv::Vec3b(255, 255, 255));
  for (int i = 0; i < static_cast<int>(entries.size()); ++i) {
    const SheetEntry& entry = entries[i];
    const cv::Point corner(i % columns * width, i / columns * height);
    draw_label(sheet, entry, corner, 3 * side, label);
    int place = 0;
    for (const RgbImage* picture : {&entry.original, &entry.outlined, &entry.recolored}) {
      const int x = corner.x + side * place++, y = corner.y + label;
      if (picture->pixels.empty()) continue;
      const RgbImage fitted = thumbnail(*picture, side);
      view_of(fitted).copyTo(sheet(cv::Rect(x, y, fitted.width, fitted.height)));
    }
  }
  return copy_of(sheet);
}

}  // namespace probe
