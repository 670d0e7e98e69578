#include "analysis/linear_probe.h"

#include <lbfgs.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "probe/core/error.h"

namespace probe {
namespace {

// The objective divided by C * n: the mean loss plus |weights|^2 / (2 C n). Parameters are
// the weights row by row, then the intercepts.
struct Objective {
  const Eigen::MatrixXd& vectors;
  const std::vector<int>& classes;
  Eigen::Index rows;  // of the weights
  double penalty;     // 1 / (C n)
  double gradient_norm = 0.0;  // relative, of the last iteration
  int iterations = 0;

  using Weights = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic,
                                                 Eigen::RowMajor>>;
  using WeightGradient =
      Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

  Eigen::Index size() const { return rows * (vectors.cols() + 1); }

  double evaluate(const double* parameters, double* gradient) const {
    const Eigen::Index d = vectors.cols(), n = vectors.rows();
    const Weights weights(parameters, rows, d);
    const Eigen::Map<const Eigen::VectorXd> intercepts(parameters + rows * d, rows);
    Eigen::MatrixXd errors = vectors * weights.transpose();
    errors.rowwise() += intercepts.transpose();
    const double loss = rows == 1 ? binary(errors) : multinomial(errors);
    errors /= static_cast<double>(n);
    WeightGradient(gradient, rows, d) = errors.transpose() * vectors + penalty * weights;
    Eigen::Map<Eigen::VectorXd>(gradient + rows * d, rows) = errors.colwise().sum().transpose();
    return loss / static_cast<double>(n) + 0.5 * penalty * weights.squaredNorm();
  }

  // Both turn logits into derivatives of the summed loss, which they return.
  double multinomial(Eigen::MatrixXd& logits) const {
    double loss = 0.0;
    for (Eigen::Index i = 0; i < logits.rows(); ++i) {
      const double largest = logits.row(i).maxCoeff();
      const double right = logits(i, classes[i]);
      logits.row(i) = (logits.row(i).array() - largest).exp();
      const double sum = logits.row(i).sum();
      loss += std::log(sum) + largest - right;
      logits.row(i) /= sum;
      logits(i, classes[i]) -= 1.0;
    }
    return loss;
  }

  double binary(Eigen::MatrixXd& logits) const {
    double loss = 0.0;
    for (Eigen::Index i = 0; i < logits.rows(); ++i) {
      const double z = logits(i, 0), y = classes[i];
      loss += std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))) - y * z;
      logits(i, 0) = 1.0 / (1.0 + std::exp(-z)) - y;
    }
    return loss;
  }
};

double evaluate_objective(void* instance, const double* parameters, double* gradient, int,
                          double) {
  return static_cast<const Objective*>(instance)->evaluate(parameters, gradient);
}

int note_progress(void* instance, const double*, const double*, double, double parameter_norm,
                  double gradient_norm, double, int, int iteration, int) {
  Objective& objective = *static_cast<Objective*>(instance);
  objective.gradient_norm = gradient_norm / std::max(1.0, parameter_norm);
  objective.iterations = iteration;
  return 0;
}

void check_input(const Eigen::MatrixXd& vectors, const std::vector<int>& classes,
                 const ProbeOptions& options) {
  if (!(options.c > 0) || !std::isfinite(options.c)) {
    throw Error(ErrorKind::usage,
                "linear probe: expected a positive C, got " + std::to_string(options.c));
  }
  const std::size_t present = std::set<int>(classes.begin(), classes.end()).size();
  if (present < 2) {
    throw Error(ErrorKind::input, "linear probe: expected vectors of two classes or more, got " +
                                      std::to_string(present));
  }
  if (!vectors.allFinite()) {
    throw Error(ErrorKind::input, "linear probe: expected finite values, got NaN or infinity");
  }
}

double mean_loss(const Eigen::MatrixXd& logits, const std::vector<int>& classes) {
  double loss = 0.0;
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    const double largest = logits.row(i).maxCoeff();
    loss += std::log((logits.row(i).array() - largest).exp().sum()) + largest -
            logits(i, classes[i]);
  }
  return loss / static_cast<double>(logits.rows());
}

