#include "analysis/question_making.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "probe/core/error.h"

namespace probe {
namespace {

// The same shuffle on every platform: std::shuffle's use of its generator is not fixed.
template <typename T>
void seeded_shuffle(std::vector<T>& values, std::mt19937_64& random) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[static_cast<std::size_t>(random() % i)]);
  }
}

// Positions 0 to count - 1, equally often over `n` draws.
std::vector<int> balanced_positions(std::size_t n, int count, std::mt19937_64& random) {
  std::vector<int> positions(n);
  for (std::size_t i = 0; i < n; ++i) positions[i] = static_cast<int>(i % count);
  seeded_shuffle(positions, random);
  return positions;
}

// Names that a reader of answers can tell from `answer` and from each other.
std::vector<std::string> distinct_names(const std::string& answer,
                                        const std::vector<std::string>& candidates,
                                        const SynonymGroups& synonyms, int wanted) {
  std::vector<std::string> names = {answer};
  for (const std::string& candidate : candidates) {
    if (static_cast<int>(names.size()) > wanted) break;
    const PreparedChoices taken = prepare_choices(names, synonyms, false);
    if (!choice_that_is(normalize_response(candidate), taken)) names.push_back(candidate);
  }
  names.erase(names.begin());
  return names;
}

Question placed(const std::string& item, QuestionType type, std::vector<std::string> wrong,
                const std::string& answer, int position) {
  Question question;
  question.id = item + "/" + question_type_name(type);
  question.item_id = item;
  question.type = type;
  question.answer = position;
  question.answer_text = answer;
  wrong.insert(wrong.begin() + position, answer);
  question.choices = std::move(wrong);
  return question;
}

}  // namespace

Distractors random_distractors(const std::vector<std::string>& categories, std::uint64_t seed) {
  const std::set<std::string> names(categories.begin(), categories.end());
  std::mt19937_64 random(seed);
  Distractors distractors;
  for (const std::string& name : names) {
    std::vector<std::string> others(names.begin(), names.end());
    std::erase(others, name);
    std::erase(others, "");
    seeded_shuffle(others, random);
    distractors[name] = std::move(others);
  }
  return distractors;
}

Distractors nearest_distractors(const RowMatrix& rows, const std::vector<std::string>& categories) {
  if (static_cast<std::size_t>(rows.rows()) != categories.size()) {
    throw Error(ErrorKind::input, "embeddings: expected " + std::to_string(categories.size()) +
                                      " rows, got " + std::to_string(rows.rows()));
  }
  std::map<std::string, Eigen::RowVectorXf> sums;
  const RowMatrix units = unit_rows(rows);
  for (std::size_t i = 0; i < categories.size(); ++i) {
    if (categories[i].empty()) continue;
    auto [it, fresh] = sums.try_emplace(categories[i], units.row(static_cast<Eigen::Index>(i)));
    if (!fresh) it->second += units.row(static_cast<Eigen::Index>(i));
  }
  for (auto& [name, sum] : sums) sum.normalize();
  Distractors distractors;
  for (const auto& [name, mean] : sums) {
    std::vector<std::pair<float, std::string>> others;
    for (const auto& [other, vector] : sums) {
      if (other != name) others.emplace_back(-mean.dot(vector), other);
    }
    std::sort(others.begin(), others.end());
    auto& names = distractors[name];
    for (auto& [distance, other] : others) names.push_back(std::move(other));
  }
  return distractors;
}

Distractors joined(Distractors first, const Distractors& then) {
  for (const auto& [name, others] : then) {
    auto& names = first[name];
    for (const std::string& other : others) {
      if (std::find(names.begin(), names.end(), other) == names.end()) names.push_back(other);
    }
  }
  return first;
}

MadeQuestions make_questions(const std::vector<Item>& items, const Distractors& distractors,
                             const SynonymGroups& synonyms, const std::string& none_text,
                             const QuestionPlan& plan) {
  MadeQuestions made;
  struct Ready {
    const Item* item;
    std::vector<std::string> wrong;
  };
  std::vector<Ready> ready;
  for (const Item& item : items) {
    if (item.category.empty()) {
      made.failures.push_back({item.id, item.image.string(), "no category"});
      continue;
    }
    std::vector<std::string> wrong;
    if (plan.choice || plan.unsolvable) {
      const auto it = distractors.find(item.category);
      if (it != distractors.end()) {
        wrong = distinct_names(item.category, it->second, synonyms, plan.distractors);
      }
      if (static_cast<int>(wrong.size()) < plan.distractors) {
        made.failures.push_back({item.id, item.image.string(),
                                 "expected " + std::to_string(plan.distractors) +
                                     " distractors for \"" + item.category + "\", got " +
                                     std::to_string(wrong.size())});
        continue;
      }
    }
    ready.push_back({&item, std::move(wrong)});
  }
  std::mt19937_64 random(plan.seed);
  const int count = plan.distractors + 1;
  const std::vector<int> choice = balanced_positions(ready.size(), count, random);
  const std::vector<int> unsolvable = balanced_positions(ready.size(), count, random);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const Item& item = *ready[i].item;
    if (plan.open) {
      Question question;
      question.id = item.id + "/open";
      question.item_id = item.id;
      question.type = QuestionType::open;
      question.answer_text = item.category;
      made.questions.push_back(std::move(question));
    }
    if (plan.choice) {
      made.questions.push_back(
          placed(item.id, QuestionType::choice, ready[i].wrong, item.category, choice[i]));
    }
    if (plan.unsolvable) {
      made.questions.push_back(
          placed(item.id, QuestionType::unsolvable, ready[i].wrong, none_text, unsolvable[i]));
    }
  }
  return made;
}

}  // namespace probe
