#include "analysis/infimm.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "analysis/statistics.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

constexpr double kHighWeight = 2.0;  // Eq. 1

std::string number_text(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

[[noreturn]] void fail(const InfimmScore& score, const std::string& message) {
  throw Error(ErrorKind::input, score.where + ": " + message);
}

// The values that Eq. 1 sums, as two strata with their weights.
std::vector<Stratum> strata_of(const std::vector<InfimmQuestion>& questions,
                               const QuestionFilter& keep,
                               const std::function<std::optional<double>(std::size_t)>& value) {
  std::vector<Stratum> strata{{1.0, {}}, {kHighWeight, {}}};
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!keep(questions[i])) continue;
    const auto v = value(i);
    if (!v) continue;
    strata[questions[i].complexity == ReasoningComplexity::high ? 1 : 0].values.push_back(*v);
  }
  return strata;
}

}  // namespace

std::optional<double> WeightedScore::value() const {
  const double weight =
      static_cast<double>(moderate) + kHighWeight * static_cast<double>(high);
  if (weight == 0.0) return std::nullopt;
  return (moderate_sum + kHighWeight * high_sum) / weight;
}

std::size_t InfimmRun::missing() const {
  return static_cast<std::size_t>(std::count(scores.begin(), scores.end(), std::nullopt));
}

std::vector<InfimmRun> group_scores(const std::vector<InfimmQuestion>& questions,
                                    const std::vector<InfimmScore>& scores) {
  std::unordered_map<std::string, std::size_t> rows;
  for (std::size_t i = 0; i < questions.size(); ++i) rows.emplace(questions[i].id, i);
  std::vector<InfimmRun> runs;
  for (const InfimmScore& score : scores) {
    const auto row = rows.find(score.question_id);
    if (row == rows.end()) {
      fail(score, "question_id \"" + printable(score.question_id) +
                      "\" is not among the questions");
    }
    if (!(score.score >= 0.0 && score.score <= 1.0)) {
      fail(score, "expected a score from 0 to 1, got " + number_text(score.score));
    }
    auto run = std::find_if(runs.begin(), runs.end(), [&](const InfimmRun& entry) {
      return std::tie(entry.model, entry.setting, entry.grading) ==
             std::tie(score.model, score.setting, score.grading);
    });
    if (run == runs.end()) {
      runs.push_back({score.model, score.setting, score.grading,
                      std::vector<std::optional<double>>(questions.size())});
      run = std::prev(runs.end());
    }
    if (run->scores[row->second]) {
      fail(score, "a second score of model \"" + printable(score.model) + "\" for question \"" +
                      printable(score.question_id) + "\"");
    }
    run->scores[row->second] = score.score;
  }
  return runs;
}

WeightedScore score_questions(const std::vector<InfimmQuestion>& questions,
                              const InfimmRun& run, const QuestionFilter& keep) {
  WeightedScore result;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!keep(questions[i]) || !run.scores[i]) continue;
    const bool high = questions[i].complexity == ReasoningComplexity::high;
    (high ? result.high : result.moderate) += 1;
    (high ? result.high_sum : result.moderate_sum) += *run.scores[i];
  }
  return result;
}

Interval score_interval(const std::vector<InfimmQuestion>& questions, const InfimmRun& run,
                        const QuestionFilter& keep, std::uint64_t seed) {
  const auto strata = strata_of(questions, keep, [&](std::size_t i) { return run.scores[i]; });
  if (strata[0].values.empty() && strata[1].values.empty()) return {0.0, 1.0};
  return bootstrap_strata(strata, seed);
}

ScoreDifference score_difference(const std::vector<InfimmQuestion>& questions,
                                 const InfimmRun& a, const InfimmRun& b, std::uint64_t seed) {
  const auto both = [](const InfimmQuestion&) { return true; };
  const auto strata = strata_of(questions, both, [&](std::size_t i) -> std::optional<double> {
    if (!a.scores[i] || !b.scores[i]) return std::nullopt;
    return *a.scores[i] - *b.scores[i];
  });
  ScoreDifference result;
  WeightedScore sums;
  for (const double value : strata[0].values) sums.moderate_sum += value;
  for (const double value : strata[1].values) sums.high_sum += value;
  sums.moderate = std::ssize(strata[0].values);
  sums.high = std::ssize(strata[1].values);
  result.questions = sums.moderate + sums.high;
  result.value = sums.value();
  if (result.value) result.interval = bootstrap_strata(strata, seed);
  return result;
}

}  // namespace probe
