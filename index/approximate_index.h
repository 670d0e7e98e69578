// Approximate cosine search with FAISS: faster than exact search where many queries meet a large
// gallery, at the price of neighbours that are missed. How many, only a comparison with
// FlatIndex tells.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "index/flat_index.h"

namespace probe {

// ivf: inverted lists of the vectors; ivfpq: of their product-quantised residuals; hnsw: a graph.
enum class IndexKind { ivf, hnsw, ivfpq };

struct ApproximateOptions {
  IndexKind kind = IndexKind::ivf;
  int probes = 32;      // ivf, ivfpq: lists that a query looks into
  int ef_search = 128;  // hnsw: candidates that a query keeps
  // ivf, ivfpq: folder for a file with the lists, deleted with the index; empty: in memory.
  std::filesystem::path folder;
};

// Smaller galleries leave too little to train on (FAISS wants 39 points for each of 256 codes) and
// are searched exactly in no time.
inline constexpr std::int64_t kFewestRowsToApproximate = 10'000;

class ApproximateIndex {
 public:
  // `rows`: of the gallery [size, d], any part, at most `block` at a time.
  // Builds 2 sqrt(size) lists from 50 rows each, spread over the gallery. Lists do not depend on the
  // number of threads, a graph may.
  // Throws Error(input) for fewer rows than kFewestRowsToApproximate, and as FlatIndex does;
  // Error(io) if the file of the lists cannot be written.
  ApproximateIndex(std::int64_t size, std::int64_t block, const GalleryRows& rows,
                   const ApproximateOptions& options);
  ~ApproximateIndex();

  // As FlatIndex::search, but for the rows that are missed, and a list may be shorter than k.
  // Scores of ivfpq are those of the quantised rows.
  std::vector<Neighbors> search(const RowMatrix& queries, int k,
                                const std::vector<Excluded>& excluded) const;

  // What was built, e.g. "ivf: 2000 lists trained on 100000 rows, 32 looked into".
  std::string description() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace probe
