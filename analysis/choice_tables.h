// Multiple-choice outcomes as tables: per condition, the drop from originals to their
// modified twins, per category, confusions.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/confusion.h"
#include "analysis/table.h"
#include "analysis/zero_shot.h"
#include "probe/core/embedding_set.h"

namespace probe {

// Outcomes of an item, found by its row.
struct ItemOutcomes {
  const ItemColumns& items;
  std::vector<std::vector<const ChoiceOutcome*>> by_row;  // [n]
};
ItemOutcomes group_outcomes(const std::vector<ChoiceOutcome>& outcomes, const ItemColumns& items);

// "original" first, the others in alphabetical order.
std::vector<std::string> conditions_of(const ItemColumns& items);

// One row for each condition, "modified" (all that are not original) if there are
// several of those, and "all"; Wilson intervals, chance level, ties.
Table condition_table(const ItemOutcomes& outcomes);

// Original against modified on pairs of the same source: the accuracies, their
// difference with a paired bootstrap interval, and McNemar's test. No rows without pairs.
struct PairedDrop {
  std::string condition;
  std::vector<double> original, modified;  // 0 or 1, pair by pair
};
std::vector<PairedDrop> paired_drops(const ItemOutcomes& outcomes);
Table drop_table(const std::vector<PairedDrop>& drops, std::uint64_t seed);

// Accuracy of each category, originals and modified apart.
Table category_table(const ItemOutcomes& outcomes);

// Accuracy of each attribute of the modified items, Wilson intervals. No rows without any.
Table attribute_table(const ItemOutcomes& outcomes);

// Every template alone, and their ensemble, side by side: accuracy per condition and over
// all, ties.
struct TemplateOutcomes {
  std::string name;  // the template, or "ensemble of ..."
  std::vector<ChoiceOutcome> outcomes;
};
Table template_table(const std::vector<TemplateOutcomes>& templates, const ItemColumns& items);

// How often each right name was answered by each name.
ConfusionCounts choice_confusions(const std::vector<ChoiceOutcome>& outcomes,
                                  const std::vector<Question>& questions);

// The most frequent (right name, picked name) pairs among the wrong answers.
Table confusion_table(const std::vector<ChoiceOutcome>& outcomes,
                      const std::vector<Question>& questions, int rows);

}  // namespace probe
