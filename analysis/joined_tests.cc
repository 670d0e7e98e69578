#include "analysis/joined_tests.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/statistics.h"

namespace probe {
namespace {

struct Discordant {
  std::int64_t first = 0, second = 0;  // right on one side only
};

// Fills the Holm column, the last one, from the column before it.
void add_holm(Table& table) {
  std::vector<double> p_values;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Cell& cell = table.rows[i].back();
    if (cell.kind == Cell::Kind::unknown) continue;
    p_values.push_back(cell.real);
    rows.push_back(i);
  }
  const std::vector<double> adjusted = holm_adjust(p_values);
  for (auto& row : table.rows) row.push_back(unknown_cell());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table.rows[rows[i]].back() = number_cell(adjusted[i], 4);
  }
  table.columns.push_back({"holm_p", "Holm p"});
}

Cell points_cell(double difference, const Interval& interval) {
  return number_cell(100 * difference, 1, {100 * interval.low, 100 * interval.high});
}

bool has_encoder(const std::vector<Subject>& subjects, const std::string& name) {
  return std::any_of(subjects.begin(), subjects.end(), [&](const Subject& subject) {
    return subject.is_encoder && subject.name == name;
  });
}

void add_gap(const Subject& encoder, const Subject& model, const ItemColumns& items, Side side,
             std::uint64_t seed, Table& table) {
  std::unordered_map<const Question*, const QuestionResult*> of_encoder;
  for (const QuestionResult& result : encoder.results) of_encoder.emplace(result.question, &result);
  std::vector<double> a, b;
  Discordant only;
  for (const QuestionResult& result : model.results) {
    const auto it = of_encoder.find(result.question);
    if (result.question->type != QuestionType::choice || it == of_encoder.end() ||
        side_of(items.condition[result.item]) != side) {
      continue;
    }
    const bool right = it->second->answers.front().correct;
    a.push_back(right ? 1.0 : 0.0);
    b.push_back(result.share());
    only.first += right && !result.answers.front().correct ? 1 : 0;
    only.second += !right && result.answers.front().correct ? 1 : 0;
  }
  if (a.empty()) return;
  table.rows.push_back(
      {text_cell(model.name), text_cell(encoder.name),
       model.facts.encoder.empty() ? unknown_cell() : text_cell("yes"),
       text_cell(side == Side::original ? "original" : "modified"), count_cell(std::ssize(a)),
       number_cell(100 * mean_of(a), 1), number_cell(100 * mean_of(b), 1),
       points_cell(mean_of(a) - mean_of(b), paired_bootstrap(a, b, seed)),
       count_cell(only.first), count_cell(only.second),
       number_cell(mcnemar_exact(only.first, only.second), 4)});
}

// One item's score on the questions of a type: mean of the shares, mean at the lowest shift.
struct ItemScore {
  double share = 0.0, first = 0.0;
  int questions = 0;
};

std::map<std::size_t, ItemScore> by_item(const Subject& subject, QuestionType type) {
  std::map<std::size_t, ItemScore> scores;
  for (const QuestionResult& result : subject.results) {
    if (result.question->type != type) continue;
    ItemScore& score = scores[result.item];
    score.share += result.share();
    score.first += result.answers.front().correct ? 1.0 : 0.0;
    ++score.questions;
  }
  for (auto& [item, score] : scores) {
    score.share /= score.questions;
    score.first /= score.questions;
  }
  return scores;
}

// mean(modified) - mean(original), each side drawn with replacement within itself. The strata
// weigh 1 in all each, so that their weighted mean is half the difference.
Interval unpaired_bootstrap(const std::vector<double>& modified, std::vector<double> original,
                            std::uint64_t seed) {
  for (double& value : original) value = -value;
  const Interval half =
      bootstrap_strata({{1.0 / static_cast<double>(modified.size()), modified},
                        {1.0 / static_cast<double>(original.size()), original}},
                       seed);
  return {2 * half.low, 2 * half.high};
}

