// Matrices of vectors. One letter per axis, used in every comment of the project:
//   n items   t tokens   w token width   d embedding width   k neighbours   c choices
#pragma once

#include <Eigen/Core>

namespace probe {

// Row-major, so that one row is one item's vector, contiguous in memory.
using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// True if none of `count` values is NaN or infinite. At the speed of memory, unlike Eigen's allFinite.
bool all_finite(const float* values, Eigen::Index count);

// Scales every row of `vectors` [n, d] to length 1.
// Throws Error(input) naming the row if a value is not finite or a row is zero.
void normalize_rows(RowMatrix& vectors);
RowMatrix unit_rows(RowMatrix vectors);

}  // namespace probe
