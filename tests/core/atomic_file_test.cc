#include "probe/core/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

std::size_t entries(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

TEST(AtomicFile, ReplacesAndLeavesNothingBeside) {
  const test::TempDir folder;
  const auto path = folder.write("out.csv", "old");
  write_file_atomically(path, "new content");
  EXPECT_EQ(test::slurp(path), "new content");
  EXPECT_EQ(entries(folder.path()), 1u);
}

// The write fails before anything stands under the final name.
TEST(AtomicFile, FailureNamesTheFileAndTheReason) {
  const test::TempDir folder;
  const auto path = folder.path() / "missing" / "out.csv";
  EXPECT_PROBE_ERROR(write_file_atomically(path, "x"), ErrorKind::io,
                     "out.csv: cannot write: No such file or directory");
}

TEST(AtomicFile, ReadRefusesFoldersFifosAndLargeFiles) {
  const test::TempDir folder;
  EXPECT_PROBE_ERROR(read_file(folder.path(), 10), ErrorKind::io, "expected a regular file");
  const auto fifo = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_PROBE_ERROR(read_file(fifo, 10), ErrorKind::io, "expected a regular file");
  EXPECT_PROBE_ERROR(read_file(folder.write("big", "12345"), 4), ErrorKind::input,
                     "expected at most 4 bytes, got 5");
  EXPECT_PROBE_ERROR(read_file(folder.path() / "none", 4), ErrorKind::io,
                     "none: cannot open: No such file or directory");
}

}  // namespace
}  // namespace probe
