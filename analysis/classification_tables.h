// Classifications as tables: per condition, per class, mistakes.
#pragma once

#include <string>
#include <vector>

#include "analysis/classification.h"
#include "analysis/confusion.h"
#include "analysis/table.h"
#include "probe/core/embedding_set.h"

namespace probe {

// What the tables of one classification are about.
struct Classification {
  const ItemColumns& items;
  const std::vector<std::string>& classes;
  const std::vector<ClassOutcome>& outcomes;
  std::string prefix;  // of the tables' names, e.g. "classify"
  std::string title;   // e.g. "Zero-shot over all classes"
};

// Mean of the classes' own accuracies, over classes that have items; 0 if there are none.
double mean_per_class(const std::vector<const ClassOutcome*>& outcomes);

// Cells that describe a set of outcomes, and their columns: top-1, top-5 (only where there
// are more than five classes), mean per class, chance, ties. Wilson intervals.
std::vector<Column> summary_columns(std::size_t classes);
std::vector<Cell> summary_cells(const std::vector<const ClassOutcome*>& outcomes,
                                std::size_t classes);

// <prefix>_by_condition: one row a condition, "modified" if there are several of those,
// and "all".
Table class_condition_table(const Classification& result);

// <prefix>_by_class: top-1 of each condition; top-5; what the class is most often taken for.
Table class_table(const Classification& result);

ConfusionCounts class_confusions(const Classification& result);

// <prefix>_errors: the surest mistakes first, at most `rows`.
Table class_error_table(const Classification& result, int rows);

// <prefix>_predictions: every item, in the order of the outcomes.
Table class_prediction_table(const Classification& result);

}  // namespace probe
