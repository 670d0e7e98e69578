// Approximate search against the exact one, which is tested against a naive loop.
#include "index/approximate_index.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

constexpr std::int64_t kRows = 12'000;

// Points around 300 centres, as embeddings of a few hundred classes are.
RowMatrix clustered(std::int64_t n, int d, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  const auto draw = [&](std::int64_t rows) {
    RowMatrix matrix(rows, d);
    for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = normal(generator);
    return matrix;
  };
  generator.seed(1);
  const RowMatrix centers = draw(300);
  generator.seed(seed);
  RowMatrix rows = 0.5f * draw(n);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) rows.row(i) += centers.row(i % 300);
  return rows;
}

ApproximateOptions options(IndexKind kind, int probes = 32, int ef_search = 128,
                           const std::filesystem::path& folder = {}) {
  return {kind, probes, ef_search, folder};
}

class ApproximateSearch : public testing::Test {
 protected:
  std::vector<Neighbors> search(const ApproximateOptions& options, std::int64_t block = 4096,
                                int k = 5, const std::vector<Excluded>& excluded = {}) const {
    return index(options, block).search(queries_, k, excluded);
  }
  ApproximateIndex index(const ApproximateOptions& options, std::int64_t block = 4096) const {
    return ApproximateIndex(
        kRows, block,
        [this, block](std::int64_t begin, std::int64_t count) -> RowMatrix {
          EXPECT_LE(count, block);
          return gallery_.middleRows(begin, count);
        },
        options);
  }
  // Share of the exact neighbours that were found.
  double recall(const std::vector<Neighbors>& found) const {
    const std::vector<Neighbors> exact = FlatIndex(gallery_).search(queries_, 5, {});
    int right = 0;
    for (std::size_t q = 0; q < exact.size(); ++q) {
      std::set<std::int64_t> rows;
      for (const Neighbor& neighbor : found[q]) rows.insert(neighbor.row);
      for (const Neighbor& neighbor : exact[q]) right += static_cast<int>(rows.count(neighbor.row));
    }
    return right / (5.0 * static_cast<double>(exact.size()));
  }

  RowMatrix gallery_ = clustered(kRows, 24, 2), queries_ = clustered(200, 24, 3);
};

void expect_close(const std::vector<Neighbors>& found, const std::vector<Neighbors>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t q = 0; q < found.size(); ++q) {
    ASSERT_EQ(found[q].size(), wanted[q].size()) << q;
    for (std::size_t i = 0; i < found[q].size(); ++i) {
      ASSERT_EQ(found[q][i].row, wanted[q][i].row) << q << " " << i;
      ASSERT_NEAR(found[q][i].score, wanted[q][i].score, 1e-6) << q << " " << i;
    }
  }
}

TEST_F(ApproximateSearch, AllListsLookedIntoAreExactSearch) {
  expect_close(search(options(IndexKind::ivf, 1 << 20)), FlatIndex(gallery_).search(queries_, 5, {}));
}

TEST_F(ApproximateSearch, FindsMostNeighboursAndMoreWithMoreEffort) {
  for (const IndexKind kind : {IndexKind::ivf, IndexKind::hnsw}) {
    const double some = recall(search(options(kind, 1, 5))), more = recall(search(options(kind)));
    EXPECT_GT(more, 0.97) << static_cast<int>(kind);
    EXPECT_LT(some, more) << static_cast<int>(kind);
  }
  const double quantised = recall(search(options(IndexKind::ivfpq)));
  EXPECT_GT(quantised, 0.2);  // chance is 5 / 12,000
  EXPECT_LT(quantised, 1.0);
}

TEST_F(ApproximateSearch, ListsOnDiskOrFromOtherBlocksAreTheSame) {
  for (const IndexKind kind : {IndexKind::ivf, IndexKind::ivfpq}) {
    const std::vector<Neighbors> wanted = search(options(kind));
    EXPECT_EQ(search(options(kind), 500), wanted);
    const test::TempDir folder;
    {
      const ApproximateIndex on_disk = index(options(kind, 32, 128, folder.path()), 500);
      EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
      EXPECT_EQ(on_disk.search(queries_, 5, {}), wanted);
      EXPECT_NE(on_disk.description().find("lists on disk"), std::string::npos);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

TEST_F(ApproximateSearch, ExcludedRowsAreNotGiven) {
  const std::vector<Neighbors> ten = search(options(IndexKind::ivf), 4096, 10);
  std::vector<Excluded> excluded;
  std::vector<Neighbors> rest;
  for (const Neighbors& neighbors : ten) {
    Excluded rows;
    for (std::size_t i = 0; i < 5; ++i) rows.push_back(neighbors[i].row);
    std::sort(rows.begin(), rows.end());
    excluded.push_back(rows);
    rest.emplace_back(neighbors.begin() + 5, neighbors.end());
  }
  EXPECT_EQ(search(options(IndexKind::ivf), 4096, 5, excluded), rest);
}

TEST_F(ApproximateSearch, SaysWhatItIs) {
  EXPECT_EQ(index(options(IndexKind::ivf)).description(),
            "ivf: 219 lists trained on 10950 rows, 32 looked into");
  EXPECT_EQ(index(options(IndexKind::ivfpq, 8)).description(),
            "ivfpq: 219 lists trained on 10950 rows, 8 looked into, 3 bytes a row");
  EXPECT_EQ(index(options(IndexKind::hnsw)).description(), "hnsw: 32 links a row, 128 candidates kept");
}

// FAISS throws, warns on stderr or pads with -1 where there is too little to train on.
TEST_F(ApproximateSearch, Bugcase32_TooFewRowsAreRefused) {
  const auto rows = [this](std::int64_t begin, std::int64_t count) -> RowMatrix {
    return gallery_.middleRows(begin, count);
  };
  EXPECT_PROBE_ERROR(ApproximateIndex(9'999, 4096, rows, {}), ErrorKind::input,
                     "approximate search: expected 10000 rows or more, got 9999");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const ApproximateIndex smallest(10'000, 4096, rows, options(IndexKind::ivfpq, 1));
  for (const Neighbors& found : smallest.search(queries_, 300, {})) {
    EXPECT_LE(found.size(), 300u);
    for (const Neighbor& neighbor : found) EXPECT_GE(neighbor.row, 0);
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(ApproximateSearch, BadRowsAndQueriesAreNamed) {
  gallery_.row(4100).setZero();
  EXPECT_PROBE_ERROR(index(options(IndexKind::hnsw)), ErrorKind::input, "row 4");
  gallery_ = clustered(kRows, 24, 2);
  const ApproximateIndex good = index({});
  EXPECT_PROBE_ERROR(good.search(queries_.leftCols(8), 5, {}), ErrorKind::input,
                     "expected queries of 24 dimensions and k of 1 or more, got 8 and 5");
  EXPECT_PROBE_ERROR(index(options(IndexKind::ivf, 32, 128, "/no/such/folder")), ErrorKind::io,
                     "/no/such/folder: cannot create a file for the index: ");
}

}  // namespace
}  // namespace probe
