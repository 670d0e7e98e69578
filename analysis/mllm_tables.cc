#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/mllm_results.h"
#include "analysis/statistics.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

// Groups an item's condition belongs to: its own and, if it is no original, "modified".
std::vector<std::string> groups_of(const std::string& condition) {
  if (condition.empty()) return {"all"};
  if (condition == kOriginal) return {kOriginal};
  return {condition, "modified"};
}

struct Group {
  Accuracy all;
  std::map<int, Accuracy> by_shift;
  std::map<std::string, std::pair<int, int>> by_question;  // right, asked
  std::map<std::string, int> shifts_of;                    // shifts the question has
  int unparsed = 0;
};

// Neither a rule nor a judge has decided.
bool is_unparsed(const ScoredResponse& row) {
  return row.extraction.reason != Unparsed::none && !row.judged;
}

Cell strict_cell(const Group& group) {
  Accuracy strict;
  for (const auto& [question, counts] : group.by_question) {
    if (counts.second == group.shifts_of.at(question)) strict.add(counts.first == counts.second);
  }
  return strict.total == 0 ? unknown_cell() : accuracy_cell(strict);
}

}  // namespace

Table mllm_accuracy_table(const std::vector<ScoredResponse>& rows) {
  // "modified" after its parts, "original" first: the order of NEMO's tables.
  const auto rank = [](const std::string& group) {
    return group == kOriginal ? 0 : group == "modified" ? 2 : 1;
  };
  std::map<std::tuple<std::string, int, std::string, int>, Group> groups;
  for (const ScoredResponse& row : rows) {
    for (const std::string& name : groups_of(row.condition)) {
      Group& group = groups[{row.model, rank(name), name, static_cast<int>(row.question->type)}];
      group.all.add(row.correct);
      group.by_shift[row.shift].add(row.correct);
      auto& counts = group.by_question[row.question->id];
      counts.first += row.correct ? 1 : 0;
      ++counts.second;
      group.shifts_of[row.question->id] =
          row.question->type == QuestionType::open ? 1 : static_cast<int>(row.question->choices.size());
      group.unparsed += is_unparsed(row) ? 1 : 0;
    }
  }
  Table table;
  table.name = "mllm_accuracy";
  table.title = "Accuracy of MLLM responses";
  table.columns = {{"model", "model"},       {"condition", "condition"},
                   {"type", "type"},         {"accuracy", "accuracy % [95 %] (right/all)"},
                   {"shifts", "shifts"},     {"shift_mean", "mean of shifts %"},
                   {"shift_sd", "sd"},       {"strict", "right at every shift %"},
                   {"unparsed", "unparsed"}};
  table.note = "unparsed answers count as wrong; sd over the shifts, n - 1";
  for (const auto& [key, group] : groups) {
    const auto type = static_cast<QuestionType>(std::get<3>(key));
    std::vector<double> percents;
    for (const auto& [shift, accuracy] : group.by_shift) {
      percents.push_back(100.0 * static_cast<double>(accuracy.correct) /
                         static_cast<double>(accuracy.total));
    }
    const bool circular = type != QuestionType::open;
    // The responses to one question at its shifts are not independent, so the interval is
    // given only where each question was asked once.
    const bool once = percents.size() == 1;
    table.rows.push_back(
        {text_cell(std::get<0>(key)), text_cell(std::get<2>(key)),
         text_cell(question_type_name(type)),
         once ? accuracy_cell(group.all, wilson_interval(group.all)) : accuracy_cell(group.all),
         count_cell(std::ssize(percents)),
         circular ? number_cell(mean_of(percents), 1) : unknown_cell(),
         circular && percents.size() > 1 ? number_cell(standard_deviation(percents), 1)
                                         : unknown_cell(),
         circular ? strict_cell(group) : unknown_cell(), count_cell(group.unparsed)});
  }
  return table;
}

Table shift_table(const std::vector<ScoredResponse>& rows) {
  std::map<std::tuple<std::string, int, int>, Accuracy> shifts;
  for (const ScoredResponse& row : rows) {
    if (row.question->type == QuestionType::open) continue;
    shifts[{row.model, static_cast<int>(row.question->type), row.shift}].add(row.correct);
  }
  Table table;
  table.name = "mllm_shifts";
  table.title = "Accuracy at each circular shift";
  table.columns = {{"model", "model"}, {"type", "type"}, {"shift", "shift"}, {"accuracy", "accuracy %"}};
  for (const auto& [key, accuracy] : shifts) {
    table.rows.push_back({text_cell(std::get<0>(key)),
                          text_cell(question_type_name(static_cast<QuestionType>(std::get<1>(key)))),
                          count_cell(std::get<2>(key)), accuracy_cell(accuracy)});
  }
  return table;
}

