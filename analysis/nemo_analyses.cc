#include "analysis/nemo_analyses.h"

#include <algorithm>

#include "analysis/category_preferences.h"
#include "analysis/confusion_figures.h"
#include "analysis/joined_tests.h"
#include "analysis/nemo_figures.h"

namespace probe {
namespace {

constexpr int kPreferences = 5;  // NEMO's Fig. 6 marks five of each

void add_figure(Figure figure, Report& report) {
  if (!figure.marks.empty()) report.figures.push_back(std::move(figure));
}

void add_preferences(const NemoInput& input, Report& report) {
  std::vector<CategoryGrid> grids;
  for (const Side side : {Side::original, Side::modified}) {
    CategoryGrid grid = category_grid(input.subjects, input.items, side);
    if (grid.categories.empty()) continue;
    add_figure(category_figure(grid, input.subjects), report);
    grids.push_back(std::move(grid));
  }
  report.tables.push_back(preference_table(grids, kPreferences, input.subjects));
  if (grids.empty()) report.notes.push_back("Fig. 6 needs open questions");
}

}  // namespace

void add_nemo_analyses(const NemoInput& input, Report& report) {
  const bool any_mllm = std::any_of(input.subjects.begin(), input.subjects.end(),
                                    [](const Subject& subject) { return !subject.is_encoder; });
  report.tables.push_back(overall_table(input.subjects, input.items));
  report.tables.push_back(condition_blocks_table(input.subjects, input.items));
  report.tables.push_back(synthetic_table(input.subjects, input.items));
  report.tables.push_back(
      prompt_table(input.subjects, input.variants, input.items, "main wording"));
  report.tables.push_back(gap_table(input.subjects, input.items, input.seed));
  report.tables.push_back(drop_by_subject_table(input.subjects, input.items, input.seed));
  add_figure(choice_by_encoder_figure(input.subjects, input.items, input.models), report);
  add_figure(size_figure(input.subjects, input.items), report);
  add_figure(matching_figure(input.towers, input.models, input.k), report);
  add_preferences(input, report);
  for (Figure& figure : confusion_figures(input.subjects, input.items)) {
    report.figures.push_back(std::move(figure));
  }
  if (!any_mllm) {
    report.notes.push_back("Fig. 4 and Tables 2, E, F and G need responses (--responses)");
    return;
  }
  const auto lone = models_without_encoder(input.subjects);
  if (!lone.empty()) {
    std::string names;
    for (const std::string& name : lone) names += (names.empty() ? "" : ", ") + name;
    report.notes.push_back("no gap: the encoders of " + names + " were not measured here");
  }
  if (std::count(input.items.condition.begin(), input.items.condition.end(),
                 std::string(kSyntheticOriginal)) == 0) {
    report.notes.push_back(std::string("Table F needs items of condition ") + kSyntheticOriginal);
  }
  if (input.variants.empty()) {
    report.notes.push_back("Table G needs responses under other wordings (--open-prompt)");
  }
}

}  // namespace probe
