#include "probe/store/embedding_content.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/store/hdf5_data.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFormat = "probe-embeddings";
constexpr const char* kSchemaVersion = "1";

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::input, where + ": " + message);
}

void check_schema(hid_t file, const std::string& where) {
  const std::string format = read_attribute(file, "format", where);
  if (format != kFormat) {
    fail(where, std::string("expected format ") + kFormat + ", got \"" + printable(format) + "\"");
  }
  const std::string version = read_attribute(file, "schema_version", where);
  if (version != kSchemaVersion) {
    fail(where, std::string("expected schema version ") + kSchemaVersion + ", got \"" +
                    printable(version) + "\"");
  }
  if (H5Aexists(file, "complete") > 0 && read_attribute(file, "complete", where) != "true") {
    fail(where, "is marked as not complete");
  }
}

// Positions of failed items, which HDF5 converts from whatever integers are there.
std::vector<std::int64_t> read_positions(hid_t group, const std::string& where) {
  const Hdf5Handle dataset = open_dataset(group, "item", where);
  if (is_virtual(dataset.id(), where)) fail(where, "is a virtual dataset, which is refused");
  const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose, where);
  if (H5Tget_class(type.id()) != H5T_INTEGER) fail(where, "expected integers");
  const std::vector<hsize_t> dims = dimensions(dataset.id(), 1, where);
  check_storage(dataset.id(), dims, H5Tget_size(type.id()), where);
  std::vector<std::int64_t> values(dims[0]);
  if (values.empty()) return values;
  check_hdf5(H5Dread(dataset.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
             where);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= kMostItems || (i > 0 && values[i] <= values[i - 1])) {
      fail(where, "expected ascending positions, got " + std::to_string(values[i]));
    }
  }
  return values;
}

void write_positions(hid_t group, const std::vector<std::int64_t>& values,
                     const std::string& where) {
  const hsize_t size = values.size();
  const Hdf5Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, where);
  const Hdf5Handle properties = dataset_properties(where);
  Hdf5Handle dataset(H5Dcreate2(group, "item", H5T_STD_I64LE, space.id(), H5P_DEFAULT,
                                properties.id(), H5P_DEFAULT),
                     H5Dclose, where);
  check_hdf5(
      H5Dwrite(dataset.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
      where);
  dataset.close(where);
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

}  // namespace

void check_is_hdf5(const fs::path& path) {
  std::error_code code;
  if (!fs::exists(path, code)) throw Error(ErrorKind::io, path.string() + ": no such file");
  if (!is_hdf5_file(path)) fail(path.string(), "expected an HDF5 file, got another format");
}

unsigned seconds_to_read(const fs::path& path) {
  std::error_code code;
  return 2 + static_cast<unsigned>(fs::file_size(path, code) >> 23);
}

Hdf5Handle open_embedding_file(const fs::path& path) {
  silence_hdf5();
  check_is_hdf5(path);
  const std::string where = path.string();
  errno = 0;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, where);
  // No cache of chunks: rows are read in order, and straight to where they are wanted.
  check_hdf5(H5Pset_cache(access.id(), 0, 521, 0, 1.0), where);
  Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose,
                  where + ": cannot open (another process may have it open for "
                          "writing; HDF5_USE_FILE_LOCKING=FALSE where a file system "
                          "has no locks)");
  check_schema(file.id(), where);
  return file;
}

Hdf5Handle open_group(hid_t file, const char* name, const std::string& where) {
  if (!has_object(file, name, where + ":/" + name)) {
    fail(where + ":/" + name, "expected a group, got nothing");
  }
  return Hdf5Handle(H5Gopen2(file, name, H5P_DEFAULT), H5Gclose, where + ":/" + name);
}

std::string file_name(hid_t object, const std::string& where) {
  const ssize_t size = H5Fget_name(object, nullptr, 0);
  if (size < 0) fail(where, hdf5_reason());
  std::string name(static_cast<std::size_t>(size) + 1, '\0');
  H5Fget_name(object, name.data(), name.size());
  name.resize(static_cast<std::size_t>(size));
  return name;
}

Provenance read_provenance(hid_t file, const std::string& where) {
  Provenance provenance;
  for_each_attribute(provenance, [&](const char* name, std::string& value) {
    value = read_attribute(file, name, where);
  });
  // Files from before tiles, and imported vectors, have no such attribute.
  if (H5Aexists(file, "tiles") > 0) provenance.tiles = read_attribute(file, "tiles", where);
  try {
    provenance.versions = nlohmann::json::parse(read_attribute(file, "versions", where))
                              .get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception&) {
    fail(where, "attribute \"versions\": expected JSON");
  }
  return provenance;
}

