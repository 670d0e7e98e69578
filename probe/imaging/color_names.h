// The named colours of NEMO's Table A (fruit) and Table D (animals), as targets in OKLCh.
//
// NEMO prompts an editor with the names and gives no values; these are our own choice: what
// each name stands for, inside sRGB, so that "deep" is darker, "soft" and "light" paler,
// "bright", "vivid" and "vibrant" as strong as the hue allows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "probe/imaging/oklab.h"

namespace probe {

struct NamedColor {
  std::string_view name;
  Oklch target;
  // An object's lightness may stay this far from the target's: a dark apple may be a dark
  // red one, but no dark thing is lemon yellow.
  float lightness_slack = 0.0F;
};

// All of them, in the order of their names.
std::span<const NamedColor> named_colors();

// By name; case and spaces around it do not matter.
std::optional<NamedColor> find_named_color(std::string_view name);

// "deep purple" -> "deep-purple".
std::string color_slug(std::string_view name);

}  // namespace probe
