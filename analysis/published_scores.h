// Published MLLM scores in the layout of NEMO's Table 2 as CSV. They were measured on
// other images than the user's, so they stand in a panel of their own and nothing is
// computed between the two (DESIGN.md, ruling 2).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/table.h"

namespace probe {

// Percent; nullopt where the text of the paper does not say.
struct PublishedCondition {
  std::optional<double> open, choice, choice_sd, unsolvable, unsolvable_sd, average;
};

struct PublishedScore {
  std::string family, model, vision_encoder, llm;
  std::optional<double> llm_size_b;  // 10^9 parameters
  PublishedCondition original, modified;
  std::vector<std::string> derived;  // cells that were computed from others, by column name
};

// Rows of the CSV, header and fields. `where` begins every message.
// Throws Error(input) for a missing column or a cell that is not a number from 0 to 100.
std::vector<PublishedScore> parse_published(const std::vector<std::string>& header,
                                            const std::vector<std::vector<std::string>>& rows,
                                            const std::string& where);

// The panel "published, NEMO images, not comparable". The last column names the
// cells that were derived.
Table published_table(const std::vector<PublishedScore>& scores);

}  // namespace probe
