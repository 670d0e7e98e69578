#include "probe/cli/linear_run.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "analysis/knn_vote.h"
#include "analysis/splits.h"
#include "index/flat_index.h"

namespace probe {
namespace {

// Row i of the matrix, by double.
Eigen::MatrixXd double_rows(const RowMatrix& vectors, const std::vector<std::int64_t>& rows) {
  Eigen::MatrixXd some(std::ssize(rows), vectors.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    some.row(static_cast<Eigen::Index>(i)) = vectors.row(rows[i]).cast<double>();
  }
  return some;
}

std::vector<int> classes_of(const std::vector<int>& classes,
                            const std::vector<std::int64_t>& rows) {
  std::vector<int> some;
  for (const std::int64_t row : rows) some.push_back(classes[row]);
  return some;
}

// The classes that occur, numbered from 0: a probe is fitted to those alone, since the
// intercept of a class without vectors, which is not penalised, would run away.
struct Present {
  std::vector<int> classes;  // by number
  std::map<int, int> number;

  explicit Present(const std::vector<int>& rows) {
    const std::set<int> all(rows.begin(), rows.end());
    classes.assign(all.begin(), all.end());
    for (const int place : classes) number.emplace(place, static_cast<int>(number.size()));
  }
  int count() const { return static_cast<int>(classes.size()); }
  std::vector<int> numbered(const std::vector<int>& rows) const {
    std::vector<int> numbers;
    for (const int place : rows) numbers.push_back(number.at(place));
    return numbers;
  }
};

std::vector<SweepPoint> sweep(const LabelledRows& train, const LinearSettings& settings,
                              const ProbeOptions& options) {
  std::vector<std::int64_t> all(train.classes.size());
  std::iota(all.begin(), all.end(), 0);
  Split split = hold_out(all, train.groups, settings.hold_out, settings.seed);
  const std::vector<int> kept = classes_of(train.classes, split.train);
  const Present present(kept);
  std::erase_if(split.test, [&](std::int64_t row) {
    return !present.number.contains(train.classes[row]);
  });
  if (split.test.empty() || present.count() < 2) return {};
  return sweep_probe(double_rows(train.vectors, split.train), present.numbered(kept),
                     double_rows(train.vectors, split.test),
                     present.numbered(classes_of(train.classes, split.test)), present.count(),
                     sweep_values(settings.sweep), options);
}

LinearMethod logistic_regression(const LabelledRows& train, const LabelledRows& test,
                                 int class_count, const LinearSettings& settings,
                                 LinearResult& result) {
  ProbeOptions options;
  options.max_iterations = settings.max_iterations;
  result.c = settings.c;
  if (result.c == 0.0) {
    result.sweep = sweep(train, settings, options);
    result.c = result.sweep.empty() ? 1.0 : best_c(result.sweep);
  }
  options.c = result.c;
  const Present present(train.classes);
  const LinearProbe probe =
      fit_linear_probe(train.vectors.cast<double>(), present.numbered(train.classes),
                       present.count(), options, nullptr);
  result.trouble = probe.trouble;
  const Eigen::MatrixXd logits = probe_logits(probe, test.vectors.cast<double>());
  LinearMethod method{"logistic regression", {}};
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    const Eigen::RowVectorXd shifted =
        (logits.row(i).array() - logits.row(i).maxCoeff()).exp().matrix();
    std::vector<double> scores(static_cast<std::size_t>(class_count), 0.0);
    for (int c = 0; c < present.count(); ++c) {
      scores[present.classes[c]] = shifted[c] / shifted.sum();
    }
    method.outcomes.push_back(rank_classes(test.rows[i], test.classes[i], scores));
  }
  return method;
}

// A class that no neighbour has is no candidate, not even for top-5.
void drop_voteless(ClassOutcome& outcome) {
  while (outcome.ranked.size() > 1 && outcome.scores.back() == 0.0) {
    outcome.ranked.pop_back();
    outcome.scores.pop_back();
  }
}

}  // namespace

LinearResult run_linear_probe(const LabelledRows& train, const LabelledRows& test,
                              int class_count, const LinearSettings& settings) {
  LinearResult result;
  result.methods.push_back(logistic_regression(train, test, class_count, settings, result));
  if (settings.ks.empty()) return result;
  const int largest = *std::max_element(settings.ks.begin(), settings.ks.end());
  const std::vector<Neighbors> found =
      FlatIndex(train.vectors).search(test.vectors, largest, {});
  for (const int k : settings.ks) {
    LinearMethod method{std::to_string(k) + "-NN", {}};
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::vector<int> classes;
      std::vector<float> cosines;
      for (const Neighbor& neighbor : found[i]) {
        classes.push_back(train.classes[neighbor.row]);
        cosines.push_back(neighbor.score);
      }
      ClassOutcome outcome =
          rank_classes(test.rows[i], test.classes[i],
                       knn_votes(classes, cosines, k, settings.temperature, class_count));
      drop_voteless(outcome);
      method.outcomes.push_back(std::move(outcome));
    }
    result.methods.push_back(std::move(method));
  }
  return result;
}

}  // namespace probe
