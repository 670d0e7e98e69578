#include "probe/cli/matched_rows.h"

#include <algorithm>

#include "probe/cli/machine.h"
#include "probe/cli/vectors.h"

namespace probe {

MatchedRows rows_in_memory(const RowMatrix& vectors) {
  return {[&vectors](std::span<const std::int64_t> places) {
            RowMatrix some(std::ssize(places), vectors.cols());
            for (std::size_t i = 0; i < places.size(); ++i) {
              some.row(static_cast<Eigen::Index>(i)) = vectors.row(places[i]);
            }
            return some;
          },
          0};
}

MatchedRows rows_of_file(std::shared_ptr<const EmbeddingRows> file, const ItemColumns& items,
                         std::int64_t block, const std::filesystem::path& path) {
  const auto at = [file = std::move(file), &items, block,
                   path](std::span<const std::int64_t> places) {
    RowMatrix some(std::ssize(places), file->width());
    // Places may lie far apart: what lies between is read, but never more than a block at once.
    for (std::size_t i = 0; i < places.size();) {
      const std::int64_t first = places[i], end = std::min(first + block, places.back() + 1);
      const RowMatrix rows = file->read(first, end - first);
      for (; i < places.size() && places[i] < end; ++i) {
        const auto row = rows.row(places[i] - first);
        require_direction(items, places[i], row, path.string());
        some.row(static_cast<Eigen::Index>(i)) = row;
      }
    }
    return some;
  };
  return {at, block};
}

std::int64_t rows_at_a_time(std::int64_t n, std::int64_t w) {
  // The vectors, those of the gallery and of the queries, both normalised, and the byte codes.
  constexpr double kCopies = 4.5;
  constexpr double kLargestBlock = 256 << 20;
  const double row = 4.0 * static_cast<double>(std::max<std::int64_t>(w, 1));
  const double usable = 0.5 * available_memory() / kCopies;
  if (row * static_cast<double>(n) < usable) return 0;
  return std::max<std::int64_t>(1024, static_cast<std::int64_t>(std::min(kLargestBlock, usable) / row));
}

}  // namespace probe
