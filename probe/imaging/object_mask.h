// Which pixels of a photo belong to its object, by OpenCV's GrabCut (Rother, Kolmogorov,
// Blake, "GrabCut", SIGGRAPH 2004) seeded by a saliency of our own or by a box.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "probe/core/image.h"
#include "probe/imaging/color_prior.h"

namespace probe {

// In pixels of the picture; the part outside it is cut off.
struct Box {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const Box&) const = default;
};

// How much of each pixel is object: 0 none, 255 all; rows top to bottom.
struct Mask {
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> alpha;
};

enum class MaskMethod { saliency_grabcut, box_grabcut, saturation };

// "grabcut from saliency", "grabcut from a box", "saturation".
const char* mask_method_name(MaskMethod method);

// Counting pixels of at least half.
struct MaskQuality {
  double area = 0.0;         // share of the picture, 0 to 1
  double border = 0.0;       // share of the picture's outermost pixels that are object
  double compactness = 0.0;  // 4 pi area / perimeter^2 of the largest part: a disc has 1
  int parts = 0;             // connected parts of at least 0.1% of the picture
};

struct ObjectMask {
  Mask mask;
  MaskMethod method = MaskMethod::saliency_grabcut;
  MaskQuality quality;
};

struct MaskOptions {
  std::optional<Box> box;             // the object lies inside; nothing outside is object
  const ColorPrior* prior = nullptr;  // colours of the category, or none
  int work_side = 240;                // longer side of the copy GrabCut works on, pixels
  int iterations = 3;                 // of GrabCut
};

// Saliency: the picture's colours fall into groups; a group counts by how central its
// pixels lie, how chromatic it is, and how much more common it is in the category than in
// the whole dataset (`prior`). If GrabCut fails, has one flat colour to work on, or leaves less
// than 1% or more than 98%, the pixels of high saturation are taken instead (`method` says so).
// The edge is fitted to the picture and soft over about two pixels.
// The same input gives the same mask. Throws Error(input) if the picture is smaller than
// 8 x 8, or the box does not overlap it.
ObjectMask find_object(const RgbImage& image, const MaskOptions& options);

MaskQuality measure_mask(const Mask& mask);

}  // namespace probe
