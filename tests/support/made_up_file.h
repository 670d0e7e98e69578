// Embedding sets without a tower: seeded vectors around one centre for each category.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "probe/core/embedding_set.h"

namespace probe::test {

// `n` items "item-00", ..., in `categories` categories "c0", ... in turn; the content hash
// depends on the id alone, so that sets of different encoders hold the same pictures.
inline EmbeddingSet made_up_set(const std::string& encoder, int n, int d, unsigned seed,
                                int categories = 3, float spread = 1.0f) {
  EmbeddingSet set;
  set.provenance = {encoder, "made up for a test", std::string(64, 'a'), "{}", "last",
                    "mean of patch tokens", "float32", "none", "test", {{"probe", "test"}}};
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  const auto draw = [&](Eigen::Index rows) {
    RowMatrix matrix(rows, d);
    for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = normal(generator);
    return matrix;
  };
  const RowMatrix centers = 3.0f * draw(categories);
  set.embedding = spread * draw(n);
  for (int i = 0; i < n; ++i) {
    set.embedding.row(i) += centers.row(i % categories);
    const std::string number = (i < 10 ? "0" : "") + std::to_string(i);
    set.items.id.push_back("item-" + number);
    set.items.path.push_back("item-" + number + ".jpg");
    set.items.category.push_back("c" + std::to_string(i % categories));
    set.items.condition.push_back("original");
    set.items.original_id.push_back("");
    set.items.attribute.push_back("");
    set.items.content_sha256.push_back(std::string(62, '0') + number.substr(0, 2));
  }
  set.mean_tokens = set.embedding;
  set.text_embedding = centers;  // the centres are called as the categories are
  for (int c = 0; c < categories; ++c) set.prompts.push_back("c" + std::to_string(c));
  return set;
}

}  // namespace probe::test
