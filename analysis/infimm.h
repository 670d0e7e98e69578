// InfiMM-Eval's score (Han et al. 2023, Eq. 1), from judged scores.
//
//   S = (sum over M of s + 2 * sum over H of s) / (|M| + 2 |H|)
//
// M and H are the questions of moderate and high complexity. The paper gives the formula
// for the whole set; that a category's score is the formula within the category, and a
// complexity's the plain mean, is our reading (DESIGN.md, ruling 7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "probe/core/accuracy.h"
#include "probe/core/infimm.h"

namespace probe {

// Sums and counts of one set of questions.
struct WeightedScore {
  std::int64_t moderate = 0, high = 0;     // |M|, |H|
  double moderate_sum = 0, high_sum = 0;   // sums of s
  // S, 0 to 1; nullopt for an empty set.
  std::optional<double> value() const;
};

// One run of one model under one grading.
struct InfimmRun {
  std::string model, setting;
  Grading grading = Grading::with_steps;
  std::vector<std::optional<double>> scores;  // [questions]; nullopt: no score came
  std::size_t missing() const;
};

// Sorts scores into runs, in the order of their first line. Throws Error(input), with the
// score's own place, for a question that does not exist, a second score for the same
// question of a run, and a score that is not within 0 to 1.
std::vector<InfimmRun> group_scores(const std::vector<InfimmQuestion>& questions,
                                    const std::vector<InfimmScore>& scores);

using QuestionFilter = std::function<bool(const InfimmQuestion&)>;

// S over the questions that `keep` accepts and the run has scores for. A missing score is
// left out of numerator and denominator: it is unknown, not 0.
WeightedScore score_questions(const std::vector<InfimmQuestion>& questions,
                              const InfimmRun& run, const QuestionFilter& keep);

// 95 % percentile bootstrap of S, 10,000 resamples, seeded. Questions are drawn within
// each complexity, so that |M| and |H| stay as the benchmark fixed them. {0, 1} if the set
// is empty.
Interval score_interval(const std::vector<InfimmQuestion>& questions, const InfimmRun& run,
                        const QuestionFilter& keep, std::uint64_t seed);

// S of a minus S of b over the questions both have scores for, and its interval (questions
// drawn together). `value` is nullopt if there are none.
struct ScoreDifference {
  std::optional<double> value;
  Interval interval;
  std::int64_t questions = 0;
};
ScoreDifference score_difference(const std::vector<InfimmQuestion>& questions,
                                 const InfimmRun& a, const InfimmRun& b, std::uint64_t seed);

}  // namespace probe
