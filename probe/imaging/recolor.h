// Gives the object of a photo another colour and keeps its shading and texture.
#pragma once

#include <string>

#include "probe/core/image.h"
#include "probe/imaging/color_names.h"
#include "probe/imaging/object_mask.h"

namespace probe {

// The usual colour of what a mask covers.
struct ObjectColor {
  Oklab mean;              // of the pixels, by their share in the mask
  float lightness = 0.0F;  // median
  float chroma = 0.0F;     // median
};

struct RecolorQuality {
  double mask_fraction = 0.0;   // share of the picture
  double hue_error = 0.0;       // degrees between the mean colour and the target; 0 if the
                                // target is black or white
  double color_distance = 0.0;  // OKLab distance of the mean colour to the target
  double start_distance = 0.0;  // the same before: of the original object
  double change = 0.0;          // mean OKLab distance between new and old object pixels
};

struct Recolored {
  RgbImage image;
  RecolorQuality quality;
};

// What a result must have; else quality_failure() says why not.
struct QualityLimits {
  double min_area = 0.04, max_area = 0.98;  // of the mask
  double max_hue_error = 20.0;              // degrees
  double max_color_distance = 0.20;
  double min_change = 0.06;
};

// Throws Error(input) if no pixel belongs to the mask.
ObjectColor measure_object(const RgbImage& image, const Mask& mask);

// How far a colour is from an object's own for the eye: OKLab distance in which lightness
// counts a third, since shading and light change it anyway.
float difference_from(const ObjectColor& object, const NamedColor& color);

// In OKLCh. Lightness goes through a monotone curve that maps black to black, white to white
// and the object's median to within the colour's slack of the target, so the order of light
// and dark stays. Chroma becomes the target's, in proportion to lightness as shading does
// it, and less where the object itself was pale for its kind (highlights, stickers). A
// seventh of each pixel's own deviation in hue stays. Pixels with alpha 0 are untouched.
// Throws Error(input) if the mask is empty or of another size than the picture.
Recolored recolor(const RgbImage& image, const Mask& mask, const NamedColor& color);

// Empty if all is well; else one line, e.g.
// "mask too small: expected at least 4.0% of the picture, got 1.2%".
std::string quality_failure(const RecolorQuality& quality, const QualityLimits& limits);

}  // namespace probe
