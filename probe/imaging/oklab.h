// Ottosson's OKLab (https://bottosson.github.io/posts/oklab, 2020): a perceptual space in
// which hue, chroma and lightness can be moved apart. White is L = 1, a = b = 0.
#pragma once

#include <array>
#include <cstdint>

namespace probe {

struct Oklab {
  float lightness = 0.0F;  // 0 black to 1 white
  float a = 0.0F;          // green to red, about -0.4 to 0.4
  float b = 0.0F;          // blue to yellow
};

// The same in polar form.
struct Oklch {
  float lightness = 0.0F;
  float chroma = 0.0F;  // 0 grey; sRGB ends at about 0.32
  float hue = 0.0F;     // degrees, 0 to 360; red 29, yellow 110, green 142, blue 264
};

using Rgb = std::array<std::uint8_t, 3>;

Oklab to_oklab(const Rgb& color);
Oklch to_oklch(const Oklab& color);
Oklab to_oklab(const Oklch& color);

// True if sRGB can show the colour (with 0.1% of slack for rounding).
bool in_srgb(const Oklab& color);

// Nearest colour that sRGB can show with the same lightness and hue: only chroma falls.
Rgb to_rgb(const Oklab& color);

// Angle between two hues in degrees, 0 to 180.
float hue_distance(float hue, float other);

// Euclidean distance.
float color_distance(const Oklab& color, const Oklab& other);

}  // namespace probe