Table position_table(const std::vector<ScoredResponse>& rows) {
  struct Counts {
    std::map<int, std::int64_t> picked, answers;
    std::int64_t parsed = 0, all = 0;
    int positions = 0;
  };
  std::map<std::pair<std::string, int>, Counts> groups;
  for (const ScoredResponse& row : rows) {
    if (row.question->type == QuestionType::open) continue;
    Counts& counts = groups[{row.model, static_cast<int>(row.question->type)}];
    const int n = static_cast<int>(row.question->choices.size());
    counts.positions = std::max(counts.positions, n);
    ++counts.answers[(row.question->answer - row.shift + n) % n];
    ++counts.all;
    if (row.extraction.choice < 0) continue;
    ++counts.picked[row.extraction.choice];
    ++counts.parsed;
  }
  Table table;
  table.name = "mllm_positions";
  table.title = "Positions picked, and positions of the answer";
  table.columns = {{"model", "model"}, {"type", "type"}, {"position", "position"},
                   {"picked", "picked % (of parsed)"}, {"answers", "answers % (of all)"}};
  for (const auto& [key, counts] : groups) {
    for (int p = 0; p < counts.positions; ++p) {
      const auto count = [&](const std::map<int, std::int64_t>& m) {
        const auto it = m.find(p);
        return it == m.end() ? std::int64_t{0} : it->second;
      };
      table.rows.push_back(
          {text_cell(key.first), text_cell(question_type_name(static_cast<QuestionType>(key.second))),
           text_cell(std::string(1, static_cast<char>('A' + p))),
           counts.parsed == 0 ? unknown_cell() : accuracy_cell({count(counts.picked), counts.parsed}),
           accuracy_cell({count(counts.answers), counts.all})});
    }
  }
  return table;
}

Table pair_table(const std::vector<ScoredResponse>& rows) {
  struct Pair {
    int asked = 0, right = 0;
  };
  std::map<std::string, std::map<std::pair<std::int64_t, int>, Pair>> models;  // pair, shift
  for (const ScoredResponse& row : rows) {
    if (row.question->type == QuestionType::open) continue;
    const std::string& id = row.question->id;
    const std::string number = id.substr(0, id.find(':'));
    if (number.empty() || number.size() > 15 ||
        number.find_first_not_of("0123456789") != std::string::npos) {
      throw Error(ErrorKind::input, "pairs: expected questions numbered 1, 2, 3, ..., got \"" +
                                        printable(id) + "\"");
    }
    Pair& pair = models[row.model][{(std::stoll(number) + 1) / 2, row.shift}];
    ++pair.asked;
    pair.right += row.correct ? 1 : 0;
  }
  Table table;
  table.name = "mllm_pairs";
  table.title = "Pairs of questions";
  table.columns = {{"model", "model"},
                   {"accuracy", "both right % [95 %] (pairs)"},
                   {"alone", "without partner"}};
  for (const auto& [model, pairs] : models) {
    Accuracy accuracy;
    std::int64_t alone = 0;
    for (const auto& [key, pair] : pairs) {
      if (pair.asked == 2) accuracy.add(pair.right == 2);
      if (pair.asked == 1) ++alone;
    }
    table.rows.push_back({text_cell(model),
                          accuracy.total == 0 ? unknown_cell()
                                              : accuracy_cell(accuracy, wilson_interval(accuracy)),
                          count_cell(alone)});
  }
  return table;
}

Table unparsed_table(const std::vector<ScoredResponse>& rows) {
  std::map<std::pair<std::string, Unparsed>, std::pair<int, int>> counts;  // all, judged
  for (const ScoredResponse& row : rows) {
    if (row.extraction.reason == Unparsed::none) continue;
    auto& pair = counts[{row.model, row.extraction.reason}];
    ++pair.first;
    pair.second += row.judged ? 1 : 0;
  }
  Table table;
  table.name = "mllm_unparsed";
  table.title = "Unparsed responses";
  table.columns = {{"model", "model"}, {"reason", "reason"}, {"count", "count"},
                   {"judged", "of these judged"}};
  for (const auto& [key, pair] : counts) {
    table.rows.push_back({text_cell(key.first), text_cell(unparsed_name(key.second)),
                          count_cell(pair.first), count_cell(pair.second)});
  }
  return table;
}

}  // namespace probe
