// Joined shards against the set they were cut from.
#include "probe/store/embedding_join.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include "tests/support/expect_error.h"
#include "tests/support/made_up_file.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {
namespace fs = std::filesystem;

constexpr ReadOptions kAll{true, true, true, true, false};

// 11 items, of which number 4 and 9 failed; tokens of two by three.
struct Whole {
  EmbeddingSet set;
  std::vector<Item> items;

  Whole() {
    set = test::made_up_set("demo", 9, 6, 1);
    set.tokens = RowMatrix::Random(9, 6);
    set.token_count = 2;
    set.prompts = {"c0", "c1", "c2"};
    std::size_t row = 0;
    for (int i = 0; i < 11; ++i) {
      Item item;
      const bool bad = i == 4 || i == 9;
      item.id = bad ? "bad-" + std::to_string(i) : set.items.id[row];
      if (!bad) item.category = set.items.category[row++];
      items.push_back(item);
    }
    set.failed = {{4, 9}, {"bad-4", "bad-9"}, {"b4.jpg", "b9.jpg"}, {"torn", "empty"}};
  }

  // As `embed --shard` makes them.
  std::vector<fs::path> cut(const fs::path& folder, std::int64_t count, StoredType type) const {
    std::vector<fs::path> paths;
    for (std::int64_t index = 0; index < count; ++index) {
      EmbeddingSet part;
      part.shard = make_shard(index, count, items, set.prompts);
      const ShardRange range = shard_range(*part.shard);
      part.provenance = set.provenance;
      part.token_count = set.token_count;
      std::vector<Eigen::Index> rows;
      Eigen::Index row = 0;
      for (std::int64_t i = 0; i < 11; ++i) {
        const bool bad = i == 4 || i == 9;
        const bool inside = i >= range.first && i < range.last;
        if (bad && inside) {
          const std::size_t f = i == 4 ? 0 : 1;
          part.failed.item.push_back(i);
          part.failed.id.push_back(set.failed.id[f]);
          part.failed.path.push_back(set.failed.path[f]);
          part.failed.reason.push_back(set.failed.reason[f]);
        }
        if (!bad && inside) rows.push_back(row);
        if (!bad) ++row;
      }
      for (const Eigen::Index r : rows) {
        const auto at = static_cast<std::size_t>(r);
        part.items.id.push_back(set.items.id[at]);
        part.items.path.push_back(set.items.path[at]);
        part.items.category.push_back(set.items.category[at]);
        part.items.condition.push_back(set.items.condition[at]);
        part.items.original_id.push_back("");
        part.items.attribute.push_back("");
        part.items.content_sha256.push_back(set.items.content_sha256[at]);
      }
      part.embedding = set.embedding(rows, Eigen::all);
      part.mean_tokens = set.mean_tokens(rows, Eigen::all);
      part.tokens = set.tokens(rows, Eigen::all);
      if (index == 0) {
        part.prompts = set.prompts;
        part.text_embedding = set.text_embedding;
      }
      paths.push_back(folder / ("s-" + std::to_string(index) + ".h5"));
      write_embedding_file(part, paths.back(), {type});
    }
    return paths;
  }
};

std::vector<FileSummary> summaries(const std::vector<fs::path>& paths) {
  std::vector<FileSummary> files;
  for (const fs::path& path : paths) files.push_back(read_file_summary(path, false));
  return files;
}

void expect_equal(const EmbeddingSet& found, const EmbeddingSet& wanted) {
  EXPECT_EQ(found.items, wanted.items);
  EXPECT_EQ(found.embedding, wanted.embedding);
  EXPECT_EQ(found.mean_tokens, wanted.mean_tokens);
  EXPECT_EQ(found.tokens, wanted.tokens);
  EXPECT_EQ(found.token_count, wanted.token_count);
  EXPECT_EQ(found.prompts, wanted.prompts);
  EXPECT_EQ(found.text_embedding, wanted.text_embedding);
  EXPECT_EQ(found.failed, wanted.failed);
  EXPECT_FALSE(found.shard);
}

class JoinedShards : public testing::TestWithParam<std::tuple<StoredType, bool, int>> {};

TEST_P(JoinedShards, AreTheSetTheyWereCutFrom) {
  const auto& [type, virtual_rows, count] = GetParam();
  const test::TempDir folder;
  const Whole whole;
  std::vector<fs::path> paths = whole.cut(folder.path(), count, type);
  std::reverse(paths.begin(), paths.end());
  JoinOptions options;
  options.virtual_rows = virtual_rows;
  options.command_line = "probe merge";
  const fs::path joined = folder.path() / "joined.h5";
  const JoinResult result = join_embedding_files(summaries(paths), joined, options);
  EXPECT_EQ(result.items, 9);
  EXPECT_EQ(result.failed, 2);
  write_embedding_file(whole.set, folder.path() / "whole.h5", {type});
  const EmbeddingSet found = read_embedding_file(joined, kAll);
  expect_equal(found, read_embedding_file(folder.path() / "whole.h5", kAll));
  EXPECT_EQ(found.provenance.command_line, "probe merge");
}

