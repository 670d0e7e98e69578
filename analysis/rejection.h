// Knowing when none of the choices is right: a threshold on the best cosine, swept
// (DESIGN.md section 7, "Unsolvable for encoders").
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/table.h"
#include "analysis/zero_shot.h"

namespace probe {

// Cosines of the choices that name something; kNoneOfThese is none of them.
struct ListedScores {
  std::string question_id, item_id;
  std::vector<float> cosines;  // at least one
  int answer = -1;             // index into cosines; -1: no choice is right (unsolvable)

  bool answerable() const { return answer >= 0; }
  int picked() const;      // ties go to the lower choice
  double best() const;
  double margin() const;   // best less second; 0 with one choice
};

// Questions of types choice and unsolvable whose item is in `row_of`, as score_choices.
std::vector<ListedScores> score_listed(const std::vector<Question>& questions,
                                       const std::map<std::string, int>& row_of,
                                       const RowMatrix& images,
                                       const TextClassifier& classifier);

// The largest of four cosines exceeds that of three even if none is right. Takes the last
// wrong choices away from answerable questions until they are as long as the shortest
// unsolvable one.
std::vector<ListedScores> with_equal_lists(const std::vector<ListedScores>& scores);

// Probability that an answerable question scores above an unsolvable one (ties half),
// with DeLong's 95 % interval (DeLong et al. 1988; cut to 0..1). nullopt if one kind is
// missing.
struct Auroc {
  double value = 0.0;
  Interval interval;
};
std::optional<Auroc> auroc(const std::vector<double>& positives,
                           const std::vector<double>& negatives);

// Answering only the surest questions: those at or above `threshold`.
struct RiskPoint {
  double threshold = 0.0;
  Accuracy answered;      // of all questions so far
  double coverage = 0.0;  // answered / all
};
// One point for each distinct confidence, surest first. REQUIRES equal sizes.
std::vector<RiskPoint> risk_coverage(const std::vector<double>& confidence,
                                     const std::vector<bool>& correct);
// Mean share of mistakes over all coverages 1/n .. 1 (Geifman and El-Yaniv's AURC).
double area_under_risk(const std::vector<RiskPoint>& points);

// AUROC by best cosine and by margin, on lists as asked and on equal ones.
Table rejection_table(const std::vector<ListedScores>& scores);
// Thresholds on the best cosine that keep a share of the answerable questions.
Table rejection_sweep(const std::vector<ListedScores>& scores);
// Accuracy among the surest, by best cosine; answerable questions alone, and all (an
// unsolvable question that is answered is a mistake).
Table risk_table(const std::vector<ListedScores>& scores);
Figure risk_figure(const std::vector<ListedScores>& scores);

}  // namespace probe