std::size_t count_items(hid_t file, const std::string& where) {
  const Hdf5Handle group = open_group(file, "items", where);
  const Hdf5Handle dataset = open_dataset(group.id(), "id", where + ":/items/id");
  return dimensions(dataset.id(), 1, where + ":/items/id")[0];
}

ItemColumns read_items(hid_t file, const std::string& where) {
  const Hdf5Handle group = open_group(file, "items", where);
  ItemColumns items;
  for (const ItemColumn& column : kItemColumns) {
    items.*column.values = read_strings(group.id(), column.name, where + ":/items/" + column.name);
  }
  return items;
}

FailedItems read_failed(hid_t file, const std::string& where) {
  FailedItems failed;
  if (!has_object(file, "failed", where + ":/failed")) return failed;
  const Hdf5Handle group = open_group(file, "failed", where);
  failed.item = read_positions(group.id(), where + ":/failed/item");
  for (auto [name, column] : {std::pair{"id", &failed.id}, std::pair{"path", &failed.path},
                              std::pair{"reason", &failed.reason}}) {
    *column = read_strings(group.id(), name, where + ":/failed/" + name);
    if (column->size() != failed.item.size()) {
      fail(where + ":/failed/" + name, "expected " + std::to_string(failed.item.size()) +
                                           " rows, got " + std::to_string(column->size()));
    }
  }
  return failed;
}

std::optional<Shard> read_shard(hid_t file, const std::string& where) {
  if (H5Aexists(file, "shard") <= 0) return std::nullopt;
  std::optional<Shard> shard = parse_shard_json(read_attribute(file, "shard", where));
  if (!shard) fail(where, "attribute \"shard\": expected JSON that names a shard");
  return shard;
}

Hdf5Handle create_group(hid_t file, const char* name, const std::string& where) {
  return Hdf5Handle(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                    where);
}

void write_failed(hid_t file, const FailedItems& failed, const std::string& where) {
  if (failed.size() == 0) return;
  const Hdf5Handle group = create_group(file, "failed", where);
  write_positions(group.id(), failed.item, where + ":/failed/item");
  write_strings(group.id(), "id", failed.id, where + ":/failed/id");
  write_strings(group.id(), "path", failed.path, where + ":/failed/path");
  write_strings(group.id(), "reason", failed.reason, where + ":/failed/reason");
}

void write_text(hid_t file, const std::vector<std::string>& prompts, const RowMatrix& embedding,
                StoredType type, const std::string& where) {
  if (prompts.empty()) return;
  const Hdf5Handle text = create_group(file, "text", where);
  write_strings(text.id(), "prompt", prompts, where + ":/text/prompt");
  write_rows(text.id(), "embedding", embedding, 0, type, where + ":/text/embedding");
}

void write_attributes(hid_t file, const Provenance& provenance, StoredType type,
                      const std::string& where) {
  write_attribute(file, "format", kFormat, where);
  write_attribute(file, "schema_version", kSchemaVersion, where);
  for_each_attribute(provenance, [&](const char* name, const std::string& value) {
    write_attribute(file, name, value, where);
  });
  write_attribute(file, "tiles", provenance.tiles, where);
  write_attribute(file, "dtype", type == StoredType::float16 ? "float16" : "float32", where);
  write_attribute(file, "versions", nlohmann::json(provenance.versions).dump(), where);
  write_attribute(file, "complete", "true", where);
}

NewFile::NewFile(const fs::path& path)
    : path_(path), aside_(path.string() + ".partial-" + std::to_string(::getpid())) {
  silence_hdf5();
  errno = 0;
  const std::string where = path.string();
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, where);
  // Formats of 1.10 at most, so that older readers still open the file.
  check_hdf5(H5Pset_libver_bounds(access.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V110), where);
  file_ = Hdf5Handle(H5Fcreate(aside_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose,
                     where + ": cannot write");
}

NewFile::~NewFile() {
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

void NewFile::finish() {
  const std::string what = path_.string() + ": cannot write";
  check_hdf5(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), what);
  file_.close(what);
  sync_and_rename(aside_, path_);
  aside_.clear();
}

}  // namespace probe
