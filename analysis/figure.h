// Figures as data. An analysis says what is drawn; the report page and the notebooks draw
// it. Rendering never computes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probe/core/accuracy.h"

namespace probe {

// One mark. What the fields mean depends on the kind of figure:
//   bars     a bar of height `value` at category `x` inside panel `group`, coloured by `series`
//   lines    a point at (`position`, `value`) of the line `series`; `x` names the point
//   scatter  a point at (`position`, `value`) coloured by `series`; `x` names the point
//   heatmap  the cell in row `series` and column `x`
//   chord    a ribbon from `series` to `x` of width `value`
struct Mark {
  std::string series, group, x;
  std::optional<double> position;   // lines and scatter
  std::optional<double> value;      // unknown: drawn as a gap with the word "unknown"
  std::optional<Interval> interval; // of the value, same unit
};

struct Figure {
  enum class Kind { bars, lines, scatter, heatmap, chord };
  Kind kind = Kind::bars;
  std::string name;              // for machines and file names: snake_case
  std::string title;             // what it shows, with the paper's figure number if it is one
  std::string x_title, y_title;  // axes, with the unit
  std::string caption;           // where the numbers come from; what a reader must know
  std::vector<Mark> marks;       // in drawing order: rows, columns and panels keep this order
};

}  // namespace probe