INSTANTIATE_TEST_SUITE_P(All, JoinedShards,
                         testing::Combine(testing::Values(StoredType::float32, StoredType::float16),
                                          testing::Bool(), testing::Values(1, 3, 11)));

// Blocks that span files and chunks: 2,201 rows of 2.4 KB are more than one block.
TEST(EmbeddingJoin, BlocksCrossFilesAndChunks) {
  const test::TempDir folder;
  std::vector<fs::path> paths;
  std::vector<EmbeddingSet> sets;
  for (const int rows : {1, 700, 0, 1500}) {
    EmbeddingSet set = test::made_up_set("demo", rows, 600, static_cast<unsigned>(rows));
    for (std::string& id : set.items.id) id += "-of-" + std::to_string(rows);
    set.prompts = {"c0", "c1", "c2"};
    paths.push_back(folder.path() / (std::to_string(rows) + ".h5"));
    write_embedding_file(set, paths.back(), {});
    sets.push_back(std::move(set));
  }
  join_embedding_files(summaries(paths), folder.path() / "joined.h5", {});
  const EmbeddingSet found = read_embedding_file(folder.path() / "joined.h5", {});
  ASSERT_EQ(found.embedding.rows(), 2201);
  EXPECT_EQ(found.embedding.row(0), sets[0].embedding.row(0));
  EXPECT_EQ(found.embedding.middleRows(1, 700), sets[1].embedding);
  EXPECT_EQ(found.mean_tokens.bottomRows(1500), sets[3].mean_tokens);
  // A text that several files hold stands once, with the first file's vector.
  EXPECT_EQ(found.prompts, sets[0].prompts);
  EXPECT_EQ(found.text_embedding, sets[0].text_embedding);
}

TEST(EmbeddingJoin, RefusesWhatDoesNotBelongTogether) {
  const test::TempDir folder;
  const Whole whole;
  const std::vector<fs::path> paths = whole.cut(folder.path(), 5, StoredType::float32);
  const fs::path out = folder.path() / "out.h5";
  const auto join = [&](const std::vector<fs::path>& some) {
    join_embedding_files(summaries(some), out, {});
  };
  EXPECT_PROBE_ERROR(join({paths[0], paths[3]}), ErrorKind::input,
                     "s-0.h5: of its 5 shards, missing: 1-2,4");
  EXPECT_PROBE_ERROR(join({paths[0], paths[1], paths[1]}), ErrorKind::input,
                     "s-1.h5: is shard 1/5, as is ");
  EmbeddingSet set = read_embedding_file(paths[1], kAll);
  const fs::path other = folder.path() / "other.h5";
  const auto with_other = [&] {
    write_embedding_file(set, other, {});
    join({paths[0], other, paths[2], paths[3], paths[4]});
  };
  set.provenance.layer = "-2";
  EXPECT_PROBE_ERROR(with_other(), ErrorKind::input, "other.h5: was made in another way than ");
  EXPECT_PROBE_ERROR(with_other(), ErrorKind::input, "s-0.h5: layer \"-2\", not \"last\"");
  set.provenance = whole.set.provenance;
  set.provenance.bundle_sha256 = std::string(64, 'b');
  EXPECT_PROBE_ERROR(with_other(), ErrorKind::input, "bundle \"bbbb");
  set.provenance = whole.set.provenance;
  set.shard->ids_sha256 = "other";
  EXPECT_PROBE_ERROR(with_other(), ErrorKind::input,
                     "s-0.h5: ids of the list");
  set.shard = std::nullopt;
  EXPECT_PROBE_ERROR(with_other(), ErrorKind::input, "other.h5: is no shard, but ");
  // As many items as there must be, but not those.
  set = read_embedding_file(paths[1], kAll);
  set.items.id[0] = "somebody else";
  EXPECT_PROBE_ERROR(with_other(), ErrorKind::input,
                     "the ids of its shards are not those of the list that they were made from");
  set = read_embedding_file(paths[1], kAll);
  set.mean_tokens.resize(set.mean_tokens.rows(), 0);
  EXPECT_PROBE_ERROR(with_other(), ErrorKind::input, "embedding of 6 float32, tokens of 6");
  set = read_embedding_file(paths[1], kAll);
  set.failed = {{2}, {"x"}, {""}, {"bad"}};
  EXPECT_PROBE_ERROR(with_other(), ErrorKind::input,
                     "other.h5: expected the 2 items of shard 1/5, got 2 and 1 that failed");
  EXPECT_FALSE(fs::exists(out));
  EXPECT_PROBE_ERROR(join_embedding_files(summaries(paths), paths[2], {}), ErrorKind::usage,
                     "s-2.h5: is one of the files to join");
}

