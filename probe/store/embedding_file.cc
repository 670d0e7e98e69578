#include "probe/store/embedding_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/item_column_list.h"
#include "probe/core/utf8.h"
#include "probe/store/apart.h"
#include "probe/store/hdf5_data.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFormat = "probe-embeddings";
constexpr const char* kSchemaVersion = "1";

// Calls visit(name, member) for each attribute that is a plain string, so that reading and
// writing share the list.
template <typename Source, typename Visit>
void for_each_attribute(Source& source, const Visit& visit) {
  visit("encoder", source.encoder);
  visit("architecture", source.architecture);
  visit("bundle_sha256", source.bundle_sha256);
  visit("preprocessing", source.preprocessing);
  visit("layer", source.layer);
  visit("pooling", source.pooling);
  visit("compute_dtype", source.compute_dtype);
  visit("runtime", source.runtime);
  visit("command_line", source.command_line);
}

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

Hdf5Handle create_group(hid_t file, const char* name, const std::string& where) {
  return Hdf5Handle(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                    where);
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
  if (!set.prompts.empty()) {
    const Hdf5Handle text = create_group(file, "text", where);
    write_strings(text.id(), "prompt", set.prompts, where + ":/text/prompt");
    write_rows(text.id(), "embedding", set.text_embedding, 0, type, where + ":/text/embedding");
  }
  const Hdf5Handle items = create_group(file, "items", where);
  for (const ItemColumn& column : kItemColumns) {
    write_strings(items.id(), column.name, set.items.*column.values,
                  where + ":/items/" + column.name);
  }
  write_attribute(file, "format", kFormat, where);
  write_attribute(file, "schema_version", kSchemaVersion, where);
  for_each_attribute(set.provenance, [&](const char* name, const std::string& value) {
    write_attribute(file, name, value, where);
  });
  write_attribute(file, "tiles", set.provenance.tiles, where);
  write_attribute(file, "dtype", type == StoredType::float16 ? "float16" : "float32", where);
  write_attribute(file, "versions", nlohmann::json(set.provenance.versions).dump(), where);
  write_attribute(file, "complete", "true", where);
}

void sync_and_rename(const fs::path& aside, const fs::path& path) {
  const int fd = ::open(aside.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = fd >= 0 && (::fsync(fd) == 0 || errno == EINVAL);
  const int code = errno;
  if (fd >= 0) ::close(fd);
  if (!synced || ::rename(aside.c_str(), path.c_str()) != 0) {
    throw Error(ErrorKind::io, path.string() + ": cannot write: " +
                                   std::strerror(synced ? errno : code));
  }
}

// Reads into `set`; split from the opening so that every failure names the file.
void read_content(hid_t file, const ReadOptions& options, const std::string& where,
                  EmbeddingSet& set) {
  const std::string format = read_attribute(file, "format", where);
  if (format != kFormat) {
    throw Error(ErrorKind::input, where + ": expected format " + kFormat + ", got \"" +
                                      printable(format) + "\"");
  }
  const std::string version = read_attribute(file, "schema_version", where);
  if (version != kSchemaVersion) {
    throw Error(ErrorKind::input, where + ": expected schema version " +
                                      std::string(kSchemaVersion) + ", got \"" +
                                      printable(version) + "\"");
  }
  if (H5Aexists(file, "complete") > 0 && read_attribute(file, "complete", where) != "true") {
    throw Error(ErrorKind::input, where + ": is marked as not complete");
  }
  for_each_attribute(set.provenance, [&](const char* name, std::string& value) {
    value = read_attribute(file, name, where);
  });
  // Files from before tiles, and those of other programs, have no such attribute.
  if (H5Aexists(file, "tiles") > 0) {
    set.provenance.tiles = read_attribute(file, "tiles", where);
  }
  try {
    set.provenance.versions = nlohmann::json::parse(read_attribute(file, "versions", where))
                                  .get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::input, where + ": attribute \"versions\": expected JSON");
  }
  const auto open_group = [&](const char* name) {
    if (!has_object(file, name, where + ":/" + name)) {
      throw Error(ErrorKind::input, where + ":/" + name + ": expected a group, got nothing");
    }
    return Hdf5Handle(H5Gopen2(file, name, H5P_DEFAULT), H5Gclose, where + ":/" + name);
  };
  const Hdf5Handle items = open_group("items");
  for (const ItemColumn& column : kItemColumns) {
    set.items.*column.values = read_strings(items.id(), column.name, where + ":/items/" + column.name);
  }
  const Hdf5Handle image = open_group("image");
  const auto n = static_cast<Eigen::Index>(set.items.size());
  int tokens = 0;
  const auto read_image = [&](const char* name, int rank, bool wanted) {
    const std::string object = where + ":/image/" + name;
    if (!wanted || !has_object(image.id(), name, object)) return RowMatrix(n, 0);
    return read_rows(image.id(), name, rank, &tokens, object);
  };
  set.embedding = read_image("embedding", 2, options.embedding);
  set.mean_tokens = read_image("mean_tokens", 2, options.mean_tokens);
  if (options.tokens) {
    set.tokens = read_image("tokens", 3, true);
    set.token_count = tokens;
  }
  if (options.text && has_object(file, "text", where + ":/text")) {
    const Hdf5Handle text = open_group("text");
    set.prompts = read_strings(text.id(), "prompt", where + ":/text/prompt");
    set.text_embedding = read_rows(text.id(), "embedding", 2, &tokens, where + ":/text/embedding");
  }
}

EmbeddingSet open_and_read(const fs::path& path, const ReadOptions& options) {
  const std::string where = path.string();
  errno = 0;
  const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
                        where + ": cannot open (another process may have it open for "
                                "writing; HDF5_USE_FILE_LOCKING=FALSE where a file system "
                                "has no locks)");
  EmbeddingSet set;
  read_content(file.id(), options, where, set);
  check_sizes(set, where);
  return set;
}

}  // namespace

void write_embedding_file(const EmbeddingSet& set, const fs::path& path,
                          const WriteOptions& options) {
  silence_hdf5();
  const std::string where = path.string();
  check_sizes(set, where);
  const fs::path aside = where + ".partial-" + std::to_string(::getpid());
  try {
    errno = 0;
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, where);
    // Formats of 1.10 at most, so that older readers still open the file.
    check_hdf5(H5Pset_libver_bounds(access.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V110), where);
    Hdf5Handle file(H5Fcreate(aside.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose,
                    where + ": cannot write");
    write_content(file.id(), set, options.type, where);
    check_hdf5(H5Fflush(file.id(), H5F_SCOPE_GLOBAL), where + ": cannot write");
    file.close(where + ": cannot write");
    sync_and_rename(aside, path);
  } catch (...) {
    ::unlink(aside.c_str());
    throw;
  }
}

EmbeddingSet read_embedding_file(const fs::path& path, const ReadOptions& options) {
  silence_hdf5();
  const std::string where = path.string();
  std::error_code code;
  if (!fs::exists(path, code)) throw Error(ErrorKind::io, where + ": no such file");
  if (!is_hdf5_file(path)) {
    throw Error(ErrorKind::input, where + ": expected an HDF5 file, got another format");
  }
  // A sound file takes a tenth of this at most.
  const auto seconds = 2 + static_cast<unsigned>(fs::file_size(path, code) >> 23);
  try_apart(where, seconds, [&] { open_and_read(path, options); });
  return open_and_read(path, options);
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
