// Which colours are an object's own: those more common in the photos of its category than
// in the dataset as a whole. Hands, crates and price tags occur everywhere and fall out.
#pragma once

#include <cstddef>
#include <vector>

#include "probe/core/image.h"
#include "probe/imaging/oklab.h"

namespace probe {

// Shares of colours, in cells of OKLab; pixels near the picture's centre count more.
class ColorHistogram {
 public:
  ColorHistogram();
  void add(const RgbImage& image);
  double pictures() const { return pictures_; }
  // Sum over the pictures of each cell's share; a picture counts once, whatever its size.
  const std::vector<double>& cells() const { return cells_; }

 private:
  std::vector<double> cells_;
  double pictures_ = 0.0;
};

// log(share in the category / share in the other categories) for each cell.
class ColorPrior {
 public:
  // `all` includes the category's own pictures. With fewer than 3 of them, or nothing
  // else to compare with, every colour gets 0.
  ColorPrior(const ColorHistogram& category, const ColorHistogram& all);
  // About -3 to 3; more than 0: rather the object's.
  float log_ratio(const Oklab& color) const;

 private:
  std::vector<float> cells_;
};

}  // namespace probe
