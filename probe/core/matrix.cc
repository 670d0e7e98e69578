#include "probe/core/matrix.h"

#include <cmath>
#include <limits>
#include <string>

#include "probe/core/error.h"

namespace probe {

bool all_finite(const float* values, Eigen::Index count) {
  if (count == 0) return true;
  return Eigen::Map<const Eigen::ArrayXf>(values, count).abs().maxCoeff<Eigen::PropagateNaN>() <=
         std::numeric_limits<float>::max();
}

void normalize_rows(RowMatrix& unit) {
  for (Eigen::Index i = 0; i < unit.rows(); ++i) {
    // Summed in double: a float sum of squares overflows at 1.8e19 per value.
    const double norm = unit.row(i).cast<double>().norm();
    if (!std::isfinite(norm)) {
      throw Error(ErrorKind::input, "row " + std::to_string(i) +
                                        ": expected finite values, got NaN or infinity");
    }
    if (norm == 0.0) {
      throw Error(ErrorKind::input,
                  "row " + std::to_string(i) + ": a zero vector has no direction");
    }
    unit.row(i) = (unit.row(i).cast<double>() / norm).cast<float>();
  }
}

RowMatrix unit_rows(RowMatrix vectors) {
  normalize_rows(vectors);
  return vectors;
}

}  // namespace probe
