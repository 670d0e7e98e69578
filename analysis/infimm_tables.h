// InfiMM-Eval results in the shape of the paper's tables. Scores are percent.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/infimm.h"
#include "analysis/table.h"

namespace probe {

// What the reader wants to see beside a model's name (Table 1's "LLM" and "IFT", Table 4's
// "Caption"): titles, and for each model as many values.
struct ModelColumns {
  std::vector<std::string> titles;
  std::map<std::string, std::vector<std::string>> values;
};

// Figure 2 (a): how many questions of each category and complexity.
Table infimm_question_table(const std::vector<InfimmQuestion>& questions);

// Table 1 (and, with a caption column, Table 4): one row a run; categories, complexities,
// overall with its interval, and how many questions have no score.
Table infimm_score_table(const std::vector<InfimmQuestion>& questions,
                         const std::vector<InfimmRun>& runs, const ModelColumns& columns,
                         std::uint64_t seed);

// Tables 2 and 3: models that were run in two or more settings, in these settings; no rows
// if there are none.
Table infimm_setting_table(const std::vector<InfimmQuestion>& questions,
                           const std::vector<InfimmRun>& runs);

// With and without reasoning steps (Figure 4), for runs graded both ways: difference over
// the questions that have both scores. No rows if there are none.
Table infimm_grading_table(const std::vector<InfimmQuestion>& questions,
                           const std::vector<InfimmRun>& runs, std::uint64_t seed);

// Table 6: the questions with two or more images. No rows if there are none.
Table infimm_multi_image_table(const std::vector<InfimmQuestion>& questions,
                               const std::vector<InfimmRun>& runs, std::uint64_t seed);

}  // namespace probe
