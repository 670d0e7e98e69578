// Exact cosine search (FAISS IndexFlatIP), with the order of ties fixed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "probe/core/matrix.h"

namespace probe {

struct Neighbor {
  std::int64_t row = 0;  // of the gallery
  float score = 0.0f;    // cosine, clamped to [-1, 1]

  bool operator==(const Neighbor&) const = default;
};
using Neighbors = std::vector<Neighbor>;

// Rows of the gallery that one query must not be given, ascending.
using Excluded = std::vector<std::int64_t>;

class FlatIndex {
 public:
  // Normalises a copy of `gallery` [n, d].
  // Throws Error(input) naming the row that is zero or not finite.
  explicit FlatIndex(const RowMatrix& gallery);
  ~FlatIndex();

  std::int64_t size() const;

  // The k nearest by cosine, best first; equal scores go to the lower row. A list is
  // shorter than k if the gallery has fewer rows left; it is never padded.
  //   queries [q, d]; excluded: empty, or one list for each query.
  // Throws Error(input) if d differs, k < 1, or a query is zero or not finite.
  std::vector<Neighbors> search(const RowMatrix& queries, int k,
                                const std::vector<Excluded>& excluded) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Version of the FAISS library, e.g. "1.7.3".
std::string faiss_version();

}  // namespace probe
