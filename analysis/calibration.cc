#include "analysis/calibration.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/statistics.h"

namespace probe {
namespace {

double share(const Accuracy& accuracy) {
  return static_cast<double>(accuracy.correct) / static_cast<double>(accuracy.total);
}

}  // namespace

Calibration calibrate(const std::vector<Confidence>& answers, int bins) {
  Calibration calibration;
  for (int i = 0; i < bins; ++i) {
    calibration.bins.push_back({static_cast<double>(i) / bins, static_cast<double>(i + 1) / bins,
                                0.0, {}});
  }
  for (const Confidence& answer : answers) {
    const int upper = static_cast<int>(std::ceil(answer.probability * bins));
    ReliabilityBin& bin = calibration.bins[std::clamp(upper - 1, 0, bins - 1)];
    bin.mean_probability += answer.probability;
    bin.accuracy.add(answer.correct);
    calibration.mean_probability += answer.probability;
    calibration.accuracy.add(answer.correct);
  }
  if (answers.empty()) return calibration;
  const auto total = static_cast<double>(answers.size());
  calibration.mean_probability /= total;
  for (ReliabilityBin& bin : calibration.bins) {
    if (bin.accuracy.total == 0) continue;
    const auto count = static_cast<double>(bin.accuracy.total);
    bin.mean_probability /= count;
    const double gap = std::abs(share(bin.accuracy) - bin.mean_probability);
    calibration.expected_error += gap * count / total;
    calibration.largest_error = std::max(calibration.largest_error, gap);
  }
  return calibration;
}

std::vector<Confidence> choice_confidences(const std::vector<ChoiceOutcome>& outcomes,
                                           const ProbabilityModel& model) {
  std::vector<Confidence> answers;
  for (const ChoiceOutcome& outcome : outcomes) {
    answers.push_back({choice_probabilities(outcome, model)[outcome.picked], outcome.correct()});
  }
  return answers;
}

Table calibration_table(const std::optional<Calibration>& calibration,
                        const std::optional<ProbabilityModel>& model) {
  Table table;
  table.name = "calibration";
  table.title = "Calibration of the picked choice's probability";
  table.columns = {{"rule", "probability by"},
                   {"scale", "learned scale"},
                   {"bias", "learned bias"},
                   {"answers", "answers"},
                   {"mean_probability_percent", "mean probability %"},
                   {"accuracy", "accuracy %"},
                   {"ece_points", fmt::format("ECE, points ({} bins)", kReliabilityBins)},
                   {"largest_error_points", "largest error, points"}};
  if (!calibration || !model || calibration->accuracy.total == 0) {
    table.rows.emplace_back(table.columns.size());
    if (!model) table.note = "unknown: the bundle of this encoder has no learned scale, or is not here";
    return table;
  }
  table.rows.push_back(
      {text_cell(model->sigmoid ? "sigmoid of each choice" : "softmax over the choices"),
       number_cell(model->scale, 3), model->sigmoid ? number_cell(model->bias, 3) : unknown_cell(),
       count_cell(calibration->accuracy.total),
       number_cell(100 * calibration->mean_probability, 1), accuracy_cell(calibration->accuracy),
       number_cell(100 * calibration->expected_error, 1),
       number_cell(100 * calibration->largest_error, 1)});
  return table;
}

Table reliability_table(const Calibration& calibration) {
  Table table;
  table.name = "reliability";
  table.title = "Reliability";
  table.columns = {{"above", "probability above"},
                   {"up_to", "up to"},
                   {"mean_probability_percent", "mean probability %"},
                   {"accuracy", "accuracy % [95 %] (right/all)"}};
  for (const ReliabilityBin& bin : calibration.bins) {
    if (bin.accuracy.total == 0) continue;
    table.rows.push_back({number_cell(bin.low, 3), number_cell(bin.high, 3),
                          number_cell(100 * bin.mean_probability, 1),
                          accuracy_cell(bin.accuracy, wilson_interval(bin.accuracy))});
  }
  return table;
}

Figure reliability_figure(const Calibration& calibration) {
  Figure figure;
  figure.kind = Figure::Kind::lines;
  figure.name = "reliability";
  figure.title = "Reliability of the picked choice's probability";
  figure.x_title = "mean probability";
  figure.y_title = "accuracy";
  figure.caption = fmt::format("{} bins of equal width; 95 % Wilson intervals; on the diagonal a "
                               "probability means what it says. ECE {:.1f} points.",
                               kReliabilityBins, 100 * calibration.expected_error);
  for (const double end : {0.0, 1.0}) {
    figure.marks.push_back({"as it says", "", fmt::format("{:g}", end), end, end, std::nullopt});
  }
  for (const ReliabilityBin& bin : calibration.bins) {
    if (bin.accuracy.total == 0) continue;
    figure.marks.push_back({"measured", "",
                            fmt::format("{:.2f} to {:.2f} ({})", bin.low, bin.high,
                                        bin.accuracy.total),
                            bin.mean_probability, share(bin.accuracy),
                            wilson_interval(bin.accuracy)});
  }
  return figure;
}

}  // namespace probe
