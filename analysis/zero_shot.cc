#include "analysis/zero_shot.h"

#include <algorithm>
#include <cmath>

#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {

std::string fill_template(const std::string& prompt_template, const std::string& name) {
  const std::size_t at = prompt_template.find("{}");
  if (at == std::string::npos || prompt_template.find("{}", at + 2) != std::string::npos) {
    throw Error(ErrorKind::usage, "template \"" + prompt_template +
                                      "\": expected {} once, where the name goes");
  }
  return prompt_template.substr(0, at) + name + prompt_template.substr(at + 2);
}

TextClassifier average_prompts(const std::vector<std::string>& names, const RowMatrix& prompts,
                               int templates) {
  return average_prompts(names, prompts, std::vector<int>(names.size(), templates));
}

TextClassifier average_prompts(const std::vector<std::string>& names, const RowMatrix& prompts,
                               const std::vector<int>& counts) {
  Eigen::Index expected = 0;
  bool positive = counts.size() == names.size();
  for (const int count : counts) {
    expected += count;
    positive = positive && count > 0;
  }
  if (!positive || prompts.rows() != expected) {
    throw Error(ErrorKind::input, "prompts: expected " + std::to_string(expected) +
                                      " rows, got " + std::to_string(prompts.rows()));
  }
  const RowMatrix unit = unit_rows(prompts);
  RowMatrix means(std::ssize(names), prompts.cols());
  Eigen::Index row = 0;
  for (Eigen::Index i = 0; i < means.rows(); ++i) {
    means.row(i) = unit.middleRows(row, counts[i]).colwise().mean();
    row += counts[i];
  }
  return {names, unit_rows(means)};
}

std::map<std::string, Eigen::Index> rows_by_name(const TextClassifier& classifier) {
  std::map<std::string, Eigen::Index> rows;
  for (std::size_t i = 0; i < classifier.names.size(); ++i) {
    rows.emplace(classifier.names[i], static_cast<Eigen::Index>(i));
  }
  return rows;
}

std::vector<ChoiceOutcome> score_choices(const std::vector<Question>& questions,
                                         const std::map<std::string, int>& row_of,
                                         const RowMatrix& images,
                                         const TextClassifier& classifier) {
  const std::map<std::string, Eigen::Index> class_of = rows_by_name(classifier);
  if (images.cols() != classifier.vectors.cols()) {
    throw Error(ErrorKind::input, "zero-shot: expected texts of width " +
                                      std::to_string(images.cols()) + ", got " +
                                      std::to_string(classifier.vectors.cols()));
  }
  const RowMatrix unit = unit_rows(images);
  std::vector<ChoiceOutcome> outcomes;
  for (const Question& question : questions) {
    const auto row = row_of.find(question.item_id);
    if (question.type != QuestionType::choice || row == row_of.end()) continue;
    ChoiceOutcome outcome;
    outcome.question_id = question.id;
    outcome.item_id = question.item_id;
    outcome.answer = question.answer;
    for (const std::string& choice : question.choices) {
      const auto text = class_of.find(choice);
      if (text == class_of.end()) {
        throw Error(ErrorKind::input, "question \"" + printable(question.id) + "\": choice \"" +
                                          printable(choice) + "\" has no text vector");
      }
      outcome.cosines.push_back(unit.row(row->second).dot(classifier.vectors.row(text->second)));
    }
    const auto best = std::max_element(outcome.cosines.begin(), outcome.cosines.end());
    outcome.picked = static_cast<int>(best - outcome.cosines.begin());
    outcome.tied = std::count(outcome.cosines.begin(), outcome.cosines.end(), *best) > 1;
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::vector<Accuracy> accuracy_by_shift(const std::vector<ChoiceOutcome>& outcomes) {
  std::size_t shifts = 0;
  for (const ChoiceOutcome& outcome : outcomes) {
    shifts = std::max(shifts, outcome.cosines.size());
  }
  std::vector<Accuracy> accuracies(shifts);
  for (const ChoiceOutcome& outcome : outcomes) {
    const std::size_t c = outcome.cosines.size();
    for (std::size_t s = 0; s < shifts; ++s) {
      std::size_t picked = s % c;  // the choice shown at position 0
      for (std::size_t p = 1; p < c; ++p) {
        const std::size_t shown = (p + s) % c;
        if (outcome.cosines[shown] > outcome.cosines[picked]) picked = shown;
      }
      accuracies[s].add(static_cast<int>(picked) == outcome.answer);
    }
  }
  return accuracies;
}

std::vector<double> choice_probabilities(const ChoiceOutcome& outcome,
                                         const ProbabilityModel& model) {
  return model.sigmoid ? sigmoid_probabilities(outcome.cosines, model.scale, model.bias)
                       : softmax_probabilities(outcome.cosines, model.scale);
}

std::vector<double> softmax_probabilities(const std::vector<float>& cosines, double scale) {
  const double largest = *std::max_element(cosines.begin(), cosines.end());
  std::vector<double> probabilities;
  double sum = 0.0;
  for (const float cosine : cosines) {
    probabilities.push_back(std::exp(scale * (cosine - largest)));
    sum += probabilities.back();
  }
  for (double& p : probabilities) p /= sum;
  return probabilities;
}

std::vector<double> sigmoid_probabilities(const std::vector<float>& cosines, double scale,
                                          double bias) {
  std::vector<double> probabilities;
  for (const float cosine : cosines) {
    probabilities.push_back(1.0 / (1.0 + std::exp(-(scale * cosine + bias))));
  }
  return probabilities;
}

}  // namespace probe
