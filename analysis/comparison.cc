#include "analysis/comparison.h"

#include <fmt/core.h>

#include "analysis/statistics.h"
#include "probe/core/error.h"

namespace probe {
namespace {

using Answers = std::map<std::string, bool>;

Cell answers_cell(const Answers& answers) {
  if (answers.empty()) return unknown_cell();
  Accuracy accuracy;
  for (const auto& [question, right] : answers) accuracy.add(right);
  return accuracy_cell(accuracy, wilson_interval(accuracy));
}

Cell match_cell(const std::optional<MatchScore>& score) {
  if (!score) return unknown_cell();
  return accuracy_cell(score->hit, wilson_interval(score->hit));
}

void check_same_questions(const Answers& a, const Answers& b, const std::string& first,
                          const std::string& second) {
  const bool same = a.size() == b.size() &&
                    std::equal(a.begin(), a.end(), b.begin(),
                               [](const auto& x, const auto& y) { return x.first == y.first; });
  if (same || a.empty() || b.empty()) return;
  throw Error(ErrorKind::input, "compare: " + first + " answered " + std::to_string(a.size()) +
                                    " questions and " + second + " " + std::to_string(b.size()) +
                                    ", or others; they must be scored on the same");
}

struct PairRow {
  std::string first, second, condition;
  std::vector<double> a, b;
  double p = 1.0;
};

void add_pair(const EncoderResult& x, const EncoderResult& y, const Answers& a, const Answers& b,
              const std::string& condition, std::vector<PairRow>& rows) {
  PairRow row{x.name, y.name, condition, {}, {}, 1.0};
  std::int64_t only_a = 0, only_b = 0;
  for (const auto& [question, right] : a) {
    const auto other = b.find(question);
    if (other == b.end()) continue;
    row.a.push_back(right ? 1.0 : 0.0);
    row.b.push_back(other->second ? 1.0 : 0.0);
    only_a += right && !other->second ? 1 : 0;
    only_b += !right && other->second ? 1 : 0;
  }
  if (row.a.empty()) return;
  row.p = mcnemar_exact(only_a, only_b);
  rows.push_back(std::move(row));
}

}  // namespace

Table comparison_table(const std::vector<EncoderResult>& results, int k) {
  Table table;
  table.name = "comparison";
  table.title = "Encoders on your items";
  table.columns = {{"encoder", "encoder"},
                   {"architecture", "architecture"},
                   {"choice_original", "choice, original % [95 %]"},
                   {"choice_modified", "choice, modified % [95 %]"},
                   {"o2o_hit", fmt::format("O2O hit@{} %", k)},
                   {"a2o_hit", fmt::format("A2O hit@{} %", k)}};
  for (const EncoderResult& result : results) {
    for (const EncoderResult& other : results) {
      if (other.items != result.items) {
        throw Error(ErrorKind::input, "compare: " + other.name + " has " +
                                          std::to_string(other.items.size()) + " items and " +
                                          result.name + " " + std::to_string(result.items.size()) +
                                          ", or others; they must be the same images");
      }
      check_same_questions(other.choice_original, result.choice_original, other.name, result.name);
      check_same_questions(other.choice_modified, result.choice_modified, other.name, result.name);
    }
    table.rows.push_back({text_cell(result.name), text_cell(result.architecture),
                          answers_cell(result.choice_original),
                          answers_cell(result.choice_modified), match_cell(result.o2o),
                          match_cell(result.a2o)});
  }
  return table;
}

Table paired_table(const std::vector<EncoderResult>& results, std::uint64_t seed) {
  std::vector<PairRow> rows;
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::size_t j = i + 1; j < results.size(); ++j) {
      add_pair(results[i], results[j], results[i].choice_original, results[j].choice_original,
               "original", rows);
      add_pair(results[i], results[j], results[i].choice_modified, results[j].choice_modified,
               "modified", rows);
    }
  }
  std::vector<double> p_values;
  for (const PairRow& row : rows) p_values.push_back(row.p);
  const std::vector<double> adjusted = holm_adjust(p_values);
  Table table;
  table.name = "paired_tests";
  table.title = "Pairs of encoders, question by question";
  table.columns = {{"first", "first"},
                   {"second", "second"},
                   {"condition", "condition"},
                   {"questions", "questions"},
                   {"difference_points", "first - second, points [95 %]"},
                   {"mcnemar_p", "McNemar p"},
                   {"holm_p", "Holm p"}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PairRow& row = rows[i];
    const Interval interval = paired_bootstrap(row.a, row.b, seed);
    table.rows.push_back({text_cell(row.first), text_cell(row.second), text_cell(row.condition),
                          count_cell(std::ssize(row.a)),
                          number_cell(100 * (mean_of(row.a) - mean_of(row.b)), 1,
                                      {100 * interval.low, 100 * interval.high}),
                          number_cell(row.p, 4), number_cell(adjusted[i], 4)});
  }
  return table;
}

}  // namespace probe
