// How alike two encoders arrange the same items: linear CKA (Kornblith et al. 2019),
// mutual nearest neighbours (Huh et al. 2024) and RSA (Kriegeskorte et al. 2008).
// Row i of every matrix is item i.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "probe/core/matrix.h"

namespace probe {

// Copy of `vectors` [n, d] less the mean of each column. What is left of a constant column
// set by rounding becomes exactly zero.
RowMatrix centered(const RowMatrix& vectors);

// Two sums over the linear kernels K and L of two centred matrices of the same items.
struct KernelProduct {
  double inner = 0.0;     // sum of K_ij L_ij
  double unbiased = 0.0;  // HSIC_1 of Song et al. 2012; 0 for fewer than 4 items
};

// Costs min(n * da * db, n^2 * (da + db)) and never holds an n x n matrix: products of
// features where there are many items, blocks of kernel rows where there are few.
//   a [n, da], b [n, db], both centred. REQUIRES the same n.
KernelProduct kernel_product(const RowMatrix& a, const RowMatrix& b);

// CKA, 0 to 1, and its debiased form, which is not inflated when d exceeds n and may fall
// below 0. nullopt where one side does not vary, or, debiased, for fewer than 4 items.
struct Cka {
  std::optional<double> biased, debiased;
};
Cka linear_cka(const KernelProduct& aa, const KernelProduct& ab, const KernelProduct& bb);

// Per item, the fraction of its k nearest neighbours that both sides share.
//   a, b: neighbours of item i, itself left out. REQUIRES lists of k rows, equal sizes.
std::vector<double> neighbor_overlaps(const std::vector<std::vector<std::int64_t>>& a,
                                      const std::vector<std::vector<std::int64_t>>& b, int k);

// Ranks (from 1, ties averaged) of the upper triangle, row by row, of the matrix of cosine
// distances [n, n]. Throws Error(input) naming a row that is zero or not finite.
std::vector<double> distance_ranks(const RowMatrix& vectors);

// Pearson's correlation; nullopt if a side does not vary. Of two vectors of ranks it is
// Spearman's. REQUIRES equal sizes.
std::optional<double> correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace probe
