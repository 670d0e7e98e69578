// The same inputs give the same file, the number of threads changes no vector, and how a run was cut into batches
// changes them by rounding alone.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "probe/core/atomic_file.h"
#include "probe/store/embedding_file.h"
#include "tests/support/run_program.h"
#include "tests/support/small_dataset.h"

namespace probe {
namespace {

using nlohmann::json;

// Of a component, over the vector's norm: a few roundings of float32 in each of the tower's
// sums. docs/reliability.md states it.
constexpr float kTolerance = 1e-5f;

class Determinism : public testing::Test {
 protected:
  test::TempDir home_;
  std::string photos_ = home_.path() / "photos";
  std::string file_ = home_.path() / "x.h5";

  void SetUp() override {
    for (const char* category : {"apple", "kiwi", "lemon", "mango"}) {
      std::filesystem::create_directories(photos_);
      std::filesystem::copy(test::demo_folder() / "originals" / category,
                            std::filesystem::path(photos_) / category);
    }
  }

  // Always the same name, which stands in the file's command line.
  std::string embed(std::vector<std::string> more) {
    std::vector<std::string> words{"embed", photos_, "-o", file_, "--no-text", "-q"};
    words.insert(words.end(), more.begin(), more.end());
    const test::ProgramResult result = test::run_probe(words, home_.path());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::string bytes = read_file(file_, std::size_t{1} << 30);
    return bytes;
  }

  EmbeddingSet vectors(std::vector<std::string> more) {
    embed(std::move(more));
    return read_embedding_file(file_, {});
  }

  json neighbors() {
    const test::ProgramResult result =
        test::run_probe({"match", file_, "--neighbors", "--json", "-q"}, home_.path());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out).at("tables").back().at("rows");
  }
};

TEST_F(Determinism, TheSameRunTwiceGivesTheSameBytes) {
  for (const char* batch : {"8", "3"}) {
    std::filesystem::remove(file_);
    const std::string first = embed({"--threads", "2", "--batch-size", batch});
    std::filesystem::remove(file_);
    EXPECT_TRUE(first == embed({"--threads", "2", "--batch-size", batch})) << batch;
  }
}

TEST_F(Determinism, ThreadsChangeNothing) {
  const EmbeddingSet one = vectors({"--threads", "1"});
  for (const char* threads : {"2", "5"}) {
    std::filesystem::remove(file_);
    const EmbeddingSet more = vectors({"--threads", threads});
    EXPECT_EQ(more.items.id, one.items.id);
    EXPECT_EQ(more.embedding, one.embedding) << threads;
    EXPECT_EQ(more.mean_tokens, one.mean_tokens) << threads;
  }
}

TEST_F(Determinism, BatchesAndThreadsChangeVectorsByRoundingAlone) {
  const EmbeddingSet base = vectors({"--threads", "1", "--batch-size", "8"});
  const json base_neighbors = neighbors();
  ASSERT_GT(base.items.size(), 20u);
  const std::vector<std::vector<std::string>> runs = {
      {"--threads", "2", "--batch-size", "8"},
      {"--threads", "1", "--batch-size", "1"},
      {"--threads", "2", "--batch-size", "7"}};
  for (const std::vector<std::string>& options : runs) {
    std::filesystem::remove(file_);
    const EmbeddingSet other = vectors(options);
    ASSERT_EQ(other.items.id, base.items.id);
    for (Eigen::Index i = 0; i < base.embedding.rows(); ++i) {
      const float largest =
          (other.embedding.row(i) - base.embedding.row(i)).lpNorm<Eigen::Infinity>();
      EXPECT_LE(largest, kTolerance * base.embedding.row(i).norm()) << options[1] << options[3];
      const float mean =
          (other.mean_tokens.row(i) - base.mean_tokens.row(i)).lpNorm<Eigen::Infinity>();
      EXPECT_LE(mean, kTolerance * base.mean_tokens.row(i).norm()) << options[1] << options[3];
    }
    // The same five neighbours in the same order, unless two are closer than rounding.
    const json found = neighbors();
    ASSERT_EQ(found.size(), base_neighbors.size());
    for (std::size_t row = 0; row < found.size(); ++row) {
      const json &a = found[row], &b = base_neighbors[row];
      EXPECT_TRUE(a.at("neighbor") == b.at("neighbor") ||
                  std::abs(a.at("cosine").get<double>() - b.at("cosine").get<double>()) < 1e-6)
          << a << b;
    }
  }
}

}  // namespace
}  // namespace probe
