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

// What follows from a row's other cells, in percent and points; nullopt where a cell it needs
// is unknown.
struct RecomputedScore {
  std::optional<double> original_average, modified_average;  // of open, choice, unsolvable
  std::optional<double> delta_open, delta_choice, delta_unsolvable, delta_average;
};

// `with_derived`: cells that were themselves computed from others count as known. The family
// "random" has no open questions; its average is that of choice and unsolvable, as printed.
RecomputedScore recompute(const PublishedScore& score, bool with_derived);

// The panel "published, NEMO images, not comparable", in the layout of Table 2
// without the deviations. Deltas are computed from the row's cells, without those that were
// derived; the last column names these.
Table published_table(const std::vector<PublishedScore>& scores);

}  // namespace probe
