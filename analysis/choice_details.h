// Multiple-choice outcomes question by question.
#pragma once

#include <optional>
#include <vector>

#include "analysis/table.h"
#include "analysis/zero_shot.h"
#include "probe/core/embedding_set.h"

namespace probe {

// What the two tables below are about. Without a model probabilities are unknown.
struct ChoiceDetails {
  const ItemColumns& items;
  const std::vector<Question>& questions;
  const std::vector<ChoiceOutcome>& outcomes;
  std::optional<ProbabilityModel> model;
};

// The surest mistakes first (largest lead over the right choice), at most `rows`.
Table choice_error_table(const ChoiceDetails& details, int rows);

// Every question: picked, answer, probability and cosine of the picked choice, and of the
// right one.
Table choice_prediction_table(const ChoiceDetails& details);

}  // namespace probe
