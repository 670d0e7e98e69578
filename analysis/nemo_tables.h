// NEMO's tables from the user's own responses, in the paper's layout (Tables 2, E, F, G).
// All cells are percent, deltas are modified minus original in points; what was not asked is
// unknown. Choice and unsolvable: mean and standard deviation over the circular shifts.
#pragma once

#include <string>
#include <vector>

#include "analysis/subject.h"
#include "analysis/table.h"

namespace probe {

// Table 2: one row an MLLM, originals against attribute-modified items, and the expected
// score of a random choice (average of choice and unsolvable, as in the paper).
Table overall_table(const std::vector<Subject>& subjects, const ItemColumns& items);

// Table E: one row an MLLM and modified condition. The originals are weighted so that each
// category has the share it has among the modified items of that condition (NEMO E.1);
// categories without originals leave the weights and are named in the note.
// No rows unless some items are modified.
Table condition_blocks_table(const std::vector<Subject>& subjects, const ItemColumns& items);

// Table F: originals against items of condition "synthetic_original". No rows without those.
Table synthetic_table(const std::vector<Subject>& subjects, const ItemColumns& items);

// Answers to the open questions under another wording.
struct PromptVariant {
  std::string name;               // column title, e.g. "Fru. Nam."
  std::vector<Subject> subjects;  // by model; open results only are read
};

// Table G: open questions by wording, originals and modified. `base` names the wording of
// the main responses. No rows without variants.
Table prompt_table(const std::vector<Subject>& subjects,
                   const std::vector<PromptVariant>& variants, const ItemColumns& items,
                   const std::string& base);

}  // namespace probe
