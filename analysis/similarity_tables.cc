#include "analysis/similarity_tables.h"

#include <fmt/core.h>

namespace probe {
namespace {

Cell known_cell(const std::optional<double>& value) {
  return value ? number_cell(*value, 3) : unknown_cell();
}

std::optional<double> value_between(const std::vector<PairSimilarity>& pairs, int a, int b,
                                    const SimilarityMeasure& measure) {
  if (a == b) return 1.0;
  for (const PairSimilarity& pair : pairs) {
    if ((pair.first == a && pair.second == b) || (pair.first == b && pair.second == a)) {
      return pair.*(measure.value);
    }
  }
  return std::nullopt;
}

}  // namespace

Table pair_table(const std::vector<std::string>& names, const std::vector<PairSimilarity>& pairs,
                 int k, double chance) {
  Table table;
  table.name = "similarity_pairs";
  table.title = "Similarity of each pair of encoders";
  table.columns = {{"first", "encoder"},
                   {"second", "other encoder"},
                   {"cka", "linear CKA"},
                   {"cka_debiased", "CKA, debiased"},
                   {"mutual_knn", fmt::format("mutual {}-NN", k)},
                   {"chance", "chance of it"},
                   {"rsa", "RSA"}};
  for (const PairSimilarity& pair : pairs) {
    Cell overlap = known_cell(pair.mutual_knn);
    overlap.interval = pair.mutual_knn_interval;
    table.rows.push_back({text_cell(names[pair.first]), text_cell(names[pair.second]),
                          known_cell(pair.cka), known_cell(pair.cka_debiased),
                          std::move(overlap), number_cell(chance, 3), known_cell(pair.rsa)});
  }
  return table;
}

std::vector<SimilarityMeasure> similarity_measures(int k) {
  return {{"cka", "Linear CKA", &PairSimilarity::cka},
          {"cka_debiased", "Linear CKA, debiased", &PairSimilarity::cka_debiased},
          {"mutual_knn", fmt::format("Mutual {}-nearest neighbours", k),
           &PairSimilarity::mutual_knn},
          {"rsa", "RSA (Spearman of cosine distances)", &PairSimilarity::rsa}};
}

Table similarity_matrix(const std::vector<std::string>& names,
                        const std::vector<PairSimilarity>& pairs,
                        const SimilarityMeasure& measure) {
  Table table;
  table.name = "similarity_" + measure.name;
  table.title = measure.title;
  table.columns = {{"encoder", "encoder"}};
  for (const std::string& name : names) table.columns.push_back({name, name});
  const int count = static_cast<int>(names.size());
  for (int a = 0; a < count; ++a) {
    std::vector<Cell> row{text_cell(names[a])};
    for (int b = 0; b < count; ++b) row.push_back(known_cell(value_between(pairs, a, b, measure)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Figure similarity_heatmap(const std::vector<std::string>& names,
                          const std::vector<PairSimilarity>& pairs,
                          const SimilarityMeasure& measure) {
  Figure figure;
  figure.kind = Figure::Kind::heatmap;
  figure.name = "similarity_" + measure.name;
  figure.title = measure.title;
  figure.x_title = figure.y_title = "encoder";
  figure.caption = "1: the two encoders arrange the items alike.";
  const int count = static_cast<int>(names.size());
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; ++b) {
      Mark mark;
      mark.series = names[a];
      mark.x = names[b];
      mark.value = value_between(pairs, a, b, measure);
      figure.marks.push_back(std::move(mark));
    }
  }
  return figure;
}

Figure projection_figure(const std::string& encoder, const std::string& figure_name,
                         const Projection& projection, const ItemColumns& items,
                         const std::vector<std::int64_t>& rows) {
  Figure figure;
  figure.kind = Figure::Kind::scatter;
  figure.name = figure_name;
  figure.title = "Items in the plane, " + encoder;
  figure.x_title = fmt::format("component 1 ({:.1f} % of the variance)",
                               100 * projection.explained[0]);
  figure.y_title = fmt::format("component 2 ({:.1f} %)", 100 * projection.explained[1]);
  figure.caption = "PCA of unit vectors; nearness in the plane is not nearness in the space.";
  for (const std::int64_t row : rows) {
    Mark mark;
    mark.series = items.category[row].empty() ? "(none)" : items.category[row];
    mark.group = items.condition[row];
    mark.x = items.id[row];
    mark.position = projection.coordinates(row, 0);
    mark.value = projection.coordinates(row, 1);
    figure.marks.push_back(std::move(mark));
  }
  return figure;
}

Table projection_table(const std::vector<std::string>& names,
                       const std::vector<Projection>& projections, const ItemColumns& items) {
  Table table;
  table.name = "projection";
  table.title = "Items in the plane (PCA of unit vectors)";
  table.columns = {{"encoder", "encoder"},     {"item", "item", true},
                   {"category", "category"},   {"condition", "condition"},
                   {"component_1", "component 1"}, {"component_2", "component 2"}};
  for (std::size_t e = 0; e < names.size(); ++e) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      table.rows.push_back({text_cell(names[e]), text_cell(items.id[i]),
                            text_cell(items.category[i]), text_cell(items.condition[i]),
                            number_cell(projections[e].coordinates(row, 0), 4),
                            number_cell(projections[e].coordinates(row, 1), 4)});
    }
  }
  return table;
}

}  // namespace probe
