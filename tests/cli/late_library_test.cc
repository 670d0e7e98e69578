// Which functions the LibTorch runtime calls where several libraries have a name, as the loader tells it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

// Files to which libtorch_cpu.so's `symbol` was bound in a run that opens the runtime.
std::set<std::string> providers_of(const std::string& symbol) {
  const test::TempDir home, log;
  ::setenv("LD_DEBUG", "bindings", 1);
  ::setenv("LD_DEBUG_OUTPUT", (log.path() / "of").c_str(), 1);
  const test::ProgramResult result = test::run_probe({"doctor"}, home.path());
  ::unsetenv("LD_DEBUG");
  ::unsetenv("LD_DEBUG_OUTPUT");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(log.path())) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      // binding file A [0] to B [0]: normal symbol `name' [version]
      const auto by = line.find("libtorch_cpu.so [0] to "), end = line.find(" [0]: normal symbol `" + symbol + "'");
      if (by == std::string::npos || end == std::string::npos) continue;
      const auto begin = line.find(" to ", by) + 4;
      found.insert(std::filesystem::path(line.substr(begin, end - begin)).filename());
    }
  }
  return found;
}

// FAISS and OpenCV bring a BLAS with functions of these names, which took over from LibTorch's own MKL.
TEST(LateLibrary, LibTorchMultipliesWithItsOwnBlas) {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the loader's usual order is kept where malloc is not libc's";
#endif
  EXPECT_EQ(providers_of("sgemm_"), std::set<std::string>{"libtorch_cpu.so"});
}

}  // namespace
}  // namespace probe
