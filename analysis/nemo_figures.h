// NEMO's Figures 3, 4 and 5 as data, from the user's own encoders and responses.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison.h"
#include "analysis/figure.h"
#include "analysis/subject.h"

namespace probe {

// Fig. 3: choice accuracy of each encoder and, beside it, of the MLLMs built on it. Panel:
// encoder ("encoder unknown" last); series: "original" and "modified"; percent with intervals.
// An encoder that was not measured here is an unknown bar.
Figure choice_by_encoder_figure(const std::vector<Subject>& subjects, const ItemColumns& items,
                                const std::vector<ModelFacts>& models);

// Fig. 4: average of open, choice and unsolvable against the size of the LLM. Line: family and
// side; position: log10 of the size in 10^9 parameters. MLLMs of unknown size or average are
// not drawn, and named in the caption. No marks without MLLMs.
Figure size_figure(const std::vector<Subject>& subjects, const ItemColumns& items);

// Fig. 5: O2O and A2O hit@k of each tower, in percent with Wilson intervals. Panel: the
// encoder the tower was fine-tuned from (or is).
Figure matching_figure(const std::vector<EncoderResult>& towers,
                       const std::vector<ModelFacts>& models, int k);

inline constexpr const char* kEncoderUnknown = "encoder unknown";

}  // namespace probe