void add_drop(const Subject& subject, QuestionType type, const ItemColumns& items,
              const std::unordered_map<std::string, std::size_t>& row_of, std::uint64_t seed,
              Table& table) {
  const auto scores = by_item(subject, type);
  std::vector<double> original, modified, source, twin;  // the latter two pair by pair
  Discordant only;
  for (const auto& [item, score] : scores) {
    const Side side = side_of(items.condition[item]);
    if (side == Side::original) original.push_back(score.share);
    if (side != Side::modified) continue;
    modified.push_back(score.share);
    const auto row = row_of.find(items.original_id[item]);
    const auto it = row == row_of.end() ? scores.end() : scores.find(row->second);
    if (items.original_id[item].empty() || it == scores.end()) continue;
    source.push_back(it->second.share);
    twin.push_back(score.share);
    only.first += it->second.first > score.first ? 1 : 0;
    only.second += it->second.first < score.first ? 1 : 0;
  }
  if (original.empty() || modified.empty()) return;
  const bool paired = !source.empty();
  const auto& a = paired ? source : original;
  const auto& b = paired ? twin : modified;
  const Interval interval =
      paired ? paired_bootstrap(b, a, seed) : unpaired_bootstrap(b, a, seed);
  table.rows.push_back(
      {text_cell(subject.name), text_cell(subject.is_encoder ? "encoder" : "MLLM"),
       text_cell(question_type_name(type)), text_cell(paired ? "paired" : "unpaired"),
       count_cell(std::ssize(a)), count_cell(std::ssize(b)), number_cell(100 * mean_of(a), 1),
       number_cell(100 * mean_of(b), 1), points_cell(mean_of(b) - mean_of(a), interval),
       paired ? number_cell(mcnemar_exact(only.first, only.second), 4) : unknown_cell()});
}

}  // namespace

Table gap_table(const std::vector<Subject>& subjects, const ItemColumns& items,
                std::uint64_t seed) {
  Table table;
  table.name = "encoder_gap";
  table.title = "Encoder against MLLM, choice questions, question by question";
  table.columns = {{"model", "MLLM"},
                   {"encoder", "encoder"},
                   {"built_on_it", "built on it"},
                   {"condition", "condition"},
                   {"questions", "questions"},
                   {"encoder_percent", "encoder %"},
                   {"model_percent", "MLLM %"},
                   {"gap_points", "encoder - MLLM, points [95 %]"},
                   {"only_encoder", "only encoder right"},
                   {"only_model", "only MLLM right"},
                   {"mcnemar_p", "McNemar p"}};
  for (const Subject& model : subjects) {
    if (model.is_encoder) continue;
    for (const Subject& encoder : subjects) {
      const bool wanted = model.facts.encoder.empty() || model.facts.encoder == encoder.name;
      if (!encoder.is_encoder || !wanted) continue;
      add_gap(encoder, model, items, Side::original, seed, table);
      add_gap(encoder, model, items, Side::modified, seed, table);
    }
  }
  add_holm(table);
  table.note = made_up_words(subjects) +
               "MLLM: mean over the shifts; paired bootstrap over questions. McNemar's exact test "
               "takes the lowest shift of each question, as do the counts beside it. Holm over all "
               "rows.";
  return table;
}

Table drop_by_subject_table(const std::vector<Subject>& subjects, const ItemColumns& items,
                            std::uint64_t seed) {
  Table table;
  table.name = "drop";
  table.title = "From original to modified";
  table.columns = {{"subject", "who"},
                   {"kind", "kind"},
                   {"type", "type"},
                   {"method", "method"},
                   {"originals", "originals"},
                   {"modified", "modified"},
                   {"original_percent", "original %"},
                   {"modified_percent", "modified %"},
                   {"difference_points", "modified - original, points [95 %]"},
                   {"mcnemar_p", "McNemar p"}};
  std::unordered_map<std::string, std::size_t> row_of;
  for (std::size_t i = 0; i < items.size(); ++i) row_of.emplace(items.id[i], i);
  for (const Subject& subject : subjects) {
    for (const QuestionType type :
         {QuestionType::open, QuestionType::choice, QuestionType::unsolvable}) {
      add_drop(subject, type, items, row_of, seed, table);
    }
  }
  add_holm(table);
  table.note = made_up_words(subjects) +
               "paired: modified items and the source they name, bootstrap over pairs, McNemar's "
               "exact test at the lowest shift. unpaired: no modified item names a source that was "
               "asked, the two sides are drawn apart, and there is no test. Holm over all rows "
               "with a test.";
  return table;
}

std::vector<std::string> models_without_encoder(const std::vector<Subject>& subjects) {
  std::vector<std::string> names;
  for (const Subject& subject : subjects) {
    if (subject.is_encoder || subject.facts.encoder.empty()) continue;
    if (!has_encoder(subjects, subject.facts.encoder)) names.push_back(subject.name);
  }
  return names;
}

}  // namespace probe
