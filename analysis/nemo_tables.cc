#include "analysis/nemo_tables.h"

#include <algorithm>
#include <map>
#include <set>

namespace probe {
namespace {

constexpr QuestionType kTypes[] = {QuestionType::open, QuestionType::choice,
                                   QuestionType::unsolvable};

// Open, choice and unsolvable of one subject on one set of items.
struct Block {
  std::optional<TypeScore> type[3];

  std::optional<double> average() const { return average_of(type[0], type[1], type[2]); }
};

Block score_block(const Subject& subject, const Weight& weight) {
  Block block;
  for (int i = 0; i < 3; ++i) block.type[i] = score_type(subject, kTypes[i], weight);
  return block;
}

Weight on_side(const ItemColumns& items, Side side) {
  return [&items, side](const QuestionResult& result) {
    return side_of(items.condition[result.item]) == side ? 1.0 : 0.0;
  };
}

Cell percent_cell(const std::optional<double>& value) {
  return value ? number_cell(*value, 1) : unknown_cell();
}

Cell mean_cell(const std::optional<TypeScore>& score) {
  return score ? number_cell(score->mean, 1) : unknown_cell();
}

Cell sd_cell(const std::optional<TypeScore>& score) {
  return score ? percent_cell(score->sd) : unknown_cell();
}

Cell delta_cell(const std::optional<double>& modified, const std::optional<double>& original) {
  return modified && original ? number_cell(*modified - *original, 1) : unknown_cell();
}

std::optional<double> mean_of_score(const std::optional<TypeScore>& score) {
  return score ? std::optional<double>(score->mean) : std::nullopt;
}

Cell known_text(const std::string& words) {
  return words.empty() ? unknown_cell() : text_cell(words);
}

// The columns and cells of a block without deltas.
void add_columns(std::vector<Column>& columns, const std::string& name, const std::string& title) {
  columns.insert(columns.end(), {{name + "_open", title + " open"},
                                 {name + "_choice", title + " choice"},
                                 {name + "_choice_sd", "sd"},
                                 {name + "_unsol", title + " unsol."},
                                 {name + "_unsol_sd", "sd"},
                                 {name + "_avg", title + " average"}});
}

void add_cells(std::vector<Cell>& cells, const Block& block) {
  cells.insert(cells.end(), {mean_cell(block.type[0]), mean_cell(block.type[1]),
                             sd_cell(block.type[1]), mean_cell(block.type[2]),
                             sd_cell(block.type[2]), percent_cell(block.average())});
}

std::string note_words(const std::vector<Subject>& subjects, const std::string& rest) {
  return made_up_words(subjects) + rest;
}

// What guessing earns: mean of 1/c over the questions of some subject.
std::optional<double> chance_of(const std::vector<Subject>& subjects, QuestionType type,
                                const Weight& weight) {
  std::set<const Question*> seen;
  double sum = 0.0;
  for (const Subject& subject : subjects) {
    for (const QuestionResult& result : subject.results) {
      if (result.question->type != type || weight(result) == 0.0) continue;
      if (!seen.insert(result.question).second) continue;
      sum += 100.0 / static_cast<double>(result.question->choices.size());
    }
  }
  if (seen.empty()) return std::nullopt;
  return sum / static_cast<double>(seen.size());
}

std::vector<Cell> random_row(const std::vector<Subject>& subjects, const ItemColumns& items) {
  std::vector<Cell> cells{text_cell("random choice (expected)"), unknown_cell(), unknown_cell(),
                          unknown_cell()};
  std::optional<double> scores[2][3];  // original, modified; choice, unsolvable, average
  for (int s = 0; s < 2; ++s) {
    const Weight weight = on_side(items, s == 0 ? Side::original : Side::modified);
    scores[s][0] = chance_of(subjects, QuestionType::choice, weight);
    scores[s][1] = chance_of(subjects, QuestionType::unsolvable, weight);
    if (scores[s][0] && scores[s][1]) scores[s][2] = (*scores[s][0] + *scores[s][1]) / 2.0;
  }
  cells.insert(cells.end(), {unknown_cell(), percent_cell(scores[0][0]), unknown_cell(),
                             percent_cell(scores[0][1]), unknown_cell(),
                             percent_cell(scores[0][2]), unknown_cell(), unknown_cell()});
  cells.insert(cells.end(), {percent_cell(scores[1][0]), unknown_cell(),
                             delta_cell(scores[1][0], scores[0][0])});
  cells.insert(cells.end(), {percent_cell(scores[1][1]), unknown_cell(),
                             delta_cell(scores[1][1], scores[0][1])});
  cells.insert(cells.end(), {percent_cell(scores[1][2]), delta_cell(scores[1][2], scores[0][2])});
  return cells;
}

// Originals as if their categories came as often as among the subject's questions about
// modified items of `condition`. Adds the categories that have no originals to `lacking`.
Block weighted_originals(const Subject& subject, const ItemColumns& items,
                         const std::string& condition, std::set<std::string>& lacking) {
  Block block;
  for (int i = 0; i < 3; ++i) {
    std::map<std::string, double> originals, modified;  // questions of a category
    for (const QuestionResult& result : subject.results) {
      if (result.question->type != kTypes[i]) continue;
      const std::string& category = items.category[result.item];
      if (items.condition[result.item] == condition) modified[category] += 1.0;
      if (side_of(items.condition[result.item]) == Side::original) originals[category] += 1.0;
    }
    for (const auto& [category, count] : modified) {
      if (!originals.contains(category)) lacking.insert(category);
    }
    block.type[i] = score_type(subject, kTypes[i], [&](const QuestionResult& result) {
      const std::string& category = items.category[result.item];
      const auto it = modified.find(category);
      const bool counts =
          side_of(items.condition[result.item]) == Side::original && it != modified.end();
      return counts ? it->second / originals.at(category) : 0.0;
    });
  }
  return block;
}

}  // namespace

Table overall_table(const std::vector<Subject>& subjects, const ItemColumns& items) {
  Table table;
  table.name = "table_2";
  table.title = "Table 2 from your responses: originals against attribute-modified items";
  table.columns = {{"model", "model"},
                   {"vision_encoder", "vision encoder"},
                   {"llm", "LLM"},
                   {"llm_size_b", "LLM size, 10^9"}};
  add_columns(table.columns, "orig", "orig.");
  table.columns.insert(
      table.columns.end(),
      {{"mod_open", "mod. open"},     {"delta_open", "delta O"},
       {"mod_choice", "mod. choice"}, {"mod_choice_sd", "sd"},    {"delta_choice", "delta C"},
       {"mod_unsol", "mod. unsol."},  {"mod_unsol_sd", "sd"},     {"delta_unsol", "delta U"},
       {"mod_avg", "mod. average"},   {"delta_avg", "delta A"}});
  std::vector<Subject> models;
  for (const Subject& subject : subjects) {
    if (subject.is_encoder) continue;
    models.push_back(subject);
    const Block original = score_block(subject, on_side(items, Side::original));
    const Block modified = score_block(subject, on_side(items, Side::modified));
    std::vector<Cell> cells{
        text_cell(subject.name), known_text(subject.facts.encoder), known_text(subject.facts.llm),
        subject.facts.llm_size_b ? number_cell(*subject.facts.llm_size_b, 1) : unknown_cell()};
    add_cells(cells, original);
    for (int i = 0; i < 3; ++i) {
      cells.push_back(mean_cell(modified.type[i]));
      if (i > 0) cells.push_back(sd_cell(modified.type[i]));
      cells.push_back(delta_cell(mean_of_score(modified.type[i]), mean_of_score(original.type[i])));
    }
    cells.push_back(percent_cell(modified.average()));
    cells.push_back(delta_cell(modified.average(), original.average()));
    table.rows.push_back(std::move(cells));
  }
  if (!models.empty()) table.rows.insert(table.rows.begin(), random_row(models, items));
  table.note = note_words(models, "Percent; sd over the circular shifts, n - 1; average of open, "
                                  "choice and unsolvable; deltas are modified - original.");
  return table;
}

Table condition_blocks_table(const std::vector<Subject>& subjects, const ItemColumns& items) {
  Table table;
  table.name = "table_e";
  table.title = "Table E from your responses: each kind of modification beside its originals";
  table.columns = {{"model", "model"}, {"condition", "condition"}};
  add_columns(table.columns, "orig", "weighted orig.");
  add_columns(table.columns, "mod", "mod.");
  table.columns.push_back({"delta_avg", "delta A"});
  std::set<std::string> conditions, lacking;
  for (const std::string& condition : items.condition) {
    if (side_of(condition) == Side::modified) conditions.insert(condition);
  }
  for (const Subject& subject : subjects) {
    if (subject.is_encoder) continue;
    for (const std::string& condition : conditions) {
      const Block original = weighted_originals(subject, items, condition, lacking);
      const Block modified = score_block(subject, [&](const QuestionResult& result) {
        return items.condition[result.item] == condition ? 1.0 : 0.0;
      });
      std::vector<Cell> cells{text_cell(subject.name), text_cell(condition)};
      add_cells(cells, original);
      add_cells(cells, modified);
      cells.push_back(delta_cell(modified.average(), original.average()));
      table.rows.push_back(std::move(cells));
    }
  }
  std::string note = "Percent. Originals are weighted to the categories' shares among the "
                     "modified items of the condition (NEMO E.1).";
  if (!lacking.empty()) {
    note += " Without originals, so left out of the weights:";
    for (const std::string& category : lacking) note += " " + category;
    note += ".";
  }
  table.note = note_words(subjects, note);
  return table;
}

Table synthetic_table(const std::vector<Subject>& subjects, const ItemColumns& items) {
  Table table;
  table.name = "table_f";
  table.title = "Table F from your responses: originals against synthetic originals";
  table.columns = {{"model", "model"}};
  add_columns(table.columns, "orig", "orig.");
  add_columns(table.columns, "synth", "synth. orig.");
  table.columns.push_back({"delta_avg", "delta A"});
  const bool any = std::count(items.condition.begin(), items.condition.end(),
                              std::string(kSyntheticOriginal)) > 0;
  for (const Subject& subject : subjects) {
    if (subject.is_encoder || !any) continue;
    const Block original = score_block(subject, on_side(items, Side::original));
    const Block synthetic = score_block(subject, on_side(items, Side::synthetic_original));
    std::vector<Cell> cells{text_cell(subject.name)};
    add_cells(cells, original);
    add_cells(cells, synthetic);
    cells.push_back(delta_cell(synthetic.average(), original.average()));
    table.rows.push_back(std::move(cells));
  }
  table.note = note_words(subjects, "Percent; delta is synthetic - original.");
  return table;
}

Table prompt_table(const std::vector<Subject>& subjects,
                   const std::vector<PromptVariant>& variants, const ItemColumns& items,
                   const std::string& base) {
  Table table;
  table.name = "table_g";
  table.title = "Table G from your responses: open questions by wording";
  table.columns = {{"model", "model"}};
  for (const char* side : {"orig", "mod"}) {
    const std::string title = std::string(side) + ". ";
    table.columns.push_back({std::string(side) + "_0", title + base});
    for (std::size_t v = 0; v < variants.size(); ++v) {
      table.columns.push_back(
          {std::string(side) + "_" + std::to_string(v + 1), title + variants[v].name});
    }
  }
  if (variants.empty()) return table;
  // Models of any file; one that a file lacks is unknown there.
  std::vector<std::string> names;
  std::vector<const std::vector<Subject>*> files{&subjects};
  for (const PromptVariant& variant : variants) files.push_back(&variant.subjects);
  std::vector<Subject> all;
  for (const auto* file : files) {
    for (const Subject& subject : *file) {
      if (subject.is_encoder ||
          std::find(names.begin(), names.end(), subject.name) != names.end()) {
        continue;
      }
      names.push_back(subject.name);
      all.push_back(subject);
    }
  }
  for (const std::string& name : names) {
    std::vector<Cell> cells{text_cell(name)};
    for (const Side side : {Side::original, Side::modified}) {
      for (const auto* file : files) {
        const auto it = std::find_if(file->begin(), file->end(), [&](const Subject& subject) {
          return !subject.is_encoder && subject.name == name;
        });
        cells.push_back(it == file->end()
                            ? unknown_cell()
                            : mean_cell(score_side(*it, items, QuestionType::open, side)));
      }
    }
    table.rows.push_back(std::move(cells));
  }
  table.note = note_words(all, "Percent of open questions.");
  return table;
}

}  // namespace probe
