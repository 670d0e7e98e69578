#include "probe/cli/embedding_paths.h"

#include <glob.h>

#include <algorithm>
#include <set>

#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> files_of_folder(const fs::path& folder,
                                      const std::vector<std::string>& suffixes) {
  std::vector<fs::path> files;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    const std::string name = it->path().filename().string();
    const bool wanted = std::any_of(suffixes.begin(), suffixes.end(), [&](const auto& suffix) {
      return name.ends_with(suffix);
    });
    if (wanted && !it->is_directory(code)) files.push_back(it->path());
  }
  if (code) throw Error(ErrorKind::io, folder.string() + ": cannot list: " + code.message());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> files_of_pattern(const std::string& pattern) {
  glob_t found{};
  const int result = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<fs::path> files(found.gl_pathv, found.gl_pathv + (result == 0 ? found.gl_pathc : 0));
  ::globfree(&found);
  return files;
}

}  // namespace

std::vector<fs::path> find_embedding_paths(const std::vector<fs::path>& names,
                                           const std::vector<std::string>& suffixes) {
  std::vector<fs::path> paths;
  std::set<fs::path> known;
  for (const fs::path& name : names) {
    std::error_code code;
    std::vector<fs::path> found{name};
    if (fs::is_directory(name, code)) {
      found = files_of_folder(name, suffixes);
    } else if (!fs::exists(name, code)) {
      found = files_of_pattern(name.string());
      if (found.empty()) {
        throw Error(ErrorKind::io, printable(name.string()) + ": no such file or folder");
      }
    }
    for (fs::path& path : found) {
      if (known.insert(path.lexically_normal()).second) paths.push_back(std::move(path));
    }
  }
  return paths;
}

}  // namespace probe
