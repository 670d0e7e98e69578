// What people give `recolor` beside the photos: colours, boxes, verdicts.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "probe/imaging/color_names.h"
#include "probe/imaging/object_mask.h"

namespace probe {

// Category -> its colours, each once, in the table's order.
using ColorTable = std::map<std::string, std::vector<NamedColor>>;

// CSV with a header: the first column is the category, every other cell a colour or several
// divided by ';' (NEMO's Tables A and D). Empty cells are passed over.
// Throws Error(input) with file and line for a colour that is not in named_colors(), an
// empty or repeated category, or one without colours.
ColorTable read_color_table(const std::filesystem::path& path);

// Throws Error(usage) naming the nearest known colour.
NamedColor require_color(const std::string& name);

// "x,y,width,height" in pixels. Throws Error(usage).
Box parse_box(const std::string& text);

// Item id -> box. CSV with columns id, x, y, width, height.
// Throws Error(input) with file and line.
std::map<std::string, Box> read_boxes(const std::filesystem::path& path);

enum class Verdict { open, accept, reject };

// Twin id -> verdict. CSV with columns id, verdict, or JSON Lines (by the ending .jsonl)
// with these fields; others are passed over. An empty verdict is open.
// Throws Error(input) with file and line for another word or an id that stands twice.
std::map<std::string, Verdict> read_verdicts(const std::filesystem::path& path);

}  // namespace probe