TEST(EmbeddingJoin, AnIdMayStandOnce) {
  const test::TempDir folder;
  EmbeddingSet set = test::made_up_set("demo", 4, 3, 1);
  set.prompts = {"c0", "c1", "c2"};
  write_embedding_file(set, folder.path() / "a.h5", {});
  set.items.id = {"p", "q", "r", "item-02"};
  write_embedding_file(set, folder.path() / "b.h5", {});
  EXPECT_PROBE_ERROR(join_embedding_files(
                         summaries({folder.path() / "a.h5", folder.path() / "b.h5"}),
                         folder.path() / "out.h5", {}),
                     ErrorKind::input, "b.h5: id \"item-02\" stands in ");
}

// Damage that summaries do not come upon: an item's path of absurd length in its heap.
TEST(JoinedFiles, DamagedItemsEndInAProcessOfTheirOwn) {
  const test::TempDir folder;
  const fs::path path = folder.path() / "a.h5";
  write_embedding_file(test::made_up_set("demo", 4, 6, 1), path, {});
  std::vector<FileSummary> files{read_file_summary(path, false)};
  std::string bytes = test::slurp(path);
  const std::size_t text = bytes.find("item-01.jpg");
  ASSERT_NE(text, std::string::npos);
  bytes.replace(text - 8, 8, std::string("\xF0") + std::string(7, '\xFF'));
  folder.write("a.h5", bytes);
  EXPECT_PROBE_ERROR(join_embedding_files(files, folder.path() / "out.h5", {}), ErrorKind::input,
                     "a.h5: damaged: reading it did not come to an end");
}

// What a virtual file names is untrusted.
class VirtualFile : public testing::Test {
 protected:
  VirtualFile() {
    paths_ = whole_.cut(folder_.path(), 3, StoredType::float32);
    JoinOptions options;
    options.virtual_rows = true;
    join_embedding_files(summaries(paths_), joined_, options);
  }

  test::TempDir folder_;
  Whole whole_;
  std::vector<fs::path> paths_;
  fs::path joined_ = folder_.path() / "joined.h5";
};

TEST_F(VirtualFile, IsSmallAndMovesWithItsParts) {
  const test::TempDir elsewhere;
  fs::rename(folder_.path(), elsewhere.path() / "moved");
  expect_equal(read_embedding_file(elsewhere.path() / "moved/joined.h5", kAll), whole_.set);
  fs::rename(elsewhere.path() / "moved", folder_.path());
}

TEST_F(VirtualFile, APartThatIsAwayIsNoZeros) {
  fs::remove(paths_[1]);
  EXPECT_PROBE_ERROR(read_embedding_file(joined_, {}), ErrorKind::input,
                     "joined.h5:/image/embedding: its part \"s-1.h5\" is not there");
}

TEST_F(VirtualFile, APartOfAnotherRunIsRefused) {
  EmbeddingSet set = read_embedding_file(paths_[1], kAll);
  set.provenance.pooling = "mean of all tokens";
  write_embedding_file(set, paths_[1], {});
  EXPECT_PROBE_ERROR(read_embedding_file(joined_, {}), ErrorKind::input,
                     "its part \"s-1.h5\" is of another run: pooling");
}

TEST_F(VirtualFile, PartsThatChangedPlacesOrGrewAreRefused) {
  fs::copy_file(paths_[0], paths_[1], fs::copy_options::overwrite_existing);  // as many rows
  EXPECT_PROBE_ERROR(read_embedding_file(joined_, {}), ErrorKind::input,
                     "its part \"s-1.h5\" holds other items: expected \"item-03\", got \"item-00\"");
  fs::remove(paths_[1]);
  fs::copy_file(joined_, paths_[1]);
  EXPECT_PROBE_ERROR(read_embedding_file(joined_, {}), ErrorKind::input,
                     "s-1.h5:/image/embedding: is virtual itself, which is refused");
  write_embedding_file(test::made_up_set("demo", 4, 6, 3), paths_[1], {});
  EXPECT_PROBE_ERROR(read_embedding_file(joined_, {}), ErrorKind::input,
                     "expected 3 rows of 6 values, as the file that names it says, got [4, 6]");
}

