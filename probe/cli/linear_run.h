// Training and testing of `probe linear`: vectors and splits to outcomes.
#pragma once

#include <string>
#include <vector>

#include "analysis/classification.h"
#include "analysis/linear_probe.h"
#include "probe/core/matrix.h"

namespace probe {

struct LinearSettings {
  double c = 0.0;  // 0: the sweep chooses
  int sweep = 12;  // values of C
  double hold_out = 0.1;
  std::vector<int> ks = {10, 20};
  double temperature = 0.07;
  int max_iterations = 1000;
  std::uint64_t seed = 0;
};

// Items with a class: those of one file that are trained on, or tested.
struct LabelledRows {
  RowMatrix vectors;                 // unit rows
  std::vector<int> classes;
  std::vector<std::int64_t> rows;    // of the items that the outcomes are about
  std::vector<std::int64_t> groups;  // for the sweep; of the training rows only
};

// One way to decide.
struct LinearMethod {
  std::string name;  // "logistic regression", "10-NN"
  std::vector<ClassOutcome> outcomes;
};

struct LinearResult {
  std::vector<LinearMethod> methods;
  std::vector<SweepPoint> sweep;  // empty if C was given, or nothing could be held out
  double c = 0.0;                 // that was used
  std::string trouble;            // of the fit; empty: none
};

// Throws as fit_linear_probe and FlatIndex do.
LinearResult run_linear_probe(const LabelledRows& train, const LabelledRows& test,
                              int class_count, const LinearSettings& settings);

}  // namespace probe
