// Encoders side by side on the same items.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/retrieval.h"
#include "analysis/table.h"

namespace probe {

// What one encoder did. Nothing is known of a field that is empty.
struct EncoderResult {
  std::string name, architecture;
  std::vector<std::string> items;  // id and content hash of each, sorted
  std::map<std::string, bool> choice_original, choice_modified;  // question id -> right
  std::optional<MatchScore> o2o, a2o;
};

// One row an encoder: choice accuracy on originals and modified with Wilson intervals,
// O2O and A2O hit@k. Throws Error(input) if two encoders saw different items, or answered
// different questions.
Table comparison_table(const std::vector<EncoderResult>& results, int k);

// Every pair of encoders on the questions both answered: difference of accuracy with a
// paired bootstrap interval and McNemar's test, Holm-adjusted over all rows.
Table paired_table(const std::vector<EncoderResult>& results, std::uint64_t seed);

}  // namespace probe
