// Do probabilities mean what they say: reliability and expected calibration error
// (Guo et al. 2017).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/table.h"
#include "analysis/zero_shot.h"

namespace probe {

inline constexpr int kReliabilityBins = 15;

// What the picked choice was said to be right with.
struct Confidence {
  double probability = 0.0;  // 0 to 1
  bool correct = false;
};

struct ReliabilityBin {
  double low = 0.0, high = 0.0;  // low < probability <= high; the first also holds 0
  double mean_probability = 0.0; // of its answers
  Accuracy accuracy;
};

struct Calibration {
  std::vector<ReliabilityBin> bins;  // equal widths; empty bins stay
  double expected_error = 0.0;       // mean |accuracy - probability| of bins, by their answers
  double largest_error = 0.0;        // of a bin
  double mean_probability = 0.0;
  Accuracy accuracy;                 // total 0: the other numbers say nothing
};
Calibration calibrate(const std::vector<Confidence>& answers, int bins = kReliabilityBins);

// The probability of each outcome's picked choice.
std::vector<Confidence> choice_confidences(const std::vector<ChoiceOutcome>& outcomes,
                                           const ProbabilityModel& model);

// One row; all unknown without a calibration (the bundle has no scale).
Table calibration_table(const std::optional<Calibration>& calibration,
                        const std::optional<ProbabilityModel>& model);
// Bins that have answers: accuracy with Wilson intervals against mean probability.
Table reliability_table(const Calibration& calibration);
Figure reliability_figure(const Calibration& calibration);

}  // namespace probe
