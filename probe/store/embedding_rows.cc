#include "probe/store/embedding_rows.h"

#include <optional>

#include "probe/store/apart.h"
#include "probe/store/embedding_content.h"
#include "probe/store/hdf5_data.h"
#include "probe/store/row_source.h"

namespace probe {

struct EmbeddingRows::State {
  Hdf5Handle file;
  std::optional<RowSource> rows;  // none: the file has no such vectors

  State(const std::filesystem::path& path, VectorKind which, bool allow_outside)
      : file(open_embedding_file(path)) {
    const std::string where = path.string();
    const char* name = which == VectorKind::embedding ? "embedding" : "mean_tokens";
    const std::string object = where + ":/image/" + name;
    const Hdf5Handle image = open_group(file.id(), "image", where);
    if (has_object(image.id(), name, object)) {
      rows.emplace(image.id(), name, 2, object, allow_outside);
    }
  }
};

EmbeddingRows::EmbeddingRows(const std::filesystem::path& path, VectorKind which,
                             bool allow_outside) {
  check_is_hdf5(path);
  try_apart(path.string(), seconds_to_read(path), [&] {
    State apart(path, which, allow_outside);
    if (apart.rows) apart.rows->touch();
  });
  state_ = std::make_unique<State>(path, which, allow_outside);
}

EmbeddingRows::~EmbeddingRows() = default;

std::int64_t EmbeddingRows::size() const {
  return state_->rows ? static_cast<std::int64_t>(state_->rows->shape().rows) : 0;
}

std::int64_t EmbeddingRows::width() const {
  return state_->rows ? static_cast<std::int64_t>(state_->rows->shape().width) : 0;
}

RowMatrix EmbeddingRows::read(std::int64_t first, std::int64_t count) const {
  RowMatrix rows(count, width());
  state_->rows->read_floats(static_cast<hsize_t>(first), static_cast<hsize_t>(count), rows.data());
  return rows;
}

}  // namespace probe
