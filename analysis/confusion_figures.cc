#include "analysis/confusion_figures.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace probe {
namespace {

using Pair = std::pair<std::string, std::string>;  // right name, picked name

struct Confusion {
  std::map<Pair, double> offered;  // every pair that could be picked: weight of the answers
  std::map<std::string, double> asked;  // by right name
};

Confusion count_pairs(const Subject& subject, const ItemColumns& items, Side side) {
  Confusion confusion;
  for (const QuestionResult& result : subject.results) {
    const Question& question = *result.question;
    if (question.type != QuestionType::choice || side_of(items.condition[result.item]) != side) {
      continue;
    }
    for (const std::string& choice : question.choices) {
      confusion.offered.try_emplace({question.answer_text, choice}, 0.0);
    }
    const double weight = 1.0 / static_cast<double>(result.answers.size());
    confusion.asked[question.answer_text] += 1.0;
    for (const GivenAnswer& answer : result.answers) {
      const std::string& picked = answer.picked.empty() ? kUnparsedName : answer.picked;
      confusion.offered[{question.answer_text, picked}] += weight;
    }
  }
  return confusion;
}

// The diagonal first, so that rows and columns come in the same order; then the rest, columns
// that are no row last.
Figure heatmap(const Confusion& confusion) {
  Figure figure;
  figure.kind = Figure::Kind::heatmap;
  figure.x_title = "picked name";
  figure.y_title = "right name; percent of its questions";
  const auto add = [&](const Pair& pair, double weight) {
    figure.marks.push_back(
        {pair.first, "", pair.second, {}, 100.0 * weight / confusion.asked.at(pair.first), {}});
  };
  for (const auto& [name, count] : confusion.asked) {
    add({name, name}, confusion.offered.at({name, name}));
  }
  std::vector<std::pair<Pair, double>> rest;
  for (const auto& entry : confusion.offered) {
    if (entry.first.first != entry.first.second) rest.push_back(entry);
  }
  std::stable_sort(rest.begin(), rest.end(), [](const auto& a, const auto& b) {
    const bool a_last = a.first.second == kUnparsedName, b_last = b.first.second == kUnparsedName;
    return std::tie(a_last, a.first.second) < std::tie(b_last, b.first.second);
  });
  for (const auto& [pair, weight] : rest) add(pair, weight);
  return figure;
}

Figure chord(const Confusion& confusion) {
  Figure figure;
  figure.kind = Figure::Kind::chord;
  figure.x_title = "picked name";
  figure.y_title = "questions";
  for (const auto& [pair, weight] : confusion.offered) {
    if (pair.first == pair.second || weight == 0.0) continue;
    figure.marks.push_back({pair.first, "", pair.second, {}, weight, {}});
  }
  return figure;
}

}  // namespace

std::string machine_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 128 && std::isalnum(byte) != 0;
    out += plain ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return out;
}

std::vector<Figure> confusion_figures(const std::vector<Subject>& subjects,
                                      const ItemColumns& items) {
  const bool any_modified = std::any_of(items.condition.begin(), items.condition.end(),
                                        [](const std::string& condition) {
                                          return side_of(condition) == Side::modified;
                                        });
  const Side side = any_modified ? Side::modified : Side::original;
  std::vector<Figure> figures;
  std::set<std::string> names;
  for (const Subject& subject : subjects) {
    const Confusion confusion = count_pairs(subject, items, side);
    if (confusion.asked.empty()) continue;
    std::string name = machine_name(subject.name);
    for (int i = 2; !names.insert(name).second; ++i) {
      name = machine_name(subject.name) + "_" + std::to_string(i);
    }
    const std::string made_up = subject.made_up ? " (made up for show)" : "";
    const std::string about = subject.name + ", choice questions on " +
                              (any_modified ? "modified" : "original") + " items" + made_up;
    const std::string origin =
        (subject.made_up ? std::string("Made up for show, not measured. ") : std::string()) +
        "Your items. " +
        (subject.is_encoder ? "" : "Mean over the circular shifts; what could not be read goes to "
                                   "(unparsed). ");
    Figure map = heatmap(confusion), ribbons = chord(confusion);
    map.name = "fig_g_confusion_" + name;
    map.title = "Fig. G: confusion of " + about;
    map.caption = origin + "A pair without a cell was never offered.";
    ribbons.name = "fig_g_chord_" + name;
    ribbons.title = "Fig. G: mistakes of " + about;
    ribbons.caption = origin + "A ribbon runs from the right name to the one picked instead.";
    figures.push_back(std::move(map));
    figures.push_back(std::move(ribbons));
  }
  return figures;
}

}  // namespace probe
