// Who was taken for whom.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/table.h"

namespace probe {

// Times that `first` (right) was answered by `second` (picked); right answers count too.
using ConfusionCounts = std::map<std::pair<std::string, std::string>, std::int64_t>;

// The most frequent pairs of a right name and another that was picked for it.
Table confusion_pairs(const ConfusionCounts& counts, const std::string& table_name, int rows);

// The names most often involved in mistakes, at most `names` of them, in alphabetical
// order; and how often each was answered by each, as a share of all answers to it.
Figure confusion_heatmap(const ConfusionCounts& counts, const std::string& figure_name,
                         int names);
// Ribbons between the same names, as wide as the mistakes are many (NEMO Fig. G).
Figure confusion_chord(const ConfusionCounts& counts, const std::string& figure_name, int names);

}  // namespace probe
