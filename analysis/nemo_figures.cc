#include "analysis/nemo_figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/statistics.h"

namespace probe {
namespace {

constexpr std::pair<Side, const char*> kSides[] = {{Side::original, "original"},
                                                   {Side::modified, "modified"}};

// Marks the title of a figure that rests on answers made up for show.
std::string title_of(const std::string& title, const std::vector<Subject>& subjects) {
  return title + (made_up_words(subjects).empty() ? "" : " (responses made up for show)");
}

Mark score_mark(const std::string& group, const std::string& x, const std::string& series,
                const std::optional<TypeScore>& score) {
  Mark mark{series, group, x, {}, {}, {}};
  if (score) {
    mark.value = score->mean;
    mark.interval = score->interval;
  }
  return mark;
}

void add_once(std::vector<std::string>& list, const std::string& name) {
  if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string family_of(const Subject& subject) {
  return subject.facts.family.empty() ? "family unknown" : subject.facts.family;
}

Mark hit_mark(const std::string& group, const std::string& x, const std::string& series,
              const std::optional<MatchScore>& score) {
  Mark mark{series, group, x, {}, {}, {}};
  if (score && score->hit.total > 0) {
    mark.value = 100.0 * static_cast<double>(score->hit.correct) /
                 static_cast<double>(score->hit.total);
    const Interval interval = wilson_interval(score->hit);
    mark.interval = Interval{100.0 * interval.low, 100.0 * interval.high};
  }
  return mark;
}

}  // namespace

Figure choice_by_encoder_figure(const std::vector<Subject>& subjects, const ItemColumns& items,
                                const std::vector<ModelFacts>& models) {
  Figure figure;
  figure.kind = Figure::Kind::bars;
  figure.name = "fig3_choice_by_encoder";
  figure.title = title_of("Fig. 3: choice accuracy of encoders and the MLLMs built on them",
                          subjects);
  figure.x_title = "encoder, then its MLLMs";
  figure.y_title = "choice accuracy, %";
  std::vector<std::string> groups;
  bool unknown = false;
  for (const Subject& subject : subjects) {
    // A fine-tuned tower has no text side; it belongs to Fig. 5.
    if (subject.is_encoder && subject.results.empty() && is_model_tower(subject.name, models)) {
      continue;
    }
    const std::string& group = subject.is_encoder ? subject.name : subject.facts.encoder;
    if (group.empty()) {
      unknown = true;
    } else {
      add_once(groups, group);
    }
  }
  if (unknown) groups.push_back(kEncoderUnknown);
  bool any_mllm = false;
  for (const std::string& group : groups) {
    const auto encoder = std::find_if(subjects.begin(), subjects.end(), [&](const Subject& s) {
      return s.is_encoder && s.name == group;
    });
    if (group != kEncoderUnknown) {
      for (const auto& [side, series] : kSides) {
        figure.marks.push_back(score_mark(
            group, group + " (encoder)", series,
            encoder == subjects.end()
                ? std::nullopt
                : score_side(*encoder, items, QuestionType::choice, side)));
      }
    }
    for (const Subject& subject : subjects) {
      if (subject.is_encoder) continue;
      const std::string& base = subject.facts.encoder;
      if ((base.empty() ? kEncoderUnknown : base) != group) continue;
      any_mllm = true;
      for (const auto& [side, series] : kSides) {
        figure.marks.push_back(score_mark(group, subject.name, series,
                                          score_side(subject, items, QuestionType::choice, side)));
      }
    }
  }
  figure.caption = made_up_words(subjects) +
                   "Your items; all on the same questions. MLLMs: mean over the circular shifts. "
                   "Wilson intervals at 95 %, each question counted once.";
  if (!any_mllm) figure.caption += " The bars of MLLMs need responses (--responses).";
  return figure;
}

Figure size_figure(const std::vector<Subject>& subjects, const ItemColumns& items) {
  Figure figure;
  figure.kind = Figure::Kind::lines;
  figure.name = "fig4_size";
  figure.title = title_of("Fig. 4: LLM size against average accuracy", subjects);
  figure.x_title = "log10 of the LLM's size in 10^9 parameters";
  figure.y_title = "average of open, choice and unsolvable, %";
  std::vector<const Subject*> sized;
  std::vector<std::string> families, left_out;
  for (const Subject& subject : subjects) {
    if (subject.is_encoder) continue;
    const bool drawn = subject.facts.llm_size_b &&
                       (side_average(subject, items, Side::original) ||
                        side_average(subject, items, Side::modified));
    if (!drawn) {
      left_out.push_back(subject.name);
      continue;
    }
    sized.push_back(&subject);
    add_once(families, family_of(subject));
  }
  std::stable_sort(sized.begin(), sized.end(), [](const Subject* a, const Subject* b) {
    return *a->facts.llm_size_b < *b->facts.llm_size_b;
  });
  for (const std::string& family : families) {
    for (const auto& [side, words] : kSides) {
      for (const Subject* subject : sized) {
        if (family_of(*subject) != family) continue;
        Mark mark;
        mark.series = family + ", " + words;
        mark.x = fmt::format("{} ({:g} B)", subject->name, *subject->facts.llm_size_b);
        mark.position = std::log10(*subject->facts.llm_size_b);
        mark.value = side_average(*subject, items, side);
        figure.marks.push_back(std::move(mark));
      }
    }
  }
  figure.caption = made_up_words(subjects) + "Your items.";
  if (!left_out.empty()) {
    figure.caption += " Not drawn, size or average unknown: " + join(left_out) + ".";
  }
  return figure;
}

Figure matching_figure(const std::vector<EncoderResult>& towers,
                       const std::vector<ModelFacts>& models, int k) {
  Figure figure;
  figure.kind = Figure::Kind::bars;
  figure.name = "fig5_matching";
  figure.title = fmt::format("Fig. 5: top-{} matching of each tower's image representation", k);
  figure.x_title = "tower";
  figure.y_title = fmt::format("hit@{}, %", k);
  std::vector<std::string> groups;
  const auto group_of = [&](const EncoderResult& tower) {
    const std::string base = base_of_tower(tower.name, models);
    return base.empty() ? std::string(kEncoderUnknown) : base;
  };
  for (const EncoderResult& tower : towers) add_once(groups, group_of(tower));
  for (const std::string& group : groups) {
    for (const EncoderResult& tower : towers) {
      if (group_of(tower) != group) continue;
      figure.marks.push_back(hit_mark(group, tower.name, "O2O", tower.o2o));
      figure.marks.push_back(hit_mark(group, tower.name, "A2O", tower.a2o));
    }
  }
  figure.caption =
      "Mean tokens, cosine; a query never finds itself, a modified twin never the image it was "
      "made from. Queries whose category no gallery image has are left out. Wilson intervals at "
      "95 %. Panel: the encoder a tower was fine-tuned from, or is.";
  return figure;
}

}  // namespace probe
