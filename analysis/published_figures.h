// NEMO's Figures 3 and 4 from published scores alone. They stand in the panel "published,
// NEMO images, not comparable" (DESIGN.md, ruling 2).
#pragma once

#include <vector>

#include "analysis/figure.h"
#include "analysis/published_scores.h"

namespace probe {

// published_fig3, published_fig4. The encoders' own bars of Fig. 3 are unknown: the paper
// prints them as a picture only. Fig. 4 shows families with two or more known LLM sizes.
std::vector<Figure> published_figures(const std::vector<PublishedScore>& scores);

}  // namespace probe
