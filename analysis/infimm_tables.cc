#include "analysis/infimm_tables.h"

#include <algorithm>
#include <array>

namespace probe {
namespace {

constexpr std::array kCategories = {ReasoningCategory::deductive, ReasoningCategory::abductive,
                                    ReasoningCategory::analogical};
constexpr std::array kComplexities = {ReasoningComplexity::moderate, ReasoningComplexity::high};

bool all_questions(const InfimmQuestion&) { return true; }

QuestionFilter of_category(ReasoningCategory category) {
  return [category](const InfimmQuestion& q) { return q.category == category; };
}

QuestionFilter of_complexity(ReasoningComplexity complexity) {
  return [complexity](const InfimmQuestion& q) { return q.complexity == complexity; };
}

bool has_several_images(const InfimmQuestion& question) { return question.images.size() > 1; }

Cell percent_cell(std::optional<double> value) {
  return value ? number_cell(100 * *value, 2) : unknown_cell();
}

Cell interval_cell(std::optional<double> value, Interval interval) {
  if (!value) return unknown_cell();
  return number_cell(100 * *value, 2, {100 * interval.low, 100 * interval.high});
}

Cell score_cell(const std::vector<InfimmQuestion>& questions, const InfimmRun& run,
                const QuestionFilter& keep) {
  return percent_cell(score_questions(questions, run, keep).value());
}

Cell bounded_cell(const std::vector<InfimmQuestion>& questions, const InfimmRun& run,
                  const QuestionFilter& keep, std::uint64_t seed) {
  const auto value = score_questions(questions, run, keep).value();
  return interval_cell(value, score_interval(questions, run, keep, seed));
}

std::vector<Cell> category_cells(const std::vector<InfimmQuestion>& questions,
                                 const InfimmRun& run) {
  std::vector<Cell> cells;
  for (const auto category : kCategories) {
    cells.push_back(score_cell(questions, run, of_category(category)));
  }
  return cells;
}

std::string setting_words(const InfimmRun& run) { return run.setting.empty() ? "-" : run.setting; }

std::string grading_words(Grading grading) {
  return grading == Grading::with_steps ? "with steps" : "without steps";
}

}  // namespace

Table infimm_question_table(const std::vector<InfimmQuestion>& questions) {
  Table table;
  table.name = "infimm_questions";
  table.title = "Questions";
  table.columns = {{"category", "category"}, {"moderate", "moderate"}, {"high", "high"},
                   {"all", "all"},           {"with_steps", "with steps"}};
  const auto add_row = [&](const std::string& name, const QuestionFilter& keep) {
    std::int64_t counts[2] = {0, 0}, with_steps = 0;
    for (const InfimmQuestion& question : questions) {
      if (!keep(question)) continue;
      ++counts[question.complexity == ReasoningComplexity::high ? 1 : 0];
      with_steps += question.steps.empty() ? 0 : 1;
    }
    table.rows.push_back({text_cell(name), count_cell(counts[0]), count_cell(counts[1]),
                          count_cell(counts[0] + counts[1]), count_cell(with_steps)});
  };
  for (const auto category : kCategories) {
    add_row(category_name(category), of_category(category));
  }
  add_row("all", all_questions);
  return table;
}

Table infimm_score_table(const std::vector<InfimmQuestion>& questions,
                         const std::vector<InfimmRun>& runs, const ModelColumns& columns,
                         std::uint64_t seed) {
  Table table;
  table.name = "infimm_scores";
  table.title = "InfiMM-Eval";
  const bool settings = std::any_of(runs.begin(), runs.end(),
                                    [](const InfimmRun& run) { return !run.setting.empty(); });
  table.columns = {{"model", "model"}};
  for (const std::string& title : columns.titles) table.columns.push_back({title, title});
  if (settings) table.columns.push_back({"setting", "setting"});
  table.columns.push_back({"grading", "grading"});
  for (const auto category : kCategories) {
    table.columns.push_back({category_name(category), category_name(category)});
  }
  for (const auto complexity : kComplexities) {
    table.columns.push_back({complexity_name(complexity), complexity_name(complexity)});
  }
  table.columns.push_back({"overall", "overall [95 %]"});
  table.columns.push_back({"missing", "missing"});
  for (const InfimmRun& run : runs) {
    std::vector<Cell> row{text_cell(run.model)};
    const auto known = columns.values.find(run.model);
    for (std::size_t i = 0; i < columns.titles.size(); ++i) {
      row.push_back(known == columns.values.end() ? unknown_cell() : text_cell(known->second[i]));
    }
    if (settings) row.push_back(text_cell(setting_words(run)));
    row.push_back(text_cell(grading_words(run.grading)));
    for (Cell& cell : category_cells(questions, run)) row.push_back(std::move(cell));
    for (const auto complexity : kComplexities) {
      row.push_back(score_cell(questions, run, of_complexity(complexity)));
    }
    row.push_back(bounded_cell(questions, run, all_questions, seed));
    row.push_back(count_cell(static_cast<std::int64_t>(run.missing())));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table infimm_setting_table(const std::vector<InfimmQuestion>& questions,
                           const std::vector<InfimmRun>& runs) {
  Table table;
  table.name = "infimm_settings";
  table.title = "Settings side by side";
  table.columns = {{"model", "model"}, {"setting", "setting"}, {"grading", "grading"}};
  for (const auto category : kCategories) {
    table.columns.push_back({category_name(category), category_name(category)});
  }
  table.columns.push_back({"overall", "overall"});
  std::vector<std::size_t> order(runs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto first_of = [&](std::size_t index) {  // runs of one model and grading together
    const auto same = [&](const InfimmRun& run) {
      return run.model == runs[index].model && run.grading == runs[index].grading;
    };
    return std::find_if(runs.begin(), runs.end(), same) - runs.begin();
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return first_of(a) < first_of(b); });
  for (const std::size_t index : order) {
    const InfimmRun& run = runs[index];
    const auto settings = std::count_if(runs.begin(), runs.end(), [&](const InfimmRun& other) {
      return other.model == run.model && other.grading == run.grading;
    });
    if (settings < 2) continue;
    std::vector<Cell> row{text_cell(run.model), text_cell(setting_words(run)),
                          text_cell(grading_words(run.grading))};
    for (Cell& cell : category_cells(questions, run)) row.push_back(std::move(cell));
    row.push_back(score_cell(questions, run, all_questions));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table infimm_grading_table(const std::vector<InfimmQuestion>& questions,
                           const std::vector<InfimmRun>& runs, std::uint64_t seed) {
  Table table;
  table.name = "infimm_grading";
  table.title = "Graded with and without reasoning steps";
  table.columns = {{"model", "model"},
                   {"setting", "setting"},
                   {"without_steps", "without steps"},
                   {"with_steps", "with steps"},
                   {"difference", "difference [95 %]"},
                   {"questions", "questions"}};
  for (const InfimmRun& with : runs) {
    if (with.grading != Grading::with_steps) continue;
    const auto without = std::find_if(runs.begin(), runs.end(), [&](const InfimmRun& run) {
      return run.model == with.model && run.setting == with.setting &&
             run.grading == Grading::without_steps;
    });
    if (without == runs.end()) continue;
    const ScoreDifference gap = score_difference(questions, with, *without, seed);
    table.rows.push_back({text_cell(with.model), text_cell(setting_words(with)),
                          score_cell(questions, *without, all_questions),
                          score_cell(questions, with, all_questions),
                          interval_cell(gap.value, gap.interval), count_cell(gap.questions)});
  }
  table.note = "difference: over the questions that have both scores";
  return table;
}

Table infimm_multi_image_table(const std::vector<InfimmQuestion>& questions,
                               const std::vector<InfimmRun>& runs, std::uint64_t seed) {
  Table table;
  table.name = "infimm_multi_image";
  table.title = "Questions with two or more images";
  table.columns = {{"model", "model"}, {"setting", "setting"},     {"grading", "grading"},
                   {"score", "score [95 %]"}, {"moderate", "moderate"}, {"high", "high"}};
  if (std::none_of(questions.begin(), questions.end(), has_several_images)) return table;
  for (const InfimmRun& run : runs) {
    const WeightedScore score = score_questions(questions, run, has_several_images);
    table.rows.push_back({text_cell(run.model), text_cell(setting_words(run)),
                          text_cell(grading_words(run.grading)),
                          bounded_cell(questions, run, has_several_images, seed),
                          count_cell(score.moderate), count_cell(score.high)});
  }
  table.note = "moderate, high: how many questions were scored";
  return table;
}

}  // namespace probe