TEST_F(VirtualFile, PartsOutsideNeedPermission) {
  const test::TempDir elsewhere;
  const fs::path real = elsewhere.path() / "s-1.h5";
  fs::rename(paths_[1], real);
  fs::create_symlink(real, paths_[1]);  // a link is no way out
  EXPECT_PROBE_ERROR(read_embedding_file(joined_, {}), ErrorKind::input,
                     "its part \"s-1.h5\" lies outside the file's folder");
  ReadOptions allowed = kAll;
  allowed.allow_outside = true;
  expect_equal(read_embedding_file(joined_, allowed), whole_.set);
  // Such a file is not written without it either.
  JoinOptions options;
  options.virtual_rows = true;
  std::vector<fs::path> paths = paths_;
  paths[1] = real;
  EXPECT_PROBE_ERROR(join_embedding_files(summaries(paths), folder_.path() / "two.h5", options),
                     ErrorKind::input, "s-1.h5: lies outside ");
  options.allow_outside = true;
  join_embedding_files(summaries(paths), folder_.path() / "two.h5", options);
  expect_equal(read_embedding_file(folder_.path() / "two.h5", allowed), whole_.set);
}

TEST_F(VirtualFile, IsJoinedToARealOneButNotReferredToAgain) {
  EmbeddingSet other = test::made_up_set("demo", 2, 6, 7);
  other.items.id = {"y", "z"};
  other.tokens = RowMatrix::Random(2, 6);
  other.token_count = 2;
  other.prompts = whole_.set.prompts;
  write_embedding_file(other, folder_.path() / "more.h5", {});
  const fs::path out = folder_.path() / "out.h5";
  join_embedding_files(summaries({folder_.path() / "more.h5", joined_}), out, {});
  const EmbeddingSet found = read_embedding_file(out, kAll);
  EXPECT_EQ(found.embedding.bottomRows(9), whole_.set.embedding);
  EXPECT_EQ(found.failed.item, (std::vector<std::int64_t>{6, 11}));  // after two others
  JoinOptions options;
  options.virtual_rows = true;
  EXPECT_PROBE_ERROR(join_embedding_files(summaries({joined_}), out, options), ErrorKind::input,
                     "joined.h5: is virtual itself; join it without --virtual");
}

// Virtual datasets that probe did not make: HDF5 would read zeros, or a file of /etc.
TEST(ForeignVirtualFile, IsRefused) {
  const test::TempDir folder;
  const Whole whole;
  whole.cut(folder.path(), 1, StoredType::float32);
  for (const auto& [name, object, rows, message] :
       {std::tuple{"/etc/passwd", "/image/embedding", 9, "lies outside the file's folder"},
        std::tuple{"../s-0.h5", "/image/embedding", 9, "lies outside the file's folder"},
        std::tuple{"s-0.h5", "/text/embedding", 9, "expected parts of /image"},
        std::tuple{"s-0.h5", "/image/embedding", 8, "expected 8 rows of 6 values, as the file that names it says, got [9, 6]"},
        std::tuple{"s-%%0.h5", "/image/embedding", 9, "expected parts that cover its rows in order"},
        std::tuple{".", "/image/embedding", 9, "is not there, or not an HDF5 file"}}) {
    const fs::path path = folder.path() / "trap.h5";
    EmbeddingSet set = whole.set;
    set.embedding.resize(9, 0);
    write_embedding_file(set, path, {});
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t dims[2] = {9, 6}, start[2] = {0, 0};
    const hsize_t part[2] = {static_cast<hsize_t>(rows), 6};
    const hid_t space = H5Screate_simple(2, dims, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, part, nullptr);
    const hid_t source = H5Screate_simple(2, part, nullptr);
    ASSERT_GE(H5Pset_virtual(properties, space, name, object, source), 0);
    const hid_t all = H5Screate_simple(2, dims, nullptr);
    ASSERT_GE(H5Dcreate2(file, "/image/embedding", H5T_IEEE_F32LE, all, H5P_DEFAULT, properties,
                         H5P_DEFAULT),
              0);
    H5Fclose(file);
    EXPECT_PROBE_ERROR(read_embedding_file(path, {}), ErrorKind::input, message);
  }
}

TEST(NumberRanges, AreWhatSlurmTakes) {
  EXPECT_EQ(number_ranges({}), "");
  EXPECT_EQ(number_ranges({3, 7, 8, 9}), "3,7-9");
  EXPECT_EQ(number_ranges({0, 1}), "0-1");
}

}  // namespace
}  // namespace probe
