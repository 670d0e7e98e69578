#include "probe/cli/embedding_target.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "probe/core/error.h"
#include "probe/store/embedding_file.h"

namespace probe {
namespace fs = std::filesystem;

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
