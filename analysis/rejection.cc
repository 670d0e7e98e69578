#include "analysis/rejection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/statistics.h"
#include "probe/core/error.h"

namespace probe {
namespace {

// Ranks from 1, ties averaged.
std::vector<double> midranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double rank = 0.5 * static_cast<double>(first + 1 + end);
    for (; first < end; ++first) ranks[order[first]] = rank;
  }
  return ranks;
}

// Variance of the mean of `values`; 0 for one value.
double variance_of_mean(const std::vector<double>& values) {
  const double deviation = standard_deviation(values);
  return deviation * deviation / static_cast<double>(values.size());
}

bool has_unsolvable(const std::vector<ListedScores>& scores) {
  return std::any_of(scores.begin(), scores.end(), [](const auto& s) { return !s.answerable(); });
}

using Score = double (ListedScores::*)() const;

struct Sides {
  std::vector<double> answerable, unsolvable;
};

Sides sides_of(const std::vector<ListedScores>& scores, Score score) {
  Sides sides;
  for (const ListedScores& listed : scores) {
    (listed.answerable() ? sides.answerable : sides.unsolvable).push_back((listed.*score)());
  }
  return sides;
}

std::vector<RiskPoint> curve(const std::vector<ListedScores>& scores, bool with_unsolvable) {
  std::vector<double> confidence;
  std::vector<bool> correct;
  for (const ListedScores& listed : scores) {
    if (!listed.answerable() && !with_unsolvable) continue;
    confidence.push_back(listed.best());
    correct.push_back(listed.answerable() && listed.picked() == listed.answer);
  }
  return risk_coverage(confidence, correct);
}

struct Curve {
  const char* title;
  std::vector<RiskPoint> points;
};

std::vector<Curve> curves_of(const std::vector<ListedScores>& scores) {
  std::vector<Curve> curves{{"answerable questions", curve(scores, false)}};
  if (has_unsolvable(scores)) curves.push_back({"with unsolvable ones", curve(scores, true)});
  std::erase_if(curves, [](const Curve& c) { return c.points.empty(); });
  return curves;
}

double share(const Accuracy& accuracy) {
  return static_cast<double>(accuracy.correct) / static_cast<double>(accuracy.total);
}

}  // namespace

int ListedScores::picked() const {
  return static_cast<int>(std::max_element(cosines.begin(), cosines.end()) - cosines.begin());
}

double ListedScores::best() const { return *std::max_element(cosines.begin(), cosines.end()); }

double ListedScores::margin() const {
  if (cosines.size() < 2) return 0.0;
  std::vector<float> order = cosines;
  std::partial_sort(order.begin(), order.begin() + 2, order.end(), std::greater<>());
  return double{order[0]} - double{order[1]};
}

std::vector<ListedScores> score_listed(const std::vector<Question>& questions,
                                       const std::map<std::string, int>& row_of,
                                       const RowMatrix& images,
                                       const TextClassifier& classifier) {
  const std::map<std::string, Eigen::Index> class_of = rows_by_name(classifier);
  const RowMatrix unit = unit_rows(images);
  std::vector<ListedScores> scores;
  for (const Question& question : questions) {
    const auto row = row_of.find(question.item_id);
    if (question.type == QuestionType::open || row == row_of.end()) continue;
    ListedScores listed{question.id, question.item_id, {}, -1};
    for (int i = 0; i < std::ssize(question.choices); ++i) {
      const auto text = class_of.find(question.choices[i]);
      if (text == class_of.end()) continue;  // "all other options are incorrect"
      if (i == question.answer) listed.answer = static_cast<int>(listed.cosines.size());
      listed.cosines.push_back(unit.row(row->second).dot(classifier.vectors.row(text->second)));
    }
    if (question.type == QuestionType::unsolvable) listed.answer = -1;
    if (!listed.cosines.empty()) scores.push_back(std::move(listed));
  }
  return scores;
}

std::vector<ListedScores> with_equal_lists(const std::vector<ListedScores>& scores) {
  std::size_t shortest = 0;
  for (const ListedScores& listed : scores) {
    if (listed.answerable()) continue;
    shortest = shortest == 0 ? listed.cosines.size() : std::min(shortest, listed.cosines.size());
  }
  std::vector<ListedScores> equal = scores;
  for (ListedScores& listed : equal) {
    if (!listed.answerable() || shortest == 0) continue;
    for (int i = static_cast<int>(listed.cosines.size()) - 1;
         i >= 0 && listed.cosines.size() > shortest; --i) {
      if (i == listed.answer) continue;
      listed.cosines.erase(listed.cosines.begin() + i);
      if (i < listed.answer) --listed.answer;
    }
  }
  return equal;
}

std::optional<Auroc> auroc(const std::vector<double>& positives,
                           const std::vector<double>& negatives) {
  if (positives.empty() || negatives.empty()) return std::nullopt;
  const auto m = static_cast<double>(positives.size());
  const auto n = static_cast<double>(negatives.size());
  std::vector<double> all = positives;
  all.insert(all.end(), negatives.begin(), negatives.end());
  const std::vector<double> ranks = midranks(all), own = midranks(positives),
                            others = midranks(negatives);
  std::vector<double> above, below;  // of each positive, of each negative
  for (std::size_t i = 0; i < positives.size(); ++i) above.push_back((ranks[i] - own[i]) / n);
  for (std::size_t j = 0; j < negatives.size(); ++j) {
    below.push_back(1.0 - (ranks[positives.size() + j] - others[j]) / m);
  }
  Auroc result;
  result.value = mean_of(above);
  const double half =
      1.959963984540054 * std::sqrt(variance_of_mean(above) + variance_of_mean(below));
  result.interval = {std::max(0.0, result.value - half), std::min(1.0, result.value + half)};
  return result;
}

