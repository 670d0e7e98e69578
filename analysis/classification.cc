#include "analysis/classification.h"

#include <algorithm>
#include <numeric>

#include "probe/core/error.h"

namespace probe {

bool ClassOutcome::within(int count) const {
  const auto end = ranked.begin() + std::min<std::ptrdiff_t>(count, std::ssize(ranked));
  return std::find(ranked.begin(), end, answer) != end;
}

ClassOutcome rank_classes(std::int64_t row, int answer, const std::vector<double>& scores) {
  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto kept = std::min<std::ptrdiff_t>(kRankedClasses, std::ssize(order));
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), [&](int a, int b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  order.resize(static_cast<std::size_t>(kept));
  ClassOutcome outcome{row, answer, std::move(order), {}, false};
  for (const int place : outcome.ranked) outcome.scores.push_back(scores[place]);
  outcome.tied = outcome.scores.size() > 1 && outcome.scores[0] == outcome.scores[1];
  return outcome;
}

std::vector<ClassOutcome> classify_images(const RowMatrix& images,
                                          const TextClassifier& classifier,
                                          const std::vector<int>& answers) {
  if (images.cols() != classifier.vectors.cols()) {
    throw Error(ErrorKind::input, "classify: expected texts of width " +
                                      std::to_string(images.cols()) + ", got " +
                                      std::to_string(classifier.vectors.cols()));
  }
  const RowMatrix unit = unit_rows(images);
  std::vector<ClassOutcome> outcomes;
  std::vector<double> scores(static_cast<std::size_t>(classifier.vectors.rows()));
  for (Eigen::Index i = 0; i < unit.rows(); ++i) {
    if (answers[i] < 0) continue;
    // One dot product at a time, as score_choices: equal class vectors give equal scores.
    for (Eigen::Index c = 0; c < classifier.vectors.rows(); ++c) {
      scores[c] = unit.row(i).dot(classifier.vectors.row(c));
    }
    outcomes.push_back(rank_classes(i, answers[i], scores));
  }
  return outcomes;
}

}  // namespace probe
