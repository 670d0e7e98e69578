// Runs every file of a folder through a fuzz target: replay_TARGET FOLDER
#include <algorithm>
#include <fstream>
#include <vector>

#include "tests/fuzz/fuzz_input.h"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  if (argc != 2 || !fs::is_directory(argv[1])) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(argv[1])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fprintf(stderr, "%s: expected files, got none\n", argv[1]);
    return 1;
  }
  for (const fs::path& file : files) {
    std::fprintf(stderr, "%s\n", file.c_str());  // the last line names the one that fails
    const std::string bytes = probe::test::slurp(file);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs\n", files.size());
}
