#include "analysis/classification_tables.h"

#include <algorithm>
#include <map>

#include "analysis/choice_tables.h"
#include "analysis/statistics.h"
#include "probe/core/item.h"

namespace probe {
namespace {

using Outcomes = std::vector<const ClassOutcome*>;

template <typename Use>
Outcomes chosen(const Classification& result, const Use& use) {
  Outcomes some;
  for (const ClassOutcome& outcome : result.outcomes) {
    if (use(outcome)) some.push_back(&outcome);
  }
  return some;
}

Accuracy accuracy_within(const Outcomes& outcomes, int count) {
  Accuracy accuracy;
  for (const ClassOutcome* outcome : outcomes) accuracy.add(outcome->within(count));
  return accuracy;
}

Cell interval_cell(const Accuracy& accuracy) {
  return accuracy_cell(accuracy, wilson_interval(accuracy));
}

// What a class is most often taken for; "" if never for another.
std::string usual_mistake(const Classification& result, const Outcomes& outcomes) {
  std::map<int, int> counts;
  for (const ClassOutcome* outcome : outcomes) {
    if (!outcome->correct()) ++counts[outcome->ranked.front()];
  }
  const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return a.second < b.second;
  });
  if (most == counts.end()) return "";
  return result.classes[most->first] + " (" + std::to_string(most->second) + ")";
}

const std::string& class_name(const Classification& result, int place) {
  return result.classes[static_cast<std::size_t>(place)];
}

}  // namespace

double mean_per_class(const Outcomes& outcomes) {
  std::map<int, Accuracy> by_class;
  for (const ClassOutcome* outcome : outcomes) by_class[outcome->answer].add(outcome->correct());
  double sum = 0.0;
  for (const auto& [place, accuracy] : by_class) {
    sum += static_cast<double>(accuracy.correct) / static_cast<double>(accuracy.total);
  }
  return by_class.empty() ? 0.0 : sum / static_cast<double>(by_class.size());
}

std::vector<Column> summary_columns(std::size_t classes) {
  std::vector<Column> columns{{"top1", "top-1 % [95 %] (right/all)"}};
  if (classes > kRankedClasses) columns.push_back({"top5", "top-5 % [95 %]"});
  columns.push_back({"mean_per_class_percent", "mean per class %"});
  columns.push_back({"chance_percent", "chance %"});
  columns.push_back({"ties", "ties"});
  return columns;
}

std::vector<Cell> summary_cells(const Outcomes& outcomes, std::size_t classes) {
  std::vector<Cell> cells{interval_cell(accuracy_within(outcomes, 1))};
  if (classes > kRankedClasses) {
    cells.push_back(interval_cell(accuracy_within(outcomes, kRankedClasses)));
  }
  cells.push_back(outcomes.empty() ? unknown_cell()
                                   : number_cell(100.0 * mean_per_class(outcomes), 1));
  cells.push_back(number_cell(100.0 / static_cast<double>(classes), 1));
  cells.push_back(count_cell(std::count_if(outcomes.begin(), outcomes.end(),
                                           [](const auto* outcome) { return outcome->tied; })));
  return cells;
}

