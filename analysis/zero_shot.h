// Zero-shot multiple choice (NEMO Sec. 5.2, question 1): the choice whose text embedding
// has the largest cosine with the image embedding.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probe/core/accuracy.h"
#include "probe/core/item.h"
#include "probe/core/matrix.h"

namespace probe {

// One vector per class name: each name's prompts embedded, normalised, averaged over the
// templates, normalised again (open_clip's zero_shot_classifier).
struct TextClassifier {
  std::vector<std::string> names;
  RowMatrix vectors;  // [names, d], unit rows
};

// Name -> row; of a name that stands twice, the first.
std::map<std::string, Eigen::Index> rows_by_name(const TextClassifier& classifier);

// `prompts` [names.size() * templates, d] raw, all templates of a name together.
// Throws Error(input) if the rows do not divide evenly or one is zero or not finite.
TextClassifier average_prompts(const std::vector<std::string>& names, const RowMatrix& prompts,
                               int templates);

// The same for classes with different numbers of prompts: `counts` [names.size()], each at
// least 1; a class's prompts stand together. A class with several names has every name in
// every template, and all of them weigh the same.
TextClassifier average_prompts(const std::vector<std::string>& names, const RowMatrix& prompts,
                               const std::vector<int>& counts);

// A template with "{}" replaced by `name`. Throws Error(usage) unless "{}" occurs once.
std::string fill_template(const std::string& prompt_template, const std::string& name);

struct ChoiceOutcome {
  std::string question_id, item_id;
  int picked = -1;             // index into the question's choices
  int answer = -1;
  bool tied = false;           // another choice had the same score as the picked one
  std::vector<float> cosines;  // [c]

  bool correct() const { return picked == answer; }
};

// Scores every question of type `choice` whose item is in `row_of`. Ties go to the lower
// choice (DESIGN.md section 7).
//   images [n, d] raw; row_of: item id -> row.
// Questions whose item is absent are left out; callers list those items as failed.
std::vector<ChoiceOutcome> score_choices(const std::vector<Question>& questions,
                                         const std::map<std::string, int>& row_of,
                                         const RowMatrix& images,
                                         const TextClassifier& classifier);

// Accuracy over the four circular shifts, as for an MLLM: at shift s position p shows
// choices[(p + s) mod c], and a tie goes to the lower *position*. Equal for all shifts
// unless there are ties. One entry for each shift.
std::vector<Accuracy> accuracy_by_shift(const std::vector<ChoiceOutcome>& outcomes);

// The learned scale and bias of a bundle.
struct ProbabilityModel {
  bool sigmoid = false;  // of each choice by itself (SigLIP); else softmax over the choices
  double scale = 1.0;    // not its logarithm
  double bias = 0.0;
};

// A probability for each choice of the outcome.
std::vector<double> choice_probabilities(const ChoiceOutcome& outcome,
                                         const ProbabilityModel& model);

// Probabilities over the choices from cosines: softmax of scale*cosine + bias, or the
// sigmoid of each (SigLIP). They change no argmax.
std::vector<double> softmax_probabilities(const std::vector<float>& cosines, double scale);
std::vector<double> sigmoid_probabilities(const std::vector<float>& cosines, double scale,
                                          double bias);

}  // namespace probe
