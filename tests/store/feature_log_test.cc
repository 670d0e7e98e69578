#include "probe/store/feature_log.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

std::string key(char digit) { return std::string(64, digit); }

TEST(FeatureLog, KeepsVectorsBetweenRuns) {
  const test::TempDir folder;
  const auto path = folder.path() / "log";
  {
    FeatureLog log(path, "one", 2, {}, false);
    log.append(key('a'), std::vector<float>{1, 2});
    log.append(key('b'), std::vector<float>{3, 4});
    log.append(key('a'), std::vector<float>{9, 9});  // known already: the first stays
  }
  FeatureLog log(path, "one", 2, {}, false);
  EXPECT_EQ(log.size(), 2u);
  std::vector<float> vector(2);
  ASSERT_TRUE(log.find(key('a'), vector));
  EXPECT_EQ(vector, (std::vector<float>{1, 2}));
  EXPECT_FALSE(log.find(key('c'), vector));
}

// A process killed while it wrote leaves any prefix of the file. Every one must open, with
// exactly the records that are whole, and take new ones.
TEST(Bugcase34, EveryTornPrefixIsRecovered) {
  const test::TempDir folder;
  const auto path = folder.path() / "log";
  {
    FeatureLog log(path, "id", 3, {}, false);
    for (const char digit : {'0', '1', '2', '3'}) {
      log.append(key(digit), std::vector<float>{float(digit), 2, 3});
    }
  }
  const std::string whole = test::slurp(path);
  const std::size_t header = whole.find('\n') + 1, record = 32 + 12 + 4;
  ASSERT_EQ(whole.size(), header + 4 * record);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    folder.write("log", whole.substr(0, size));
    const std::size_t kept = size < header ? 0 : (size - header) / record;
    {
      FeatureLog log(path, "id", 3, {}, false);
      ASSERT_EQ(log.size(), kept) << "cut at " << size;
      log.append(key('f'), std::vector<float>{7, 8, 9});
    }
    FeatureLog again(path, "id", 3, {}, false);
    ASSERT_EQ(again.size(), kept + 1) << "cut at " << size;
  }
}

TEST(FeatureLog, ADamagedRecordEndsTheLog) {
  const test::TempDir folder;
  const auto path = folder.path() / "log";
  {
    FeatureLog log(path, "id", 1, {}, false);
    for (const char digit : {'0', '1', '2'}) log.append(key(digit), std::vector<float>{1});
  }
  std::string bytes = test::slurp(path);
  bytes[bytes.find('\n') + 1 + 40 + 33] ^= 1;  // a float of the second record
  folder.write("log", bytes);
  EXPECT_EQ(FeatureLog(path, "id", 1, {}, false).size(), 1u);
}

TEST(FeatureLog, OtherOptionsAreNeverMixed) {
  const test::TempDir folder;
  const auto path = folder.path() / "log";
  { FeatureLog log(path, "one", 2, {}, false); }
  EXPECT_PROBE_ERROR(FeatureLog(path, "two", 2, {}, false), ErrorKind::input,
                     "holds vectors of another encoder, bundle or option");
  EXPECT_PROBE_ERROR(FeatureLog(path, "one", 3, {}, false), ErrorKind::input,
                     "holds vectors of another encoder, bundle or option");
}

// Somebody's notes under the name of a part file are not ours to overwrite.
TEST(FeatureLog, ForeignFilesAreLeftAlone) {
  const test::TempDir folder;
  for (const std::string text : {"my notes, no line end", "my notes\nmore\n"}) {
    const auto path = folder.write("x.h5.part", text);
    EXPECT_PROBE_ERROR(FeatureLog(path, "id", 1, {}, true), ErrorKind::input,
                       "x.h5.part: is in the way: expected a log of unfinished vectors");
    EXPECT_EQ(test::slurp(path), text);
  }
}

TEST(FeatureLog, RestartBeginsAnew) {
  const test::TempDir folder;
  const auto path = folder.path() / "log";
  { FeatureLog(path, "one", 1, {}, false).append(key('a'), std::vector<float>{1}); }
  FeatureLog log(path, "two", 1, {}, true);
  EXPECT_EQ(log.size(), 0u);
}

TEST(Bugcase35, TheSecondWriterStopsAtOnce) {
  const test::TempDir folder;
  const auto path = folder.path() / "log";
  FeatureLog first(path, "id", 1, {}, false);
  EXPECT_PROBE_ERROR(FeatureLog(path, "id", 1, {}, false), ErrorKind::io,
                     "log: another process has it open");
  first.append(key('a'), std::vector<float>{1});
  EXPECT_EQ(first.size(), 1u);
  EXPECT_PROBE_ERROR(FeatureLog(folder.path() / "no/log", "id", 1, {}, false), ErrorKind::io,
                     "cannot open for writing: No such file or directory");
}

}  // namespace
}  // namespace probe
