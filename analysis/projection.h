// Vectors in the plane, for looking at.
#pragma once

#include <array>

#include "probe/core/matrix.h"

namespace probe {

// The first two principal components.
struct Projection {
  Eigen::Matrix<double, Eigen::Dynamic, 2> coordinates;  // [n, 2], mean 0
  std::array<double, 2> explained{};  // fraction of the variance, 0 to 1
};

// PCA of `vectors` [n, d]. The sign of a component is free; here its largest loading by
// amount is positive. Components without variance are 0.
// Costs d^3 or n^3, whichever is less.
Projection project_to_plane(const RowMatrix& vectors);

}  // namespace probe
