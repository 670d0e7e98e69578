#include "analysis/similarity.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace probe {
namespace {

using RowMatrixD = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Eigen::Index kBlock = 256;

// sum over features of (A^T B)^2, which equals the inner product of the kernels.
double inner_by_features(const RowMatrix& a, const RowMatrix& b) {
  Eigen::MatrixXd product = Eigen::MatrixXd::Zero(a.cols(), b.cols());
  for (Eigen::Index begin = 0; begin < a.rows(); begin += kBlock) {
    const Eigen::Index count = std::min(kBlock, a.rows() - begin);
    const RowMatrixD left = a.middleRows(begin, count).cast<double>();
    const RowMatrixD right = b.middleRows(begin, count).cast<double>();
    product.noalias() += left.transpose() * right;
  }
  return product.squaredNorm();
}

double inner_by_items(const RowMatrix& a, const RowMatrix& b) {
  const RowMatrixD left = a.cast<double>(), right = b.cast<double>();
  double sum = 0.0;
  for (Eigen::Index begin = 0; begin < a.rows(); begin += kBlock) {
    const Eigen::Index count = std::min(kBlock, a.rows() - begin);
    const RowMatrixD k = left.middleRows(begin, count) * left.transpose();
    const RowMatrixD l = right.middleRows(begin, count) * right.transpose();
    sum += k.cwiseProduct(l).sum();
  }
  return sum;
}

// Sum of each kernel row without its diagonal, and the diagonal itself.
struct KernelRows {
  Eigen::VectorXd diagonal, off_diagonal;
};

KernelRows kernel_rows(const RowMatrix& vectors) {
  const Eigen::VectorXd total = vectors.cast<double>().colwise().sum().transpose();
  KernelRows rows{Eigen::VectorXd(vectors.rows()), Eigen::VectorXd(vectors.rows())};
  for (Eigen::Index i = 0; i < vectors.rows(); ++i) {
    const Eigen::VectorXd row = vectors.row(i).cast<double>().transpose();
    rows.diagonal[i] = row.squaredNorm();
    rows.off_diagonal[i] = row.dot(total) - rows.diagonal[i];
  }
  return rows;
}

}  // namespace

RowMatrix centered(const RowMatrix& vectors) {
  if (vectors.rows() == 0) return vectors;
  const Eigen::RowVectorXd mean =
      vectors.cast<double>().colwise().sum() / static_cast<double>(vectors.rows());
  RowMatrix result(vectors.rows(), vectors.cols());
  double left = 0.0, all = 0.0;
  for (Eigen::Index i = 0; i < vectors.rows(); ++i) {
    const Eigen::RowVectorXd row = vectors.row(i).cast<double>();
    result.row(i) = (row - mean).cast<float>();
    left += (row - mean).squaredNorm();
    all += row.squaredNorm();
  }
  constexpr double kRounding = 1e-12;  // of squares: (1e-6)^2, float's resolution
  if (left <= kRounding * all) result.setZero();
  return result;
}

KernelProduct kernel_product(const RowMatrix& a, const RowMatrix& b) {
  const auto n = static_cast<double>(a.rows());
  const auto da = static_cast<double>(a.cols()), db = static_cast<double>(b.cols());
  KernelProduct product;
  product.inner = da * db <= n * (da + db) ? inner_by_features(a, b) : inner_by_items(a, b);
  if (a.rows() < 4) return product;
  const KernelRows k = kernel_rows(a), l = kernel_rows(b);
  const double trace = product.inner - k.diagonal.dot(l.diagonal);
  product.unbiased = (trace + k.off_diagonal.sum() * l.off_diagonal.sum() / ((n - 1) * (n - 2)) -
                      2.0 / (n - 2) * k.off_diagonal.dot(l.off_diagonal)) /
                     (n * (n - 3));
  return product;
}

Cka linear_cka(const KernelProduct& aa, const KernelProduct& ab, const KernelProduct& bb) {
  Cka cka;
  if (aa.inner > 0 && bb.inner > 0) {
    cka.biased = std::clamp(ab.inner / (std::sqrt(aa.inner) * std::sqrt(bb.inner)), 0.0, 1.0);
  }
  if (aa.unbiased > 0 && bb.unbiased > 0) {
    cka.debiased = ab.unbiased / (std::sqrt(aa.unbiased) * std::sqrt(bb.unbiased));
  }
  return cka;
}

std::vector<double> neighbor_overlaps(const std::vector<std::vector<std::int64_t>>& a,
                                      const std::vector<std::vector<std::int64_t>>& b, int k) {
  std::vector<double> overlaps;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<std::int64_t> left = a[i], right = b[i], both;
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    std::set_intersection(left.begin(), left.end(), right.begin(), right.end(),
                          std::back_inserter(both));
    overlaps.push_back(static_cast<double>(both.size()) / static_cast<double>(k));
  }
  return overlaps;
}

std::vector<double> distance_ranks(const RowMatrix& vectors) {
  const RowMatrixD unit = unit_rows(vectors).cast<double>();
  const Eigen::Index n = unit.rows();
  std::vector<double> distances;
  distances.reserve(static_cast<std::size_t>(n * (n - 1) / 2));
  for (Eigen::Index begin = 0; begin < n; begin += kBlock) {
    const Eigen::Index count = std::min(kBlock, n - begin);
    const RowMatrixD cosines = unit.middleRows(begin, count) * unit.transpose();
    for (Eigen::Index i = 0; i < count; ++i) {
      for (Eigen::Index j = begin + i + 1; j < n; ++j) distances.push_back(1.0 - cosines(i, j));
    }
  }
  std::vector<std::uint32_t> order(distances.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t x, std::uint32_t y) { return distances[x] < distances[y]; });
  std::vector<double> ranks(distances.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && distances[order[end]] == distances[order[first]]) ++end;
    const double rank = 0.5 * static_cast<double>(first + 1 + end);
    for (; first < end; ++first) ranks[order[first]] = rank;
  }
  return ranks;
}

std::optional<double> correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const Eigen::Map<const Eigen::ArrayXd> x(a.data(), std::ssize(a)), y(b.data(), std::ssize(b));
  if (x.size() < 2) return std::nullopt;
  const double mean_x = x.mean(), mean_y = y.mean();
  const double xx = (x - mean_x).square().sum(), yy = (y - mean_y).square().sum();
  if (xx <= 0 || yy <= 0) return std::nullopt;
  return std::clamp(((x - mean_x) * (y - mean_y)).sum() / std::sqrt(xx) / std::sqrt(yy), -1.0,
                    1.0);
}

}  // namespace probe
