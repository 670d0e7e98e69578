// All of NEMO's comparisons that the data at hand allow, added to a report; what is lacking
// for the others is said in a note.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/comparison.h"
#include "analysis/nemo_tables.h"

namespace probe {

struct NemoInput {
  const std::vector<Subject>& subjects;  // encoders, then MLLMs
  const std::vector<PromptVariant>& variants;
  const std::vector<EncoderResult>& towers;
  const std::vector<ModelFacts>& models;
  const ItemColumns& items;
  int k = 5;  // of matching
  std::uint64_t seed = 0;
};

// Tables may come without rows; callers drop those.
void add_nemo_analyses(const NemoInput& input, Report& report);

}  // namespace probe
