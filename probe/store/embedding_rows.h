// The vectors of an embedding file, block by block: for files that do not fit in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "probe/core/matrix.h"

namespace probe {

enum class VectorKind { embedding, mean_tokens };

class EmbeddingRows {
 public:
  // Opens /image/embedding or /image/mean_tokens and checks all but the values. A virtual file is
  // followed as read_embedding_file does. Throws Error(io) or Error(input).
  EmbeddingRows(const std::filesystem::path& path, VectorKind which, bool allow_outside);
  ~EmbeddingRows();

  std::int64_t size() const;   // n; 0 rows if the file has none of these vectors
  std::int64_t width() const;  // d or w; 0 likewise

  // Rows [first, first + count), raw. Throws Error(input) naming the first row that has NaN or
  // infinity. Not to be called by two threads at once.
  RowMatrix read(std::int64_t first, std::int64_t count) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace probe