double accuracy_of(const Eigen::MatrixXd& logits, const std::vector<int>& classes) {
  int right = 0;
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    Eigen::Index best = 0;
    logits.row(i).maxCoeff(&best);
    right += best == classes[i] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(logits.rows());
}

}  // namespace

LinearProbe fit_linear_probe(const Eigen::MatrixXd& vectors, const std::vector<int>& classes,
                             int class_count, const ProbeOptions& options,
                             const LinearProbe* start) {
  check_input(vectors, classes, options);
  const auto n = static_cast<double>(vectors.rows());
  const Eigen::Index d = vectors.cols();
  Objective objective{vectors, classes, class_count == 2 ? 1 : class_count,
                      1.0 / (options.c * n)};
  const int size = static_cast<int>(objective.size());
  const std::unique_ptr<double, void (*)(double*)> parameters(lbfgs_malloc(size), lbfgs_free);
  if (!parameters) throw std::bad_alloc();
  std::fill_n(parameters.get(), size, 0.0);
  Objective::WeightGradient weights(parameters.get(), objective.rows, d);
  Eigen::Map<Eigen::VectorXd> intercepts(parameters.get() + objective.rows * d, objective.rows);
  if (start != nullptr) {
    weights = start->weights;
    intercepts = start->intercepts;
  }
  lbfgs_parameter_t settings;
  lbfgs_parameter_init(&settings);
  settings.m = 10;  // as scipy and scikit-learn
  settings.epsilon = options.tolerance;
  settings.max_iterations = options.max_iterations;
  LinearProbe probe;
  const int code = lbfgs(size, parameters.get(), nullptr, evaluate_objective, note_progress,
                         &objective, &settings);
  probe.weights = weights;
  probe.intercepts = intercepts;
  probe.iterations = objective.iterations;
  const bool done = code == LBFGS_SUCCESS || code == LBFGS_STOP || code == LBFGS_ALREADY_MINIMIZED;
  // Close to the optimum the line search runs out of digits before the gradient is small.
  if (!done && objective.gradient_norm > 100 * options.tolerance) {
    probe.trouble = code == LBFGSERR_MAXIMUMITERATION
                        ? "stopped after " + std::to_string(options.max_iterations) + " iterations"
                        : std::string("the line search failed");
  }
  return probe;
}

Eigen::MatrixXd probe_logits(const LinearProbe& probe, const Eigen::MatrixXd& vectors) {
  Eigen::MatrixXd logits = vectors * probe.weights.transpose();
  logits.rowwise() += probe.intercepts.transpose();
  if (logits.cols() > 1) return logits;
  Eigen::MatrixXd both = Eigen::MatrixXd::Zero(logits.rows(), 2);
  both.col(1) = logits.col(0);
  return both;
}

std::vector<double> sweep_values(int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(std::pow(10.0, -6.0 + 11.0 * i / (count - 1)));
  return values;
}

std::vector<SweepPoint> sweep_probe(const Eigen::MatrixXd& train,
                                    const std::vector<int>& train_classes,
                                    const Eigen::MatrixXd& held_out,
                                    const std::vector<int>& held_out_classes, int class_count,
                                    const std::vector<double>& values,
                                    const ProbeOptions& options) {
  std::vector<SweepPoint> points;
  LinearProbe probe;
  for (const double c : values) {
    ProbeOptions one = options;
    one.c = c;
    // The last optimum is near the next one.
    const LinearProbe before = probe;
    probe = fit_linear_probe(train, train_classes, class_count, one,
                             points.empty() ? nullptr : &before);
    const Eigen::MatrixXd logits = probe_logits(probe, held_out);
    points.push_back({c, accuracy_of(logits, held_out_classes),
                      mean_loss(logits, held_out_classes)});
  }
  return points;
}

double best_c(const std::vector<SweepPoint>& points) {
  const auto better = [](const SweepPoint& a, const SweepPoint& b) {
    if (a.accuracy != b.accuracy) return a.accuracy > b.accuracy;
    return a.loss < b.loss;
  };
  SweepPoint best = points.front();
  for (const SweepPoint& point : points) {
    if (better(point, best)) best = point;
  }
  return best.c;
}

}  // namespace probe
