// What the fuzz targets share. A target throws nothing: probe::Error is an answer, and every
// other exception, signal or broken property stops the program.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "tests/support/temp_dir.h"

// A property that holds for every input; what breaks it is a finding.
#define FUZZ_EXPECT(condition)                                                              \
  if (!(condition)) {                                                                       \
    std::fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition);           \
    std::abort();                                                                           \
  }                                                                                         \
  static_assert(true)

namespace probe::fuzz {

// The bytes of one run. The first byte chooses among what a target reads, so that one corpus
// serves a family of formats and still opens in an editor.
struct Input {
  unsigned choice = 0;
  std::string_view rest;

  Input(const std::uint8_t* data, std::size_t size) {
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    if (all.empty()) return;
    choice = static_cast<unsigned char>(all.front());
    rest = all.substr(1);
  }
};

// A file of these bytes for readers that take a path; the next call of that name overwrites it.
// scripts/fuzz.sh sets TMPDIR to a folder in memory.
inline std::filesystem::path write_file(const std::string& name, std::string_view bytes) {
  static const test::TempDir folder;
  const std::filesystem::path path = folder.path() / name;
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() ||
      std::fclose(file) != 0) {
    std::perror(path.c_str());
    std::exit(1);  // no room: nothing that the reader did
  }
  return path;
}

// Calls `use`; probe::Error with a message fit for a terminal is as good as a result.
template <typename Use>
void accept_error(const Use& use) {
  try {
    use();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    FUZZ_EXPECT(!message.empty() && printable(message) == message);
  }
}

}  // namespace probe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
