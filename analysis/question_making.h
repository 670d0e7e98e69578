// Questions about items: open, choice, unsolvable (NEMO Sec. 3; DESIGN.md section 6).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/choice_text.h"
#include "analysis/table.h"
#include "probe/core/item.h"
#include "probe/core/matrix.h"

namespace probe {

// Wrong names for each category, the best first.
using Distractors = std::map<std::string, std::vector<std::string>>;

struct QuestionPlan {
  bool open = true, choice = true, unsolvable = true;
  int distractors = 3;
  std::uint64_t seed = 0;
};

struct MadeQuestions {
  std::vector<Question> questions;  // item by item: "<item>/open", "/choice", "/unsolvable"
  std::vector<Failure> failures;    // items without category, or with too few distractors
};

// Other categories in a seeded order of their own for each category.
Distractors random_distractors(const std::vector<std::string>& categories, std::uint64_t seed);

// Other categories, nearest first by cosine of the mean unit vectors.
//   rows [n, d]; categories, n names. Throws Error(input) if sizes differ.
Distractors nearest_distractors(const RowMatrix& rows, const std::vector<std::string>& categories);

// `first` where it has names, then those of `then`.
Distractors joined(Distractors first, const Distractors& then);

// Questions for every item. A distractor that is the answer, or the same word in the plural or
// in `synonyms`, is passed over. The answer's positions are balanced: among all questions of a
// type each position holds the answer equally often, give or take one, in a seeded order.
// `none_text` is the last choice of unsolvable questions before it is placed.
MadeQuestions make_questions(const std::vector<Item>& items, const Distractors& distractors,
                             const SynonymGroups& synonyms, const std::string& none_text,
                             const QuestionPlan& plan);

}  // namespace probe
