#include "analysis/projection.h"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "analysis/similarity.h"

namespace probe {

Projection project_to_plane(const RowMatrix& vectors) {
  const Eigen::MatrixXd data = centered(vectors).cast<double>();
  const bool by_features = data.rows() > data.cols();
  const Eigen::MatrixXd products = by_features ? Eigen::MatrixXd(data.transpose() * data)
                                               : Eigen::MatrixXd(data * data.transpose());
  Projection projection;
  projection.coordinates.setZero(data.rows(), 2);
  const double variance = products.trace();
  if (variance <= 0) return projection;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(products);  // ascending
  for (int c = 0; c < 2 && c < products.rows(); ++c) {
    const Eigen::Index at = products.rows() - 1 - c;
    const double eigenvalue = solver.eigenvalues()[at];
    if (eigenvalue <= 1e-12 * variance) break;
    Eigen::VectorXd loading = solver.eigenvectors().col(at);
    if (!by_features) loading = data.transpose() * loading / std::sqrt(eigenvalue);
    Eigen::Index largest = 0;
    loading.cwiseAbs().maxCoeff(&largest);
    if (loading[largest] < 0) loading = -loading;
    projection.coordinates.col(c) = data * loading;
    projection.explained[static_cast<std::size_t>(c)] = eigenvalue / variance;
  }
  return projection;
}

}  // namespace probe
