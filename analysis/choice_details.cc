#include "analysis/choice_details.h"

#include <algorithm>
#include <map>
#include <string>

namespace probe {
namespace {

// Questions and rows by their ids.
struct Lookup {
  std::map<std::string, const Question*> questions;
  std::map<std::string, std::size_t> rows;

  explicit Lookup(const ChoiceDetails& details) {
    for (const Question& question : details.questions) {
      questions.emplace(question.id, &question);
    }
    for (std::size_t i = 0; i < details.items.size(); ++i) rows.emplace(details.items.id[i], i);
  }
};

Cell probability_cell(const ChoiceDetails& details, const ChoiceOutcome& outcome, int choice) {
  if (!details.model) return unknown_cell();
  return number_cell(choice_probabilities(outcome, *details.model)[choice], 3);
}

double lead(const ChoiceOutcome& outcome) {
  return double{outcome.cosines[outcome.picked]} - double{outcome.cosines[outcome.answer]};
}

}  // namespace

Table choice_error_table(const ChoiceDetails& details, int rows) {
  const Lookup lookup(details);
  std::vector<const ChoiceOutcome*> wrong;
  for (const ChoiceOutcome& outcome : details.outcomes) {
    if (!outcome.correct()) wrong.push_back(&outcome);
  }
  std::stable_sort(wrong.begin(), wrong.end(),
                   [](const auto* a, const auto* b) { return lead(*a) > lead(*b); });
  Table table;
  table.name = "choice_errors";
  table.title = "Mistakes, the surest first";
  table.columns = {{"item", "item", true},
                   {"condition", "condition"},
                   {"answer", "right name"},
                   {"picked", "picked"},
                   {"probability", "its probability"},
                   {"lead", "cosine ahead of the right one by"},
                   {"question", "question"}};
  if (std::ssize(wrong) > rows) {
    table.note = std::to_string(rows) + " of " + std::to_string(wrong.size()) + " mistakes";
    wrong.resize(static_cast<std::size_t>(rows));
  }
  for (const ChoiceOutcome* outcome : wrong) {
    const Question& question = *lookup.questions.at(outcome->question_id);
    table.rows.push_back({text_cell(outcome->item_id),
                          text_cell(details.items.condition[lookup.rows.at(outcome->item_id)]),
                          text_cell(question.answer_text),
                          text_cell(question.choices[outcome->picked]),
                          probability_cell(details, *outcome, outcome->picked),
                          number_cell(lead(*outcome), 4), text_cell(outcome->question_id)});
  }
  return table;
}

Table choice_prediction_table(const ChoiceDetails& details) {
  const Lookup lookup(details);
  Table table;
  table.name = "choice_predictions";
  table.title = "Every choice question";
  table.columns = {{"question", "question"},
                   {"item", "item", true},
                   {"condition", "condition"},
                   {"picked", "picked"},
                   {"answer", "right name"},
                   {"right", "right"},
                   {"tied", "tied"},
                   {"probability", "probability of the picked"},
                   {"answer_probability", "probability of the right one"},
                   {"cosine", "cosine of the picked"},
                   {"answer_cosine", "cosine of the right one"}};
  for (const ChoiceOutcome& outcome : details.outcomes) {
    const Question& question = *lookup.questions.at(outcome.question_id);
    table.rows.push_back({text_cell(outcome.question_id), text_cell(outcome.item_id),
                          text_cell(details.items.condition[lookup.rows.at(outcome.item_id)]),
                          text_cell(question.choices[outcome.picked]),
                          text_cell(question.answer_text),
                          text_cell(outcome.correct() ? "yes" : "no"),
                          text_cell(outcome.tied ? "yes" : "no"),
                          probability_cell(details, outcome, outcome.picked),
                          probability_cell(details, outcome, outcome.answer),
                          number_cell(outcome.cosines[outcome.picked], 4),
                          number_cell(outcome.cosines[outcome.answer], 4)});
  }
  return table;
}

}  // namespace probe
