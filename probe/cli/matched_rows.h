// The vectors that `match` searches: in memory, or read from an embedding file as they are needed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "probe/core/embedding_set.h"
#include "probe/store/embedding_rows.h"

namespace probe {

struct MatchedRows {
  // Rows of the embedding set at these ascending places, raw [count, w].
  std::function<RowMatrix(std::span<const std::int64_t> places)> at;
  std::int64_t block = 0;  // most rows asked for at a time; 0: all of them
};

// `vectors` [n, w] must outlive the result.
MatchedRows rows_in_memory(const RowMatrix& vectors);

// Of a file; a zero vector is Error(input) naming the item. `items` must outlive the result.
MatchedRows rows_of_file(std::shared_ptr<const EmbeddingRows> file, const ItemColumns& items,
                         std::int64_t block, const std::filesystem::path& path);

// How many rows to read at a time: 0 if all of [n, w], with the copies that a search makes, fit in
// half of the free memory; else as many as fill 256 MiB or that half.
std::int64_t rows_at_a_time(std::int64_t n, std::int64_t w);

}  // namespace probe
