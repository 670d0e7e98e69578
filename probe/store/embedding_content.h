// The parts of an embedding file that writing, reading and joining share. Private to
// probe/store. `where` is the file's path.
#pragma once

#include <filesystem>
#include <string>

#include "probe/core/embedding_set.h"
#include "probe/core/item_column_list.h"
#include "probe/store/embedding_file.h"
#include "probe/store/file_summary.h"
#include "probe/store/hdf5_handle.h"

namespace probe {

// Calls visit(name, member) for each attribute that is a plain string, so that reading and writing
// share the list.
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

// Throws Error(io) or Error(input) in one sentence.
void check_is_hdf5(const std::filesystem::path& path);
// For try_apart: a sound file takes a tenth of this at most.
unsigned seconds_to_read(const std::filesystem::path& path);

// Opens for reading and checks that it is a whole file of our schema.
// Throws Error(io) or Error(input).
Hdf5Handle open_embedding_file(const std::filesystem::path& path);
Hdf5Handle open_group(hid_t file, const char* name, const std::string& where);
std::string file_name(hid_t object, const std::string& where);

Provenance read_provenance(hid_t file, const std::string& where);

// Number of /items, and the columns.
std::size_t count_items(hid_t file, const std::string& where);
ItemColumns read_items(hid_t file, const std::string& where);
FailedItems read_failed(hid_t file, const std::string& where);
std::optional<Shard> read_shard(hid_t file, const std::string& where);

Hdf5Handle create_group(hid_t file, const char* name, const std::string& where);
void write_failed(hid_t file, const FailedItems& failed, const std::string& where);
void write_text(hid_t file, const std::vector<std::string>& prompts, const RowMatrix& embedding,
                StoredType type, const std::string& where);
// `complete` is set last.
void write_attributes(hid_t file, const Provenance& provenance, StoredType type,
                      const std::string& where);

// A new file that is written aside and takes its name when it is whole.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path);
  ~NewFile();  // deletes it unless it has its name
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  hid_t id() const { return file_.id(); }
  // Flushes to disk and renames. Throws Error(io); an earlier file is then untouched.
  void finish();

 private:
  std::filesystem::path path_, aside_;
  Hdf5Handle file_;
};

}  // namespace probe
