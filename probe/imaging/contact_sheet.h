// A page of small pictures for a person who judges recoloured images: original, outline of
// the mask, result, side by side.
#pragma once

#include <span>
#include <string>

#include "probe/core/image.h"
#include "probe/imaging/object_mask.h"

namespace probe {

// What the label's colour says: black open, green accepted, red rejected or dropped.
enum class SheetMark { open, accepted, rejected };

struct SheetEntry {
  std::string label;  // one line above the pictures; ASCII is drawn, the rest as '?'
  SheetMark mark = SheetMark::open;
  RgbImage original, outlined, recolored;  // already small; `recolored` may be empty
};

// The picture with the mask's edge drawn in magenta between black lines.
RgbImage draw_outline(const RgbImage& image, const Mask& mask);

// Entries from left to right, `per_row` in a row, three squares of `side` pixels each.
// Throws Error(input) if there are no entries.
RgbImage draw_sheet(std::span<const SheetEntry> entries, int side, int per_row);

}  // namespace probe
