// Matrices of vectors. One letter per axis, used in every comment of the project:
//   n items   t tokens   w token width   d embedding width   k neighbours   c choices
#pragma once

#include <Eigen/Core>

namespace probe {

// Row-major, so that one row is one item's vector, contiguous in memory.
using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Copy of `vectors` [n, d] with every row scaled to length 1.
// Throws Error(input) naming the row if a value is not finite or a row is zero.
RowMatrix unit_rows(const RowMatrix& vectors);

}  // namespace probe
