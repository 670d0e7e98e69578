#include "analysis/choice_tables.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/statistics.h"
#include "probe/core/item.h"

namespace probe {
namespace {

// Outcomes of all items for which `use(row)` holds.
struct Tally {
  Accuracy accuracy;
  std::int64_t ties = 0;
  double chance = 0.0;  // sum of 1/c
};

template <typename Use>
Tally tally(const ItemOutcomes& outcomes, const Use& use) {
  Tally sum;
  for (std::size_t row = 0; row < outcomes.by_row.size(); ++row) {
    if (!use(row)) continue;
    for (const ChoiceOutcome* outcome : outcomes.by_row[row]) {
      sum.accuracy.add(outcome->correct());
      sum.ties += outcome->tied ? 1 : 0;
      sum.chance += 1.0 / static_cast<double>(outcome->cosines.size());
    }
  }
  return sum;
}

std::vector<Cell> condition_row(const std::string& name, const Tally& sum) {
  const auto total = static_cast<double>(std::max<std::int64_t>(1, sum.accuracy.total));
  return {text_cell(name), accuracy_cell(sum.accuracy, wilson_interval(sum.accuracy)),
          number_cell(100.0 * sum.chance / total, 1), count_cell(sum.ties)};
}

double mean_correct(const std::vector<const ChoiceOutcome*>& outcomes) {
  double right = 0.0;
  for (const ChoiceOutcome* outcome : outcomes) right += outcome->correct() ? 1.0 : 0.0;
  return right / static_cast<double>(outcomes.size());
}

}  // namespace

ItemOutcomes group_outcomes(const std::vector<ChoiceOutcome>& outcomes,
                            const ItemColumns& items) {
  std::map<std::string, std::size_t> row_of;
  for (std::size_t row = 0; row < items.size(); ++row) row_of.emplace(items.id[row], row);
  ItemOutcomes grouped{items, {}};
  grouped.by_row.resize(items.size());
  for (const ChoiceOutcome& outcome : outcomes) {
    grouped.by_row[row_of.at(outcome.item_id)].push_back(&outcome);
  }
  return grouped;
}

std::vector<std::string> conditions_of(const ItemColumns& items) {
  std::set<std::string> others(items.condition.begin(), items.condition.end());
  std::vector<std::string> conditions;
  if (others.erase(kOriginal) > 0) conditions.push_back(kOriginal);
  conditions.insert(conditions.end(), others.begin(), others.end());
  return conditions;
}

Table condition_table(const ItemOutcomes& outcomes) {
  Table table;
  table.name = "choice_by_condition";
  table.title = "Zero-shot multiple choice";
  table.columns = {{"condition", "condition"},
                   {"accuracy", "accuracy % [95 %] (right/all)"},
                   {"chance_percent", "chance %"},
                   {"ties", "ties"}};
  const std::vector<std::string> conditions = conditions_of(outcomes.items);
  for (const std::string& condition : conditions) {
    table.rows.push_back(condition_row(condition, tally(outcomes, [&](std::size_t row) {
      return outcomes.items.condition[row] == condition;
    })));
  }
  if (conditions.size() > 2) {
    table.rows.push_back(condition_row("modified", tally(outcomes, [&](std::size_t row) {
      return outcomes.items.condition[row] != kOriginal;
    })));
  }
  if (conditions.size() > 1) {
    table.rows.push_back(condition_row("all", tally(outcomes, [](std::size_t) { return true; })));
  }
  return table;
}

std::vector<PairedDrop> paired_drops(const ItemOutcomes& outcomes) {
  const ItemColumns& items = outcomes.items;
  std::map<std::string, std::size_t> row_of;
  for (std::size_t row = 0; row < items.size(); ++row) row_of.emplace(items.id[row], row);
  std::vector<PairedDrop> drops;
  for (const std::string& condition : conditions_of(items)) {
    PairedDrop drop{condition, {}, {}};
    for (std::size_t row = 0; row < items.size(); ++row) {
      if (items.condition[row] != condition || items.original_id[row].empty()) continue;
      const auto source = row_of.find(items.original_id[row]);
      if (source == row_of.end() || outcomes.by_row[row].empty() ||
          outcomes.by_row[source->second].empty()) {
        continue;
      }
      drop.original.push_back(mean_correct(outcomes.by_row[source->second]));
      drop.modified.push_back(mean_correct(outcomes.by_row[row]));
    }
    if (!drop.original.empty()) drops.push_back(std::move(drop));
  }
  return drops;
}

Table drop_table(const std::vector<PairedDrop>& drops, std::uint64_t seed) {
  Table table;
  table.name = "choice_drop";
  table.title = "Original to modified, pair by pair";
  table.columns = {{"condition", "condition"},
                   {"pairs", "pairs"},
                   {"original_percent", "original %"},
                   {"modified_percent", "modified %"},
                   {"difference_points", "difference, points [95 %]"},
                   {"mcnemar_p", "McNemar p"}};
  for (const PairedDrop& drop : drops) {
    const double original = mean_of(drop.original), modified = mean_of(drop.modified);
    const Interval interval = paired_bootstrap(drop.modified, drop.original, seed);
    std::int64_t lost = 0, gained = 0;
    for (std::size_t i = 0; i < drop.original.size(); ++i) {
      lost += drop.original[i] > drop.modified[i] ? 1 : 0;
      gained += drop.original[i] < drop.modified[i] ? 1 : 0;
    }
    table.rows.push_back({text_cell(drop.condition),
                          count_cell(std::ssize(drop.original)),
                          number_cell(100 * original, 1), number_cell(100 * modified, 1),
                          number_cell(100 * (modified - original), 1,
                                      {100 * interval.low, 100 * interval.high}),
                          number_cell(mcnemar_exact(lost, gained), 4)});
  }
  return table;
}

Table category_table(const ItemOutcomes& outcomes) {
  const ItemColumns& items = outcomes.items;
  Table table;
  table.name = "choice_by_category";
  table.title = "By category";
  table.columns = {{"category", "category"}};
  const std::vector<std::string> conditions = conditions_of(items);
  for (const std::string& condition : conditions) {
    table.columns.push_back({condition, condition + " %"});
  }
  const std::set<std::string> categories(items.category.begin(), items.category.end());
  for (const std::string& category : categories) {
    std::vector<Cell> cells{text_cell(category.empty() ? "(none)" : category)};
    for (const std::string& condition : conditions) {
      cells.push_back(accuracy_cell(tally(outcomes, [&](std::size_t row) {
                                      return items.category[row] == category &&
                                             items.condition[row] == condition;
                                    }).accuracy));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table attribute_table(const ItemOutcomes& outcomes) {
  const ItemColumns& items = outcomes.items;
  Table table;
  table.name = "choice_by_attribute";
  table.title = "By attribute";
  table.columns = {{"attribute", "attribute"}, {"accuracy", "accuracy % [95 %] (right/all)"}};
  const std::set<std::string> attributes(items.attribute.begin(), items.attribute.end());
  for (const std::string& attribute : attributes) {
    if (attribute.empty()) continue;
    const Tally sum =
        tally(outcomes, [&](std::size_t row) { return items.attribute[row] == attribute; });
    table.rows.push_back(
        {text_cell(attribute), accuracy_cell(sum.accuracy, wilson_interval(sum.accuracy))});
  }
  return table;
}

Table template_table(const std::vector<TemplateOutcomes>& templates, const ItemColumns& items) {
  Table table;
  table.name = "choice_by_template";
  table.title = "Templates side by side";
  table.columns = {{"template", "template"}};
  const std::vector<std::string> conditions = conditions_of(items);
  for (const std::string& condition : conditions) {
    table.columns.push_back({condition, condition + " % [95 %]"});
  }
  if (conditions.size() > 1) table.columns.push_back({"all", "all % [95 %]"});
  table.columns.push_back({"ties", "ties"});
  for (const TemplateOutcomes& entry : templates) {
    const ItemOutcomes grouped = group_outcomes(entry.outcomes, items);
    std::vector<Cell> row{text_cell(entry.name)};
    const auto add = [&](const Tally& sum) {
      row.push_back(accuracy_cell(sum.accuracy, wilson_interval(sum.accuracy)));
    };
    for (const std::string& condition : conditions) {
      add(tally(grouped, [&](std::size_t at) { return items.condition[at] == condition; }));
    }
    const Tally all = tally(grouped, [](std::size_t) { return true; });
    if (conditions.size() > 1) add(all);
    row.push_back(count_cell(all.ties));
    table.rows.push_back(std::move(row));
  }
  return table;
}

ConfusionCounts choice_confusions(const std::vector<ChoiceOutcome>& outcomes,
                                  const std::vector<Question>& questions) {
  std::map<std::string, const Question*> question_of;
  for (const Question& question : questions) question_of.emplace(question.id, &question);
  ConfusionCounts counts;
  for (const ChoiceOutcome& outcome : outcomes) {
    const Question& question = *question_of.at(outcome.question_id);
    ++counts[{question.answer_text, question.choices[outcome.picked]}];
  }
  return counts;
}

Table confusion_table(const std::vector<ChoiceOutcome>& outcomes,
                      const std::vector<Question>& questions, int rows) {
  return confusion_pairs(choice_confusions(outcomes, questions), "choice_confusions", rows);
}

}  // namespace probe
