#include "probe/store/embedding_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <unordered_set>

#include "probe/core/error.h"
#include "probe/core/item_column_list.h"
#include "probe/core/utf8.h"
#include "probe/store/apart.h"
#include "probe/store/embedding_content.h"
#include "probe/store/hdf5_data.h"
#include "probe/store/row_source.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

void check_sizes(const EmbeddingSet& set, const std::string& where) {
  const auto expect = [&](const std::string& what, std::size_t found, std::size_t wanted) {
    if (found != wanted) {
      throw Error(ErrorKind::input, where + ":" + what + ": expected " +
                                        std::to_string(wanted) + " rows, got " +
                                        std::to_string(found));
    }
  };
  const std::size_t n = set.items.size();
  for (const ItemColumn& column : kItemColumns) {
    expect(std::string("/items/") + column.name, (set.items.*column.values).size(), n);
  }
  const auto rows = [](const RowMatrix& m) { return static_cast<std::size_t>(m.rows()); };
  if (set.embedding.size() > 0) expect("/image/embedding", rows(set.embedding), n);
  if (set.mean_tokens.size() > 0) expect("/image/mean_tokens", rows(set.mean_tokens), n);
  if (set.tokens.size() > 0) expect("/image/tokens", rows(set.tokens), n);
  if (set.text_embedding.size() > 0 || !set.prompts.empty()) {
    expect("/text/embedding", rows(set.text_embedding), set.prompts.size());
  }
  if (set.text_embedding.rows() > 0 && set.embedding.cols() > 0 &&
      set.text_embedding.cols() != set.embedding.cols()) {
    throw Error(ErrorKind::input, where + ":/text/embedding: expected width " +
                                      std::to_string(set.embedding.cols()) +
                                      " as /image/embedding, got " +
                                      std::to_string(set.text_embedding.cols()));
  }
  std::unordered_set<std::string> ids;
  for (const std::string& id : set.items.id) {
    if (!ids.insert(id).second) {
      throw Error(ErrorKind::input,
                  where + ":/items/id: \"" + printable(id) + "\" stands twice");
    }
  }
}

void write_content(hid_t file, const EmbeddingSet& set, StoredType type,
                   const std::string& where) {
  const Hdf5Handle image = create_group(file, "image", where);
  if (set.embedding.cols() > 0) {
    write_rows(image.id(), "embedding", set.embedding, 0, type, where + ":/image/embedding");
  }
  if (set.mean_tokens.cols() > 0) {
    write_rows(image.id(), "mean_tokens", set.mean_tokens, 0, type,
               where + ":/image/mean_tokens");
  }
  if (set.tokens.cols() > 0) {
    write_rows(image.id(), "tokens", set.tokens, set.token_count, type, where + ":/image/tokens");
  }
  write_text(file, set.prompts, set.text_embedding, type, where);
  const Hdf5Handle items = create_group(file, "items", where);
  for (const ItemColumn& column : kItemColumns) {
    write_strings(items.id(), column.name, set.items.*column.values,
                  where + ":/items/" + column.name);
  }
  write_failed(file, set.failed, where);
  if (set.shard) write_attribute(file, "shard", shard_json(*set.shard), where);
  write_attributes(file, set.provenance, type, where);
}

RowMatrix read_rows(RowSource source) {
  const RowShape shape = source.shape();
  RowMatrix rows(static_cast<Eigen::Index>(shape.rows), static_cast<Eigen::Index>(shape.width));
  source.read_floats(0, shape.rows, rows.data());
  return rows;
}

// Reads into `set`; split from the opening so that every failure names the file. `touch`: images'
// vectors are looked at as RowSource::touch does, and stay empty.
void read_content(hid_t file, const ReadOptions& options, bool touch, const std::string& where,
                  EmbeddingSet& set) {
  set.provenance = read_provenance(file, where);
  set.items = read_items(file, where);
  set.failed = read_failed(file, where);
  set.shard = read_shard(file, where);
  const Hdf5Handle image = open_group(file, "image", where);
  const auto n = static_cast<Eigen::Index>(set.items.size());
  const auto read_image = [&](const char* name, int rank, bool wanted) {
    const std::string object = where + ":/image/" + name;
    if (!wanted || !has_object(image.id(), name, object)) return RowMatrix(n, 0);
    RowSource source(image.id(), name, rank, object, options.allow_outside);
    if (rank == 3) set.token_count = static_cast<int>(source.shape().tokens);
    if (!touch) return read_rows(std::move(source));
    source.touch();
    return RowMatrix(n, 0);
  };
  set.embedding = read_image("embedding", 2, options.embedding);
  set.mean_tokens = read_image("mean_tokens", 2, options.mean_tokens);
  if (options.tokens) set.tokens = read_image("tokens", 3, true);
  if (options.text && has_object(file, "text", where + ":/text")) {
    const Hdf5Handle text = open_group(file, "text", where);
    set.prompts = read_strings(text.id(), "prompt", where + ":/text/prompt");
    RowSource source(text.id(), "embedding", 2, where + ":/text/embedding", false);
    if (source.is_virtual()) {
      throw Error(ErrorKind::input,
                  where + ":/text/embedding: is a virtual dataset, which is refused");
    }
    set.text_embedding = read_rows(std::move(source));
  }
}

EmbeddingSet open_and_read(const fs::path& path, const ReadOptions& options, bool touch) {
  const std::string where = path.string();
  const Hdf5Handle file = open_embedding_file(path);
  EmbeddingSet set;
  read_content(file.id(), options, touch, where, set);
  check_sizes(set, where);
  return set;
}

}  // namespace

void write_embedding_file(const EmbeddingSet& set, const fs::path& path,
                          const WriteOptions& options) {
  const std::string where = path.string();
  check_sizes(set, where);
  NewFile file(path);
  write_content(file.id(), set, options.type, where);
  file.finish();
}

void try_embedding_file(const fs::path& path, const ReadOptions& options) {
  check_is_hdf5(path);
  try_apart(path.string(), seconds_to_read(path), [&] { open_and_read(path, options, true); });
}

EmbeddingSet read_embedding_file(const fs::path& path, const ReadOptions& options) {
  try_embedding_file(path, options);
  return open_and_read(path, options, false);
}

bool is_hdf5_file(const fs::path& path) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) return false;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char magic[8] = {};
  const bool whole = ::read(fd, magic, 8) == 8;
  ::close(fd);
  return whole && std::memcmp(magic, "\x89HDF\r\n\x1A\n", 8) == 0;
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace probe
