#include "analysis/mllm_results.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>
#include <unordered_map>

#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

using Key = std::tuple<std::string, std::string, int>;  // model, question, shift

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::input, where + ": " + message);
}

int choice_count(const Question& question) { return static_cast<int>(question.choices.size()); }

// The names that open questions ask for, as one set of choices.
PreparedChoices open_names(const std::vector<Question>& questions, const SynonymGroups& synonyms) {
  std::set<std::string> names;
  for (const Question& question : questions) {
    if (question.type == QuestionType::open) names.insert(question.answer_text);
  }
  if (names.empty()) return {};
  return prepare_choices({names.begin(), names.end()}, synonyms, false);
}

struct Reader {
  const ScoringInput& input;
  PreparedChoices names;
  std::vector<std::string> name_list;  // in the order of `names`

  explicit Reader(const ScoringInput& in) : input(in), names(open_names(in.questions, in.synonyms)) {
    std::set<std::string> sorted;
    for (const Question& q : in.questions) {
      if (q.type == QuestionType::open) sorted.insert(q.answer_text);
    }
    name_list.assign(sorted.begin(), sorted.end());
  }

  void read(const Response* response, ScoredResponse& row) const {
    const Question& question = *row.question;
    if (response == nullptr || response->missing) {
      row.extraction = {-1, Unparsed::missing, "missing"};
    } else if (response->failed) {
      row.extraction = {-1, Unparsed::error, "not text"};
    } else if (question.type == QuestionType::open) {
      row.text = response->text;
      row.extraction = extract_answer(response->text, names);
      row.correct = row.extraction.choice >= 0 &&
                    name_list[row.extraction.choice] == question.answer_text;
    } else {
      row.text = response->text;
      row.extraction = extract_answer(
          response->text, prepare_choices(shown_choices(question, row.shift), input.synonyms));
      row.correct = row.extraction.choice >= 0 &&
                    (row.extraction.choice + row.shift) % choice_count(question) == question.answer;
    }
  }
};

void check_response(const Response& response, const Question& question) {
  if (response.type && *response.type != question.type) {
    fail(response.where, "question \"" + printable(question.id) + "\" is of type " +
                             question_type_name(question.type) + ", got " +
                             question_type_name(*response.type));
  }
  const int shifts = question.type == QuestionType::open ? 1 : choice_count(question);
  if (response.shift >= shifts) {
    fail(response.where, "question \"" + printable(question.id) + "\" has shifts 0 to " +
                             std::to_string(shifts - 1) + ", got " +
                             std::to_string(response.shift));
  }
}

void apply_verdict(const JudgeVerdict& verdict, ScoredResponse& row) {
  const Question& question = *row.question;
  const std::string& word = verdict.verdict;
  row.judged = true;
  if (word == "none") return;
  if (question.type == QuestionType::open) {
    if (word != "right" && word != "wrong") {
      fail(verdict.where, "verdict: expected right, wrong or none, got \"" + printable(word) + "\"");
    }
    row.correct = word == "right";
    row.extraction.rule = "verdict";
    return;
  }
  const int letter = word.size() == 1 ? std::toupper(static_cast<unsigned char>(word[0])) - 'A' : -1;
  if (letter < 0 || letter >= choice_count(question)) {
    fail(verdict.where, std::string("verdict: expected a letter from A to ") +
                            static_cast<char>('A' + choice_count(question) - 1) +
                            " or none, got \"" + printable(word) + "\"");
  }
  row.extraction = {letter, Unparsed::none, "verdict"};
  row.correct = (letter + row.shift) % choice_count(question) == question.answer;
}

}  // namespace

std::set<std::string> made_up_models(const std::vector<Response>& responses) {
  std::set<std::string> models;
  for (const Response& response : responses) {
    if (response.made_up) models.insert(response.model);
  }
  return models;
}

std::vector<std::string> shown_choices(const Question& question, int shift) {
  std::vector<std::string> shown;
  for (std::size_t p = 0; p < question.choices.size(); ++p) {
    shown.push_back(question.choices[(p + shift) % question.choices.size()]);
  }
  return shown;
}

Scoring score_responses(const std::vector<Response>& responses,
                        const std::vector<JudgeVerdict>& verdicts, const ScoringInput& input) {
  Scoring scoring;
  std::unordered_map<std::string, const Question*> questions;
  for (const Question& question : input.questions) questions.emplace(question.id, &question);
  std::map<Key, const Response*> given;
  std::map<std::string, std::set<std::pair<QuestionType, int>>> expected;  // by model
  for (const Response& response : responses) {
    auto it = questions.find(response.question_id);
    if (it == questions.end()) it = questions.find(response.question_id + kChoiceSuffix);
    if (it == questions.end()) {
      scoring.failures.push_back({response.question_id, "",
                                  response.where + ": the questions have no such question_id"});
      continue;
    }
    check_response(response, *it->second);
    given.emplace(Key{response.model, it->second->id, response.shift}, &response);
    expected[response.model].emplace(it->second->type, response.shift);
  }
  const Reader reader(input);
  std::map<Key, std::size_t> row_of;
  for (const auto& [model, asked] : expected) {
    for (const Question& question : input.questions) {
      for (const auto& [type, shift] : asked) {
        const bool has_shift = type == QuestionType::open || shift < choice_count(question);
        if (type != question.type || !has_shift) continue;
        ScoredResponse row;
        row.model = model;
        row.question = &question;
        row.shift = shift;
        if (const auto it = input.condition.find(question.item_id); it != input.condition.end()) {
          row.condition = it->second;
        }
        const Key key{model, question.id, shift};
        const auto it = given.find(key);
        reader.read(it == given.end() ? nullptr : it->second, row);
        row_of.emplace(key, scoring.rows.size());
        scoring.rows.push_back(std::move(row));
      }
    }
  }
  for (const JudgeVerdict& verdict : verdicts) {
    const auto it = row_of.find({verdict.model, verdict.question_id, verdict.shift});
    if (it == row_of.end()) {
      fail(verdict.where, "no response of model \"" + printable(verdict.model) +
                              "\" to question \"" + printable(verdict.question_id) +
                              "\" at shift " + std::to_string(verdict.shift));
    }
    ScoredResponse& row = scoring.rows[it->second];
    if (row.extraction.reason == Unparsed::none) {
      ++scoring.idle_verdicts;
    } else {
      apply_verdict(verdict, row);
    }
  }
  return scoring;
}

}  // namespace probe
