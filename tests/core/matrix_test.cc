#include "probe/core/matrix.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/expect_error.h"

namespace probe {
namespace {

TEST(UnitRows, LengthOneAndSameDirection) {
  RowMatrix rows(2, 2);
  rows << 3, 4, -5, 12;
  const RowMatrix unit = unit_rows(rows);
  EXPECT_FLOAT_EQ(unit(0, 0), 0.6f);
  EXPECT_FLOAT_EQ(unit(0, 1), 0.8f);
  EXPECT_FLOAT_EQ(unit(1, 0), -5.0f / 13);
  EXPECT_EQ(rows(0, 0), 3);
}

// A sum of squares in float would overflow.
TEST(UnitRows, HugeValuesStayFinite) {
  RowMatrix rows(1, 2);
  rows << 3e30f, 4e30f;
  EXPECT_FLOAT_EQ(unit_rows(rows)(0, 1), 0.8f);
}

TEST(UnitRows, RefusesZeroAndNaN) {
  RowMatrix rows = RowMatrix::Ones(3, 2);
  rows.row(1).setZero();
  EXPECT_PROBE_ERROR(unit_rows(rows), ErrorKind::input, "row 1: a zero vector has no direction");
  rows(1, 0) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_PROBE_ERROR(unit_rows(rows), ErrorKind::input,
                     "row 1: expected finite values, got NaN or infinity");
}

}  // namespace
}  // namespace probe
