#include "probe/data/questions.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/json_lines.h"

namespace probe {

void check_choices(const std::vector<std::string>& choices, int answer,
                   const std::string& where) {
  const auto fail = [&](const std::string& message) {
    throw Error(ErrorKind::input, where + ": " + message);
  };
  if (choices.size() < 2) {
    fail("expected two or more choices, got " + std::to_string(choices.size()));
  }
  std::set<std::string> seen;
  for (const std::string& choice : choices) {
    if (choice.empty()) fail("a choice is empty");
    if (!seen.insert(choice).second) {
      fail("choice \"" + printable(choice) + "\" stands twice");
    }
  }
  if (answer < 0 || answer >= static_cast<int>(choices.size())) {
    fail("expected an answer from 0 to " + std::to_string(choices.size() - 1) + ", got " +
         std::to_string(answer));
  }
}

std::vector<Question> read_questions(const std::filesystem::path& path) {
  std::vector<Question> questions;
  std::unordered_set<std::string> ids;
  for_each_json_line(path, [&](const JsonObject& object) {
    object.allow_only({"question_id", "item_id", "type", "choices", "answer"});
    Question question;
    question.id = object.text("question_id");
    question.item_id = object.text("item_id");
    if (!ids.insert(question.id).second) {
      object.fail("question_id \"" + printable(question.id) + "\" stands twice");
    }
    const std::string type = object.text("type");
    const auto parsed = parse_question_type(type);
    if (!parsed) {
      object.fail("\"type\": expected open, choice or unsolvable, got \"" + printable(type) + "\"");
    }
    question.type = *parsed;
    if (question.type == QuestionType::open) {
      question.answer_text = object.text("answer");
    } else {
      question.choices = object.texts("choices");
      question.answer = object.integer("answer");
      check_choices(question.choices, question.answer,
                    object.where() + ": question \"" + printable(question.id) + "\"");
      question.answer_text = question.choices[question.answer];
      if (question.type == QuestionType::choice &&
          std::count(question.choices.begin(), question.choices.end(), kNoneOfThese) > 0) {
        object.fail(std::string("\"") + kNoneOfThese +
                    "\" belongs to questions of type unsolvable, got it in a choice question");
      }
      if (question.type == QuestionType::unsolvable && question.answer_text != kNoneOfThese) {
        object.fail(std::string("expected the answer of an unsolvable question to be \"") +
                    kNoneOfThese + "\", got \"" + printable(question.answer_text) + "\"");
      }
    }
    questions.push_back(std::move(question));
  });
  return questions;
}

void check_questions(const Dataset& dataset, const std::filesystem::path& path) {
  std::unordered_set<std::string> items;
  for (const Item& item : dataset.items) items.insert(item.id);
  for (const Question& question : dataset.questions) {
    if (!items.contains(question.item_id)) {
      throw Error(ErrorKind::input, path.string() + ": question \"" + printable(question.id) +
                                        "\" asks about item \"" + printable(question.item_id) +
                                        "\", which the dataset does not have");
    }
  }
}

}  // namespace probe
