#include <algorithm>
#include <map>

#include "analysis/locate_answers.h"
#include "analysis/statistics.h"

namespace probe {
namespace {

template <typename T>
void add_once(std::vector<T>& values, const T& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

// The sets of one diagram: names, and the runs they stand for.
struct VennSets {
  std::vector<std::string> names;
  std::vector<const LocateRun*> runs;
};

// Counts of every combination of sets that occurs, fewest sets first; none of them too.
std::vector<std::vector<Cell>> venn_rows(const VennSets& sets) {
  std::map<std::pair<std::size_t, std::vector<bool>>, std::int64_t> counts;
  for (std::size_t item = 0; item < sets.runs[0]->outcomes.size(); ++item) {
    std::vector<bool> wrong;
    for (const LocateRun* run : sets.runs) wrong.push_back(run->failed(item));
    ++counts[{static_cast<std::size_t>(std::count(wrong.begin(), wrong.end(), true)), wrong}];
  }
  std::vector<std::vector<Cell>> rows;
  for (const auto& [key, count] : counts) {
    std::string names;
    for (std::size_t i = 0; i < sets.names.size(); ++i) {
      if (key.second[i]) names += (names.empty() ? "" : " + ") + sets.names[i];
    }
    rows.push_back({text_cell(names.empty() ? "none" : names), count_cell(count)});
  }
  return rows;
}

// `name` as a file name, told apart from those of `tables`.
std::string table_name(std::string name, const std::vector<Table>& tables) {
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-';
    if (!plain) c = '_';
  }
  const auto taken = [&](const std::string& candidate) {
    return std::any_of(tables.begin(), tables.end(),
                       [&](const Table& table) { return table.name == candidate; });
  };
  std::string unique = name;
  for (int i = 2; taken(unique); ++i) unique = name + "_" + std::to_string(i);
  return unique;
}

}  // namespace

Table locate_accuracy_table(const std::vector<LocateRun>& runs) {
  Table table;
  table.name = "locate_accuracy";
  table.title = "Accuracy %, by prompt and model [95 %]";
  table.columns = {{"prompt", "prompt"}};
  std::vector<std::string> models;
  std::vector<LocateFormat> formats;
  for (const LocateRun& run : runs) {
    add_once(models, run.model);
    add_once(formats, run.format);
  }
  std::sort(formats.begin(), formats.end());
  for (const std::string& model : models) table.columns.push_back({model, model});
  for (const LocateFormat format : formats) {
    std::vector<Cell> row{text_cell(locate_format_name(format))};
    for (const std::string& model : models) {
      const auto run = std::find_if(runs.begin(), runs.end(), [&](const LocateRun& entry) {
        return entry.model == model && entry.format == format;
      });
      row.push_back(run == runs.end() ? unknown_cell()
                                      : accuracy_cell(run->accuracy(),
                                                      wilson_interval(run->accuracy())));
    }
    table.rows.push_back(std::move(row));
  }
  table.note = "chance: 25 %";
  return table;
}

Table locate_detail_table(const std::vector<LocateRun>& runs) {
  Table table;
  table.name = "locate_detail";
  table.title = "What the answers were";
  table.columns = {{"model", "model"},       {"prompt", "prompt"},
                   {"accuracy", "accuracy %"}, {"strict_accuracy", "strict %"},
                   {"all_no", "all no"},     {"unparsed", "unparsed"},
                   {"missing", "missing"}};
  for (const LocateRun& run : runs) {
    const bool one_by_one = run.format == LocateFormat::one_by_one;
    const std::int64_t all_no = run.count(LocateOutcome::all_no_right) +
                                run.count(LocateOutcome::all_no_wrong);
    table.rows.push_back({text_cell(run.model), text_cell(locate_format_name(run.format)),
                          accuracy_cell(run.accuracy()), accuracy_cell(run.strict_accuracy()),
                          one_by_one ? count_cell(all_no) : unknown_cell(),
                          count_cell(run.count(LocateOutcome::unparsed)),
                          count_cell(run.count(LocateOutcome::missing))});
  }
  table.note = "strict: \"no\" to all four boxes is wrong instead of the first box";
  return table;
}

std::vector<Table> locate_venn_tables(const std::vector<LocateRun>& runs, bool by_format) {
  std::map<std::string, VennSets> diagrams;
  for (const LocateRun& run : runs) {
    const std::string format = locate_format_name(run.format);
    VennSets& sets = diagrams[by_format ? format : run.model];
    sets.names.push_back(by_format ? run.model : format);
    sets.runs.push_back(&run);
  }
  std::vector<Table> tables;
  for (const auto& [name, sets] : diagrams) {
    if (sets.runs.size() < 2) continue;
    Table table;
    table.name = table_name((by_format ? "locate_errors_prompt_" : "locate_errors_model_") + name,
                            tables);
    table.title = "Errors shared, " + name;
    table.columns = {{"wrong", "wrong in exactly"}, {"items", "items"}};
    table.rows = venn_rows(sets);
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace probe
