#include "analysis/published_figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace probe {
namespace {

constexpr const char* kPanel = "Published, NEMO images, not comparable";

struct SideOf {
  const char* words;
  PublishedCondition PublishedScore::* condition;
};
constexpr SideOf kSides[] = {{"original", &PublishedScore::original},
                             {"modified", &PublishedScore::modified}};

Figure encoders_figure(const std::vector<PublishedScore>& scores) {
  Figure figure;
  figure.kind = Figure::Kind::bars;
  figure.name = "published_fig3";
  figure.title = std::string(kPanel) + ": Fig. 3, choice accuracy by vision encoder";
  figure.x_title = "encoder, then its MLLMs";
  figure.y_title = "choice accuracy, %";
  figure.caption =
      "From NEMO's Table 2; measured on NEMO's images, so nothing is computed between these bars "
      "and yours. Encoders: printed as a picture only, so unknown. No intervals: the counts are "
      "not printed.";
  std::vector<std::string> encoders;
  for (const PublishedScore& score : scores) {
    if (score.vision_encoder.empty()) continue;
    if (std::find(encoders.begin(), encoders.end(), score.vision_encoder) == encoders.end()) {
      encoders.push_back(score.vision_encoder);
    }
  }
  for (const std::string& encoder : encoders) {
    for (const SideOf& side : kSides) {
      figure.marks.push_back({side.words, encoder, encoder + " (encoder)", {}, {}, {}});
    }
    for (const PublishedScore& score : scores) {
      if (score.vision_encoder != encoder) continue;
      for (const SideOf& side : kSides) {
        figure.marks.push_back(
            {side.words, encoder, score.model, {}, (score.*side.condition).choice, {}});
      }
    }
  }
  return figure;
}

Figure sizes_figure(const std::vector<PublishedScore>& scores) {
  Figure figure;
  figure.kind = Figure::Kind::lines;
  figure.name = "published_fig4";
  figure.title = std::string(kPanel) + ": Fig. 4, LLM size against average accuracy";
  figure.x_title = "log10 of the LLM's size in 10^9 parameters";
  figure.y_title = "average of open, choice and unsolvable, %";
  figure.caption =
      "From NEMO's Table 2; measured on NEMO's images. Size of the LLM, not of the whole MLLM. "
      "Families with two or more known sizes; NEMO draws LLaVA-NeXT and InternVL2.";
  std::vector<std::string> families;
  std::map<std::string, std::vector<const PublishedScore*>> members;
  for (const PublishedScore& score : scores) {
    if (!score.llm_size_b || *score.llm_size_b <= 0.0) continue;
    if (members[score.family].empty()) families.push_back(score.family);
    members[score.family].push_back(&score);
  }
  for (const std::string& family : families) {
    auto& list = members[family];
    if (list.size() < 2) continue;
    std::stable_sort(list.begin(), list.end(),
                     [](const PublishedScore* a, const PublishedScore* b) {
                       return *a->llm_size_b < *b->llm_size_b;
                     });
    for (const SideOf& side : kSides) {
      for (const PublishedScore* score : list) {
        Mark mark;
        mark.series = family + ", " + side.words;
        mark.x = fmt::format("{} ({:g} B)", score->model, *score->llm_size_b);
        mark.position = std::log10(*score->llm_size_b);
        mark.value = (score->*side.condition).average;
        figure.marks.push_back(std::move(mark));
      }
    }
  }
  return figure;
}

}  // namespace

std::vector<Figure> published_figures(const std::vector<PublishedScore>& scores) {
  std::vector<Figure> figures;
  for (Figure figure : {encoders_figure(scores), sizes_figure(scores)}) {
    if (!figure.marks.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace probe
