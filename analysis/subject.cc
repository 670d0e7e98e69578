#include "analysis/subject.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/statistics.h"

namespace probe {
namespace {

std::unordered_map<std::string, std::size_t> rows_of(const ItemColumns& items) {
  std::unordered_map<std::string, std::size_t> rows;
  for (std::size_t i = 0; i < items.size(); ++i) rows.emplace(items.id[i], i);
  return rows;
}

std::string picked_text(const ScoredResponse& row) {
  const auto& choices = row.question->choices;
  if (row.extraction.choice < 0 || choices.empty()) return "";
  return choices[(row.extraction.choice + row.shift) % std::ssize(choices)];
}

}  // namespace

double QuestionResult::share() const {
  const auto right = std::count_if(answers.begin(), answers.end(),
                                   [](const GivenAnswer& answer) { return answer.correct; });
  return static_cast<double>(right) / static_cast<double>(answers.size());
}

Side side_of(const std::string& condition) {
  if (condition == kOriginal) return Side::original;
  return condition == kSyntheticOriginal ? Side::synthetic_original : Side::modified;
}

std::map<std::string, std::string> nearest_names(const ItemColumns& items,
                                                 const RowMatrix& images,
                                                 const TextClassifier& names) {
  std::map<std::string, std::string> nearest;
  if (names.names.empty()) return nearest;
  const RowMatrix cosines = unit_rows(images) * names.vectors.transpose();
  for (Eigen::Index i = 0; i < cosines.rows(); ++i) {
    Eigen::Index best = 0;
    cosines.row(i).maxCoeff(&best);
    nearest.emplace(items.id[static_cast<std::size_t>(i)],
                    names.names[static_cast<std::size_t>(best)]);
  }
  return nearest;
}

Subject encoder_subject(const std::string& name, const std::vector<ChoiceOutcome>& outcomes,
                        const std::map<std::string, std::string>& nearest,
                        const std::vector<Question>& questions, const ItemColumns& items) {
  Subject subject;
  subject.name = name;
  subject.is_encoder = true;
  std::unordered_map<std::string, const ChoiceOutcome*> outcome_of;
  for (const ChoiceOutcome& outcome : outcomes) outcome_of.emplace(outcome.question_id, &outcome);
  const auto row_of = rows_of(items);
  for (const Question& question : questions) {
    const auto row = row_of.find(question.item_id);
    if (row == row_of.end()) continue;
    QuestionResult result{&question, row->second, {}};
    const auto outcome = outcome_of.find(question.id);
    const auto label = nearest.find(question.item_id);
    if (outcome != outcome_of.end()) {
      result.answers.push_back(
          {0, outcome->second->correct(), question.choices[outcome->second->picked]});
    } else if (question.type == QuestionType::open && label != nearest.end()) {
      result.answers.push_back({0, label->second == question.answer_text, label->second});
    }
    if (!result.answers.empty()) subject.results.push_back(std::move(result));
  }
  return subject;
}

std::vector<Subject> mllm_subjects(const std::vector<ScoredResponse>& rows,
                                   const ItemColumns& items,
                                   const std::vector<ModelFacts>& models,
                                   const std::set<std::string>& made_up) {
  const auto row_of = rows_of(items);
  std::map<std::string, std::map<const Question*, QuestionResult>> results;  // by model
  std::map<std::string, std::vector<const Question*>> order;
  for (const ScoredResponse& row : rows) {
    auto& of_model = results[row.model];
    const auto item = row_of.find(row.question->item_id);
    if (item == row_of.end()) continue;
    const auto [it, is_new] =
        of_model.emplace(row.question, QuestionResult{row.question, item->second, {}});
    if (is_new) order[row.model].push_back(row.question);
    it->second.answers.push_back({row.shift, row.correct, picked_text(row)});
  }
  std::vector<Subject> subjects;
  const auto take = [&](const std::string& name, const ModelFacts& facts) {
    const auto it = results.find(name);
    if (it == results.end()) return;
    Subject subject{name, false, made_up.contains(name), facts, {}};
    for (const Question* question : order[name]) {
      subject.results.push_back(std::move(it->second.at(question)));
      auto& answers = subject.results.back().answers;
      std::sort(answers.begin(), answers.end(),
                [](const GivenAnswer& a, const GivenAnswer& b) { return a.shift < b.shift; });
    }
    subjects.push_back(std::move(subject));
    results.erase(it);
  };
  for (const ModelFacts& facts : models) take(facts.model, facts);
  while (!results.empty()) {
    const std::string name = results.begin()->first;
    ModelFacts nothing_known;
    nothing_known.model = name;
    take(name, nothing_known);
  }
  return subjects;
}

std::optional<TypeScore> score_type(const Subject& subject, QuestionType type,
                                    const Weight& weight) {
  std::map<int, std::pair<double, double>> shifts;  // right and all, weighted
  TypeScore score;
  for (const QuestionResult& result : subject.results) {
    if (result.question->type != type) continue;
    const double w = weight(result);
    if (w == 0.0) continue;
    ++score.questions;
    for (const GivenAnswer& answer : result.answers) {
      shifts[answer.shift].first += answer.correct ? w : 0.0;
      shifts[answer.shift].second += w;
    }
  }
  if (score.questions == 0) return std::nullopt;
  std::vector<double> percents;
  for (const auto& [shift, sums] : shifts) percents.push_back(100.0 * sums.first / sums.second);
  score.mean = mean_of(percents);
  if (percents.size() > 1) score.sd = standard_deviation(percents);
  const Interval interval = wilson_interval(score.mean / 100.0, score.questions);
  score.interval = {100.0 * interval.low, 100.0 * interval.high};
  return score;
}

std::optional<TypeScore> score_side(const Subject& subject, const ItemColumns& items,
                                    QuestionType type, Side side) {
  return score_type(subject, type, [&](const QuestionResult& result) {
    return side_of(items.condition[result.item]) == side ? 1.0 : 0.0;
  });
}

std::optional<double> average_of(const std::optional<TypeScore>& open,
                                 const std::optional<TypeScore>& choice,
                                 const std::optional<TypeScore>& unsolvable) {
  if (!open || !choice || !unsolvable) return std::nullopt;
  return (open->mean + choice->mean + unsolvable->mean) / 3.0;
}

std::optional<double> side_average(const Subject& subject, const ItemColumns& items, Side side) {
  return average_of(score_side(subject, items, QuestionType::open, side),
                    score_side(subject, items, QuestionType::choice, side),
                    score_side(subject, items, QuestionType::unsolvable, side));
}

std::string made_up_words(const std::vector<Subject>& subjects) {
  std::string names;
  for (const Subject& subject : subjects) {
    if (subject.made_up) names += (names.empty() ? "" : ", ") + subject.name;
  }
  return names.empty() ? "" : "Made up for show, not measured: " + names + ". ";
}

}  // namespace probe
