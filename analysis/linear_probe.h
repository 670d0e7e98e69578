// Logistic regression on frozen vectors, as in DINOv2's evaluation and scikit-learn's
// LogisticRegression: L2 penalty, L-BFGS, intercepts not penalised.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

namespace probe {

struct ProbeOptions {
  double c = 1.0;  // inverse strength of the penalty, > 0
  double tolerance = 1e-6;  // |gradient| / max(1, |parameters|) of the mean loss at the end
  int max_iterations = 1000;
};

// Minimum of C * sum of losses + |weights|^2 / 2. With two classes the loss is binary and
// there is one row: the log-odds of class 1 (scikit-learn's convention).
struct LinearProbe {
  Eigen::MatrixXd weights;     // [classes, d], or [1, d]
  Eigen::VectorXd intercepts;  // [classes], or [1]
  int iterations = 0;
  std::string trouble;         // why it stopped short of the tolerance; empty: it did not
};

// `vectors` [n, d]; `classes` [n], each from 0 to class_count - 1, every one of which should
// occur: the intercept of another is not penalised and runs away. `start` may be null: from
// zeros.
// Throws Error(input) if there are fewer than two classes with vectors, or a value is not
// finite; Error(usage) if C is not positive.
LinearProbe fit_linear_probe(const Eigen::MatrixXd& vectors, const std::vector<int>& classes,
                             int class_count, const ProbeOptions& options,
                             const LinearProbe* start);

// Logits [n, class_count]; softmax of a row gives the probabilities.
Eigen::MatrixXd probe_logits(const LinearProbe& probe, const Eigen::MatrixXd& vectors);

// The values of C that are tried: `count` of them, even in the exponent, from 1e-6 to 1e5
// (DINOv2 takes 45). REQUIRES count >= 2.
std::vector<double> sweep_values(int count);

// How one value of C did on vectors held out.
struct SweepPoint {
  double c = 0.0, accuracy = 0.0, loss = 0.0;  // loss: mean cross-entropy
};

// Trains on some and scores on the others for each C, ascending.
std::vector<SweepPoint> sweep_probe(const Eigen::MatrixXd& train,
                                    const std::vector<int>& train_classes,
                                    const Eigen::MatrixXd& held_out,
                                    const std::vector<int>& held_out_classes, int class_count,
                                    const std::vector<double>& values,
                                    const ProbeOptions& options);

// The C of the highest accuracy; of equal ones that of the lowest loss, then the smallest.
double best_c(const std::vector<SweepPoint>& points);

}  // namespace probe