Table class_condition_table(const Classification& result) {
  Table table;
  table.name = result.prefix + "_by_condition";
  table.title = result.title;
  table.columns = {{"condition", "condition"}};
  for (Column& column : summary_columns(result.classes.size())) {
    table.columns.push_back(std::move(column));
  }
  const auto add = [&](const std::string& name, const Outcomes& outcomes) {
    std::vector<Cell> row{text_cell(name)};
    for (Cell& cell : summary_cells(outcomes, result.classes.size())) {
      row.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  };
  const auto& condition = result.items.condition;
  const std::vector<std::string> conditions = conditions_of(result.items);
  for (const std::string& name : conditions) {
    const Outcomes some =
        chosen(result, [&](const ClassOutcome& o) { return condition[o.row] == name; });
    if (!some.empty()) add(name, some);
  }
  if (conditions.size() > 2) {
    add("modified",
        chosen(result, [&](const ClassOutcome& o) { return condition[o.row] != kOriginal; }));
  }
  if (conditions.size() > 1) add("all", chosen(result, [](const ClassOutcome&) { return true; }));
  return table;
}

Table class_table(const Classification& result) {
  Table table;
  table.name = result.prefix + "_by_class";
  table.title = result.title + ", by class";
  table.columns = {{"class", "class"}};
  const std::vector<std::string> conditions = conditions_of(result.items);
  for (const std::string& name : conditions) table.columns.push_back({name, name + " %"});
  const bool five = result.classes.size() > kRankedClasses;
  if (five) table.columns.push_back({"top5", "top-5 %"});
  table.columns.push_back({"mistaken_for", "most often taken for"});
  for (int place = 0; place < std::ssize(result.classes); ++place) {
    const Outcomes all =
        chosen(result, [&](const ClassOutcome& o) { return o.answer == place; });
    if (all.empty()) continue;
    std::vector<Cell> row{text_cell(class_name(result, place))};
    for (const std::string& name : conditions) {
      Outcomes some;
      std::copy_if(all.begin(), all.end(), std::back_inserter(some), [&](const auto* outcome) {
        return result.items.condition[outcome->row] == name;
      });
      row.push_back(accuracy_cell(accuracy_within(some, 1)));
    }
    if (five) row.push_back(accuracy_cell(accuracy_within(all, kRankedClasses)));
    row.push_back(text_cell(usual_mistake(result, all)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

ConfusionCounts class_confusions(const Classification& result) {
  ConfusionCounts counts;
  for (const ClassOutcome& outcome : result.outcomes) {
    ++counts[{class_name(result, outcome.answer), class_name(result, outcome.ranked.front())}];
  }
  return counts;
}

Table class_error_table(const Classification& result, int rows) {
  Outcomes wrong = chosen(result, [](const ClassOutcome& o) { return !o.correct(); });
  const auto lead = [](const ClassOutcome* outcome) {
    return outcome->scores.size() > 1 ? outcome->scores[0] - outcome->scores[1] : 0.0;
  };
  std::stable_sort(wrong.begin(), wrong.end(),
                   [&](const auto* a, const auto* b) { return lead(a) > lead(b); });
  Table table;
  table.name = result.prefix + "_errors";
  table.title = "Mistakes, the surest first";
  table.columns = {{"item", "item", true},
                   {"condition", "condition"},
                   {"answer", "right class"},
                   {"picked", "picked"},
                   {"score", "its score"},
                   {"lead", "ahead of the second by"},
                   {"answer_rank", "rank of the right one"}};
  if (std::ssize(wrong) > rows) {
    table.note = std::to_string(rows) + " of " + std::to_string(wrong.size()) + " mistakes";
    wrong.resize(static_cast<std::size_t>(rows));
  }
  for (const ClassOutcome* outcome : wrong) {
    const auto at = std::find(outcome->ranked.begin(), outcome->ranked.end(), outcome->answer);
    table.rows.push_back(
        {text_cell(result.items.id[outcome->row]), text_cell(result.items.condition[outcome->row]),
         text_cell(class_name(result, outcome->answer)),
         text_cell(class_name(result, outcome->ranked.front())),
         number_cell(outcome->scores.front(), 4), number_cell(lead(outcome), 4),
         at == outcome->ranked.end()
             ? text_cell("below " + std::to_string(outcome->ranked.size()))
             : count_cell(at - outcome->ranked.begin() + 1)});
  }
  return table;
}

Table class_prediction_table(const Classification& result) {
  Table table;
  table.name = result.prefix + "_predictions";
  table.title = "Every item";
  table.columns = {{"item", "item", true},
                   {"condition", "condition"},
                   {"answer", "right class"},
                   {"picked", "picked"},
                   {"right", "right"},
                   {"score", "score"},
                   {"ranked", "best classes"}};
  for (const ClassOutcome& outcome : result.outcomes) {
    std::string ranked;
    for (const int place : outcome.ranked) {
      ranked += (ranked.empty() ? "" : " | ") + class_name(result, place);
    }
    table.rows.push_back({text_cell(result.items.id[outcome.row]),
                          text_cell(result.items.condition[outcome.row]),
                          text_cell(class_name(result, outcome.answer)),
                          text_cell(class_name(result, outcome.ranked.front())),
                          text_cell(outcome.correct() ? "yes" : "no"),
                          number_cell(outcome.scores.front(), 4), text_cell(std::move(ranked))});
  }
  return table;
}

}  // namespace probe