std::vector<RiskPoint> risk_coverage(const std::vector<double>& confidence,
                                     const std::vector<bool>& correct) {
  std::vector<std::size_t> order(confidence.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return confidence[a] > confidence[b]; });
  std::vector<RiskPoint> points;
  Accuracy answered;
  for (std::size_t i = 0; i < order.size(); ++i) {
    answered.add(correct[order[i]]);
    const double here = confidence[order[i]];
    if (i + 1 < order.size() && confidence[order[i + 1]] == here) continue;
    points.push_back({here, answered,
                      static_cast<double>(answered.total) / static_cast<double>(order.size())});
  }
  return points;
}

double area_under_risk(const std::vector<RiskPoint>& points) {
  double sum = 0.0;
  std::int64_t before = 0;
  for (const RiskPoint& point : points) {
    sum += static_cast<double>(point.answered.total - before) * (1.0 - share(point.answered));
    before = point.answered.total;
  }
  return before == 0 ? 0.0 : sum / static_cast<double>(before);
}

Table rejection_table(const std::vector<ListedScores>& scores) {
  Table table;
  table.name = "rejection";
  table.title = "Telling answerable from unsolvable questions";
  table.columns = {{"score", "score"},
                   {"lists", "choices"},
                   {"auroc", "AUROC [95 %]"},
                   {"answerable", "answerable"},
                   {"unsolvable", "unsolvable"}};
  table.note = "\"equal\": wrong choices taken away until both kinds list as many names";
  const std::vector<ListedScores> equal = with_equal_lists(scores);
  const auto add = [&](const char* name, Score score, const char* lists,
                       const std::vector<ListedScores>& from) {
    const Sides sides = sides_of(from, score);
    const std::optional<Auroc> area = auroc(sides.answerable, sides.unsolvable);
    table.rows.push_back({text_cell(name), text_cell(lists),
                          area ? number_cell(area->value, 3, area->interval) : unknown_cell(),
                          count_cell(std::ssize(sides.answerable)),
                          count_cell(std::ssize(sides.unsolvable))});
  };
  add("best cosine", &ListedScores::best, "as asked", scores);
  add("best cosine", &ListedScores::best, "equal", equal);
  add("margin to the second", &ListedScores::margin, "as asked", scores);
  add("margin to the second", &ListedScores::margin, "equal", equal);
  return table;
}

Table rejection_sweep(const std::vector<ListedScores>& scores) {
  Table table;
  table.name = "rejection_sweep";
  table.title = "Answering only above a threshold on the best cosine";
  table.columns = {{"threshold", "threshold"},
                   {"kept", "answerable, answered %"},
                   {"right", "of these right %"},
                   {"rejected", "unsolvable, rejected % [95 %]"}};
  const std::vector<RiskPoint> answerable = curve(scores, false);
  const Sides sides = sides_of(scores, &ListedScores::best);
  for (const double wanted : {0.5, 0.8, 0.9, 0.95, 0.99, 1.0}) {
    const auto point = std::find_if(answerable.begin(), answerable.end(), [&](const auto& p) {
      return p.coverage >= wanted - 1e-12;
    });
    if (point == answerable.end()) continue;
    Accuracy rejected;
    for (const double best : sides.unsolvable) rejected.add(best < point->threshold);
    table.rows.push_back(
        {number_cell(point->threshold, 4),
         accuracy_cell({point->answered.total, std::ssize(sides.answerable)}),
         accuracy_cell(point->answered), accuracy_cell(rejected, wilson_interval(rejected))});
  }
  return table;
}

Table risk_table(const std::vector<ListedScores>& scores) {
  Table table;
  table.name = "risk_coverage";
  table.title = "Accuracy among the surest answers (by best cosine)";
  table.columns = {{"questions", "questions"}, {"aurc_percent", "mean risk % (AURC)"}};
  const std::vector<int> coverages{100, 90, 80, 70, 50, 25};
  for (const int coverage : coverages) {
    table.columns.push_back({"coverage_" + std::to_string(coverage),
                             "surest " + std::to_string(coverage) + " %"});
  }
  for (const Curve& c : curves_of(scores)) {
    std::vector<Cell> row{text_cell(c.title), number_cell(100 * area_under_risk(c.points), 1)};
    for (const int coverage : coverages) {
      const auto point = std::find_if(c.points.begin(), c.points.end(), [&](const RiskPoint& p) {
        return 100 * p.coverage >= coverage - 1e-9;
      });
      row.push_back(accuracy_cell(point->answered));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Figure risk_figure(const std::vector<ListedScores>& scores) {
  constexpr std::size_t kPoints = 200;
  Figure figure;
  figure.kind = Figure::Kind::lines;
  figure.name = "risk_coverage";
  figure.title = "Risk and coverage, by best cosine";
  figure.x_title = "answered, the surest first (%)";
  figure.y_title = "mistakes among them (%)";
  figure.caption = "An unsolvable question that is answered counts as a mistake.";
  for (const Curve& c : curves_of(scores)) {
    const std::size_t step = c.points.size() / kPoints + 1;
    for (std::size_t i = 0; i < c.points.size(); ++i) {
      if (i % step != 0 && i + 1 != c.points.size()) continue;
      const RiskPoint& point = c.points[i];
      Mark mark;
      mark.series = c.title;
      mark.x = "cosine " + std::to_string(point.threshold);
      mark.position = 100 * point.coverage;
      mark.value = 100 * (1 - share(point.answered));
      figure.marks.push_back(std::move(mark));
    }
  }
  return figure;
}

}  // namespace probe
