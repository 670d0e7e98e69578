// Similarity of encoders as tables and figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/projection.h"
#include "analysis/table.h"
#include "probe/core/embedding_set.h"

namespace probe {

// Two encoders by their places in the list of names.
struct PairSimilarity {
  int first = 0, second = 0;
  std::optional<double> cka, cka_debiased, mutual_knn, rsa;
  std::optional<Interval> mutual_knn_interval;
};

// Every measure of every pair; `chance` is that of mutual kNN.
Table pair_table(const std::vector<std::string>& names, const std::vector<PairSimilarity>& pairs,
                 int k, double chance);

// One measure as a matrix, 1 on the diagonal, and the same as a heatmap.
struct SimilarityMeasure {
  std::string name, title;
  std::optional<double> PairSimilarity::*value;
};
std::vector<SimilarityMeasure> similarity_measures(int k);
Table similarity_matrix(const std::vector<std::string>& names,
                        const std::vector<PairSimilarity>& pairs,
                        const SimilarityMeasure& measure);
Figure similarity_heatmap(const std::vector<std::string>& names,
                          const std::vector<PairSimilarity>& pairs,
                          const SimilarityMeasure& measure);

// `rows` of the items in the plane of one encoder; coloured by category.
Figure projection_figure(const std::string& encoder, const std::string& figure_name,
                         const Projection& projection, const ItemColumns& items,
                         const std::vector<std::int64_t>& rows);
// The same as rows: item, category, condition, encoder, coordinates.
Table projection_table(const std::vector<std::string>& names,
                       const std::vector<Projection>& projections, const ItemColumns& items);

}  // namespace probe
