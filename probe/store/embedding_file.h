// Embedding files: HDF5 as FORMAT.md lays down.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "probe/core/embedding_set.h"

namespace probe {

enum class StoredType { float32, float16 };

constexpr std::size_t value_bytes(StoredType type) { return type == StoredType::float16 ? 2 : 4; }

struct WriteOptions {
  StoredType type = StoredType::float32;
};

// Writes beside the target, flushes to disk and renames. Throws Error(io) with the
// system's reason (an earlier file of that name is then untouched), Error(input) if
// sizes disagree or a value is not finite or overflows float16.
void write_embedding_file(const EmbeddingSet& set, const std::filesystem::path& path,
                          const WriteOptions& options);

// What to load; a large file is not read whole for a part of it.
struct ReadOptions {
  bool embedding = true;
  bool mean_tokens = true;
  bool tokens = false;
  bool text = true;
  bool allow_outside = false;  // parts of a virtual file may lie outside its folder
};

// Reads and checks. The file is untrusted: types, ranks and sizes are checked against
// each other and against the file's length before memory is asked for; external and
// soft links are refused, and so are virtual datasets other than those of FORMAT.md. A
// process of its own reads it first, so that faults of HDF5 which a damaged file can reach
// end there (probe/store/apart.h). Throws Error(input) or Error(io): "<file>:<object>: expected
// ..., got ...".
EmbeddingSet read_embedding_file(const std::filesystem::path& path, const ReadOptions& options);

// Only the first of these readings: all of the file's text, and of its vectors what says where
// they lie. What went well there may be read in this process. Throws as read_embedding_file does.
void try_embedding_file(const std::filesystem::path& path, const ReadOptions& options);

// True if the first bytes are those of an HDF5 file.
bool is_hdf5_file(const std::filesystem::path& path);

// Library version, e.g. "1.10.8".
std::string hdf5_version();

}  // namespace probe
