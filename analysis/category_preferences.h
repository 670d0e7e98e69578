// NEMO's Fig. 6 and Sec. 5.3: which categories models recognise, on open questions.
#pragma once

#include <vector>

#include "analysis/figure.h"
#include "analysis/subject.h"
#include "analysis/table.h"

namespace probe {

// Accuracy of every subject in every category on open questions; encoders answer those by
// classification over all names (DESIGN.md, ruling 2).
struct CategoryGrid {
  Side side = Side::original;
  std::vector<std::string> categories;  // by `mean`, best first; ties by name
  std::vector<std::string> subjects;    // encoders, then MLLMs
  std::vector<std::vector<std::optional<double>>> percent;  // [category][subject]
  std::vector<std::optional<double>> mean;  // [category], over the MLLMs; over the encoders if
                                            // there is no MLLM with open answers
  bool over_mllms = false;
};
CategoryGrid category_grid(const std::vector<Subject>& subjects, const ItemColumns& items,
                           Side side);

// Fig. 6, one heatmap: row = category, column = subject.
Figure category_figure(const CategoryGrid& grid, const std::vector<Subject>& subjects);

// The `count` most and the `count` least preferred categories of each grid; never one twice.
Table preference_table(const std::vector<CategoryGrid>& grids, int count,
                       const std::vector<Subject>& subjects);

}  // namespace probe
