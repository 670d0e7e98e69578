#include "probe/cli/embedding_target.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <string>

#include "probe/core/error.h"

namespace probe {
namespace fs = std::filesystem;

void add_embedding_target(CLI::App& command, fs::path& file) {
  command.add_option("-o,--output", file, "embedding file to write (FORMAT.md)")
      ->required()
      ->type_name("FILE.h5");
}

void add_store_option(CLI::App& command, std::string& dtype) {
  command.add_option("--store", dtype, "type of the stored vectors")
      ->check(CLI::IsMember({"float32", "float16"}))
      ->capture_default_str();
}

StoredType parse_stored_type(const std::string& dtype) {
  return dtype == "float16" ? StoredType::float16 : StoredType::float32;
}

void check_embedding_target(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (::access(folder.c_str(), W_OK) != 0) {
    throw Error(ErrorKind::io, path.string() + ": cannot write into " + folder.string() + ": " +
                                   std::strerror(errno));
  }
  std::error_code code;
  if (fs::exists(path, code) && !is_hdf5_file(path)) {
    throw Error(ErrorKind::usage, path.string() +
                                      ": exists and is not an embedding file; choose another "
                                      "name");
  }
}

}  // namespace probe
