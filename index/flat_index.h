// Exact cosine search with the order of ties fixed.
//
// FAISS (knn_inner_product) or, where the CPU has AVX2 and bytes tell the vectors apart, a scan of
// byte codes that rules most rows out (byte_codes.h). Both only propose: every result's score is one
// plain sum in double over the unit rows, so neither the way taken nor the number of threads nor the
// size of a batch changes a result.
#pragma once

#include <cstdint>
#include <functional>
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

enum class SearchWay { automatic, faiss };

class FlatIndex {
 public:
  // Takes `gallery` [n, d] and normalises it in place.
  // Throws Error(input) naming the row that is zero or not finite.
  explicit FlatIndex(RowMatrix gallery, SearchWay way = SearchWay::automatic);
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

// Rows [begin, begin + count) of a gallery that is not held in memory.
using GalleryRows = std::function<RowMatrix(std::int64_t begin, std::int64_t count)>;

// The same for a gallery that does not fit in memory: all `size` rows of it are asked for, at
// most `block` at a time, once each.
std::vector<Neighbors> search_in_blocks(std::int64_t size, std::int64_t block,
                                        const GalleryRows& rows, const RowMatrix& queries, int k,
                                        const std::vector<Excluded>& excluded);

// Version of the FAISS library, e.g. "1.7.3".
std::string faiss_version();

}  // namespace probe
