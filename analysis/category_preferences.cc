#include "analysis/category_preferences.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/statistics.h"

namespace probe {
namespace {

const char* side_words(Side side) {
  return side == Side::original ? "original" : "modified";
}

bool has_open(const Subject& subject, const ItemColumns& items, Side side) {
  return score_side(subject, items, QuestionType::open, side).has_value();
}

}  // namespace

CategoryGrid category_grid(const std::vector<Subject>& subjects, const ItemColumns& items,
                           Side side) {
  std::vector<const Subject*> columns;
  for (const bool encoders : {true, false}) {
    for (const Subject& subject : subjects) {
      if (subject.is_encoder == encoders && has_open(subject, items, side)) {
        columns.push_back(&subject);
      }
    }
  }
  CategoryGrid grid;
  grid.side = side;
  grid.over_mllms = !columns.empty() && !columns.back()->is_encoder;
  std::map<std::string, std::vector<Accuracy>> counts;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    grid.subjects.push_back(columns[c]->name);
    for (const QuestionResult& result : columns[c]->results) {
      if (result.question->type != QuestionType::open ||
          side_of(items.condition[result.item]) != side) {
        continue;
      }
      auto& row = counts[result.question->answer_text];
      row.resize(columns.size());
      for (const GivenAnswer& answer : result.answers) row[c].add(answer.correct);
    }
  }
  struct Row {
    std::string category;
    std::vector<std::optional<double>> percent;
    std::optional<double> mean;
  };
  std::vector<Row> rows;
  for (const auto& [category, accuracies] : counts) {
    Row row{category, {}, {}};
    std::vector<double> known;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (accuracies[c].total == 0) {
        row.percent.emplace_back();
        continue;
      }
      row.percent.emplace_back(100.0 * static_cast<double>(accuracies[c].correct) /
                               static_cast<double>(accuracies[c].total));
      if (columns[c]->is_encoder != grid.over_mllms) known.push_back(*row.percent.back());
    }
    if (!known.empty()) row.mean = mean_of(known);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.mean.value_or(-1.0) > b.mean.value_or(-1.0);
  });
  for (Row& row : rows) {
    grid.categories.push_back(row.category);
    grid.percent.push_back(std::move(row.percent));
    grid.mean.push_back(row.mean);
  }
  return grid;
}

Figure category_figure(const CategoryGrid& grid, const std::vector<Subject>& subjects) {
  Figure figure;
  figure.kind = Figure::Kind::heatmap;
  figure.name = std::string("fig6_open_") + side_words(grid.side);
  figure.title = std::string("Fig. 6: open questions by category, ") + side_words(grid.side) +
                 " items" +
                 (made_up_words(subjects).empty() ? "" : " (responses made up for show)");
  figure.x_title = "model";
  figure.y_title = "category; accuracy in %";
  for (std::size_t r = 0; r < grid.categories.size(); ++r) {
    for (std::size_t c = 0; c < grid.subjects.size(); ++c) {
      figure.marks.push_back(
          {grid.categories[r], "", grid.subjects[c], {}, grid.percent[r][c], {}});
    }
  }
  figure.caption =
      made_up_words(subjects) +
      "Your items. Encoders answer by classification over the names of all open questions. Rows "
      "from the most to the least preferred: mean over the " +
      (grid.over_mllms ? "MLLMs." : "encoders; the MLLMs need responses (--responses).");
  return figure;
}

Table preference_table(const std::vector<CategoryGrid>& grids, int count,
                       const std::vector<Subject>& subjects) {
  Table table;
  table.name = "preferences";
  table.title = "Most and least preferred categories, open questions";
  table.columns = {{"condition", "condition"},   {"preference", "preference"},
                   {"rank", "rank"},             {"category", "category"},
                   {"mean_percent", "mean %"},   {"models", "models"}};
  bool over_mllms = true;
  for (const CategoryGrid& grid : grids) {
    over_mllms = over_mllms && grid.over_mllms;
    std::vector<std::size_t> known;
    for (std::size_t r = 0; r < grid.categories.size(); ++r) {
      if (grid.mean[r]) known.push_back(r);
    }
    const auto models = std::count_if(subjects.begin(), subjects.end(), [&](const Subject& s) {
      return s.is_encoder != grid.over_mllms &&
             std::find(grid.subjects.begin(), grid.subjects.end(), s.name) != grid.subjects.end();
    });
    const std::size_t n = std::min<std::size_t>(count, known.size() / 2);
    const auto add = [&](const char* preference, std::size_t rank, std::size_t row) {
      table.rows.push_back({text_cell(side_words(grid.side)), text_cell(preference),
                            count_cell(static_cast<std::int64_t>(rank)),
                            text_cell(grid.categories[row]), number_cell(*grid.mean[row], 1),
                            count_cell(models)});
    };
    for (std::size_t i = 0; i < n; ++i) add("most", i + 1, known[i]);
    for (std::size_t i = 0; i < n; ++i) add("least", i + 1, known[known.size() - 1 - i]);
  }
  table.note = made_up_words(subjects) + "Mean accuracy over the " +
               (over_mllms ? "MLLMs." : "encoders, where no MLLM answered open questions.") +
               " Ties go by name.";
  return table;
}

}  // namespace probe
