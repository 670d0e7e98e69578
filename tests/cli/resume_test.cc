// A killed embed goes on where it stopped, and gives the same vectors (BUGCASES 34, 35).
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "probe/store/embedding_file.h"
#include "tests/support/run_program.h"
#include "tests/support/small_dataset.h"

namespace probe {
namespace {

class Resume : public testing::Test {
 protected:
  test::TempDir home_;
  std::string photos_ = test::demo_folder() / "originals";
  std::string file_ = home_.path() / "x.h5", part_ = file_ + ".part";

  // Starts an embed of all demo photos and returns its process once some vectors are safe.
  pid_t start() {
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv("HOME", home_.path().c_str(), 1);
      ::dup2(::open("/dev/null", O_RDWR), 1);
      ::dup2(::open("/dev/null", O_RDWR), 2);
      ::execl(PROBE_PROGRAM, "probe", "embed", photos_.c_str(), "-o", file_.c_str(), "--no-text",
              nullptr);
      ::_exit(127);
    }
    constexpr std::uintmax_t kSomeRecords = 20 * (512 + 1280) * 4;
    std::error_code code;
    for (int i = 0; i < 2000; ++i) {
      const auto size = std::filesystem::file_size(part_, code);
      if (!code && size > kSomeRecords) return child;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "embed wrote nothing";
    return child;
  }

  test::ProgramResult embed(std::vector<std::string> more = {}) {
    std::vector<std::string> words{"embed", photos_, "-o", file_, "--no-text"};
    words.insert(words.end(), more.begin(), more.end());
    return test::run_probe(words, home_.path());
  }
};

TEST_F(Resume, Bugcase34_KilledInMidRun) {
  const pid_t child = start();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(std::filesystem::exists(file_));
  ASSERT_TRUE(std::filesystem::exists(part_));
  const test::ProgramResult resumed = embed();
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("resuming: "), std::string::npos) << resumed.err;
  EXPECT_FALSE(std::filesystem::exists(part_));
  const EmbeddingSet first = read_embedding_file(file_, {});
  std::filesystem::remove(file_);
  EXPECT_EQ(embed().exit_code, 0);  // undisturbed
  const EmbeddingSet second = read_embedding_file(file_, {});
  EXPECT_EQ(first.items, second.items);
  EXPECT_EQ(first.embedding, second.embedding);
  EXPECT_EQ(first.mean_tokens, second.mean_tokens);
}

TEST_F(Resume, Bugcase35_TheSecondEmbedStopsAndHarmsNothing) {
  const pid_t child = start();
  for (const char* option : {"--quiet", "--restart"}) {
    const test::ProgramResult second = embed({option});
    EXPECT_EQ(second.exit_code, 1);
    EXPECT_NE(second.err.find("x.h5.part: another process has it open"), std::string::npos)
        << second.err;
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_embedding_file(file_, {}).items.size(), 222u);
}

TEST_F(Resume, OtherOptionsAreNoticedNotMixed) {
  const pid_t child = start();
  ::kill(child, SIGTERM);
  ::waitpid(child, nullptr, 0);
  const test::ProgramResult other = embed({"--pool", "all"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_NE(other.err.find("holds vectors of another encoder, bundle or option"),
            std::string::npos)
      << other.err;
  EXPECT_EQ(embed({"--pool", "all", "--restart"}).exit_code, 0);
  EXPECT_EQ(read_embedding_file(file_, {}).provenance.pooling, "mean of all tokens");
}

// The file's vectors are what they are.
TEST_F(Resume, OptionsThatAnEmbeddingFileCannotFollowAreRefused) {
  const test::TempDir data;
  const std::string items = test::write_small_dataset(data, {"kiwi"}, {"egg"});
  const std::string file = data.path() / "out.h5";
  ASSERT_EQ(test::run_probe({"embed", items, "-o", file, "-q"}, home_.path()).exit_code, 0);
  for (const auto& [option, value] : {std::pair{"--layer", "-2"}, std::pair{"--pool", "all"},
                                      std::pair{"--dtype", "bfloat16"}}) {
    const test::ProgramResult result =
        test::run_probe({"match", file, option, value, "-q"}, home_.path());
    EXPECT_EQ(result.exit_code, 2) << option;
    EXPECT_NE(result.err.find(std::string(option) + " asks for"), std::string::npos)
        << result.err;
  }
}

}  // namespace
}  // namespace probe
