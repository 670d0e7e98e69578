#include "analysis/confusion.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace probe {
namespace {

using Pair = std::pair<std::pair<std::string, std::string>, std::int64_t>;

std::vector<Pair> mistakes(const ConfusionCounts& counts) {
  std::vector<Pair> pairs;
  for (const auto& [names, count] : counts) {
    if (names.first != names.second && count > 0) pairs.push_back({names, count});
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.second > b.second; });
  return pairs;
}

// Every name that occurs, and those shown.
struct Names {
  std::set<std::string> shown;
  std::size_t all = 0;
};

Names most_confused(const ConfusionCounts& counts, int wanted) {
  std::map<std::string, std::int64_t> involved;
  for (const auto& [pair, count] : counts) {
    const std::int64_t wrong = pair.first == pair.second ? 0 : count;
    involved[pair.first] += wrong;
    involved[pair.second] += wrong;
  }
  std::vector<std::pair<std::string, std::int64_t>> order(involved.begin(), involved.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Names names{{}, order.size()};
  for (const auto& [name, wrong] : order) {
    if (std::ssize(names.shown) < wanted) names.shown.insert(name);
  }
  return names;
}

std::string caption_of(const Names& names) {
  if (names.shown.size() == names.all) return "All names that occur.";
  return fmt::format("The {} of {} names most often involved in mistakes.", names.shown.size(),
                     names.all);
}

}  // namespace

Table confusion_pairs(const ConfusionCounts& counts, const std::string& table_name, int rows) {
  std::vector<Pair> pairs = mistakes(counts);
  if (std::ssize(pairs) > rows) pairs.resize(static_cast<std::size_t>(rows));
  Table table;
  table.name = table_name;
  table.title = "Most frequent confusions";
  table.columns = {{"answer", "right name"}, {"picked", "picked"}, {"count", "times"}};
  for (const auto& [pair, count] : pairs) {
    table.rows.push_back({text_cell(pair.first), text_cell(pair.second), count_cell(count)});
  }
  return table;
}

Figure confusion_heatmap(const ConfusionCounts& counts, const std::string& figure_name,
                         int names) {
  const Names chosen = most_confused(counts, names);
  std::map<std::string, std::int64_t> totals;
  for (const auto& [pair, count] : counts) totals[pair.first] += count;
  Figure figure;
  figure.kind = Figure::Kind::heatmap;
  figure.name = figure_name;
  figure.title = "Right names (rows) and what was picked (columns)";
  figure.x_title = "picked";
  figure.y_title = "right name";
  figure.caption = caption_of(chosen) + " Percent of all answers to the right name.";
  for (const std::string& right : chosen.shown) {
    for (const std::string& picked : chosen.shown) {
      Mark mark;
      mark.series = right;
      mark.x = picked;
      const auto it = counts.find({right, picked});
      if (totals[right] > 0) {
        mark.value = it == counts.end() ? 0.0
                                        : 100.0 * static_cast<double>(it->second) /
                                              static_cast<double>(totals[right]);
      }
      figure.marks.push_back(std::move(mark));
    }
  }
  return figure;
}

Figure confusion_chord(const ConfusionCounts& counts, const std::string& figure_name,
                       int names) {
  const Names chosen = most_confused(counts, names);
  Figure figure;
  figure.kind = Figure::Kind::chord;
  figure.name = figure_name;
  figure.title = "Confusions: from the right name to the one picked";
  figure.caption = caption_of(chosen) + " Width: number of mistakes.";
  for (const auto& [pair, count] : mistakes(counts)) {
    if (!chosen.shown.contains(pair.first) || !chosen.shown.contains(pair.second)) continue;
    Mark mark;
    mark.series = pair.first;
    mark.x = pair.second;
    mark.value = static_cast<double>(count);
    figure.marks.push_back(std::move(mark));
  }
  return figure;
}

}  // namespace probe
