// Shards made by the built program, and what `merge` and `shards` say of them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "probe/store/embedding_file.h"
#include "tests/support/run_program.h"
#include "tests/support/small_dataset.h"

namespace probe {
namespace {
namespace fs = std::filesystem;

// Eight photos and one that cannot be read, fifth of the list.
class Shards : public testing::Test {
 protected:
  Shards() {
    const std::string all = test::slurp(
        test::write_small_dataset(data_, {"banana", "kiwi", "lemon", "orange"}, {"egg"}));
    std::size_t fifth = 0;
    for (int line = 0; line < 4; ++line) fifth = all.find('\n', fifth) + 1;
    data_.write("torn.jpg", "no picture");
    items_ = data_.write("items.jsonl", all.substr(0, fifth) +
                                            "{\"id\":\"torn\",\"image\":\"torn.jpg\"}\n" +
                                            all.substr(fifth));
    fs::create_directories(shards_);
  }

  test::ProgramResult run(std::vector<std::string> words) const {
    return test::run_probe(words, home_.path());
  }

  std::string file(int index) const { return shards_ / ("s-" + std::to_string(index) + ".h5"); }

  test::ProgramResult embed(int index, int count, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"embed", items_, "--shard",
                                   std::to_string(index) + "/" + std::to_string(count), "-o",
                                   file(index)};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  // Shards with the unreadable photo end with 1, as every `embed` does.
  void embed_all(int count) const {
    for (int index = 0; index < count; ++index) {
      const test::ProgramResult result = embed(index, count, {"-q"});
      const bool bad = 4 >= index * 9 / count && 4 < (index + 1) * 9 / count;
      EXPECT_EQ(result.exit_code, bad ? 1 : 0) << index << result.err;
    }
  }

  nlohmann::json survey(std::vector<std::string> more, int exit_code) const {
    std::vector<std::string> words{"shards", shards_, "--json", "-q"};
    words.insert(words.end(), more.begin(), more.end());
    const test::ProgramResult result = run(words);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return nlohmann::json::parse(result.out)["tables"];
  }

  static void contains(const test::ProgramResult& result, int exit_code, const std::string& text) {
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err << "expected: " << text;
  }

  test::TempDir home_, data_;
  std::string items_;
  fs::path shards_ = home_.path() / "shards";
};

TEST_F(Shards, JoinedAreWhatOneRunWrites) {
  const std::string whole = home_.path() / "whole.h5";
  EXPECT_EQ(run({"embed", items_, "-o", whole, "-q"}).exit_code, 1);
  embed_all(3);
  const EmbeddingSet wanted = read_embedding_file(whole, {});
  EXPECT_EQ(wanted.failed.item, std::vector<std::int64_t>{4});
  EXPECT_EQ(wanted.failed.id, std::vector<std::string>{"torn"});
  ASSERT_EQ(wanted.items.size(), 8u);
  for (const bool virtual_rows : {false, true}) {
    const std::string joined = home_.path() / "joined.h5";
    std::vector<std::string> words{"merge", shards_, "-o", joined, "--json", "-q"};
    if (virtual_rows) words.push_back("--virtual");
    const test::ProgramResult result = run(words);
    contains(result, 0, "warning: 1 items have no vector; /failed in the file says why");
    const auto row = nlohmann::json::parse(result.out)["tables"][0]["rows"][0];
    EXPECT_EQ(row["files"], 3);
    EXPECT_EQ(row["images"], 8);
    EXPECT_EQ(row["bytes"], fs::file_size(joined));
    const EmbeddingSet found = read_embedding_file(joined, {});
    EXPECT_EQ(found.items, wanted.items);
    EXPECT_EQ(found.embedding, wanted.embedding);
    EXPECT_EQ(found.mean_tokens, wanted.mean_tokens);
    EXPECT_EQ(found.prompts, wanted.prompts);
    EXPECT_EQ(found.text_embedding, wanted.text_embedding);
    EXPECT_EQ(found.failed, wanted.failed);
    // Commands give the same numbers.
    const auto match = [&](const std::string& path) {
      const auto report = nlohmann::json::parse(run({"match", path, "--json", "-q"}).out);
      return report["tables"].dump();
    };
    EXPECT_EQ(match(joined), match(whole));
  }
}

TEST_F(Shards, AFinishedShardIsNotRedone) {
  const std::string first = file(1);
  contains(embed(1, 3), 1, "failed: torn");
  const auto written = fs::last_write_time(first);
  const test::ProgramResult again = embed(1, 3);
  contains(again, 0, "s-1.h5: shard 1/3 is finished already; nothing was done");
  contains(again, 0, "s-1.h5: 1 of its items have no vector, the first: torn: ");
  EXPECT_EQ(fs::last_write_time(first), written);
  // Other options, parts, lists or images are refused in one line.
  const std::string way_out = "; choose another name, or --restart to replace it\n";
  const auto refused = [&](const test::ProgramResult& result, const std::string& what) {
    contains(result, 1, "error: " + first + ": " + what);
    EXPECT_TRUE(result.err.ends_with(way_out)) << result.err;
    EXPECT_EQ(fs::last_write_time(first), written);
  };
  refused(embed(1, 3, {"--pool", "all", "-q"}),
          "was made with other options: pooling \"mean of patch tokens\", not \"mean of all tokens\"");
  refused(embed(1, 3, {"--store", "float16", "-q"}), "was made with other options: --store");
  refused(embed(1, 3, {"--tokens", "-q"}), "was made with other options: --tokens");
  refused(embed(1, 3, {"--no-text", "-q"}), "holds a shard of another list: texts to embed");
  refused(embed(1, 4, {"-q"}), "holds a shard of another list: parts 3, not 4");
  refused(run({"embed", items_, "--shard", "0/3", "-o", first, "-q"}), "holds shard 1/3, not 0/3");
  const std::string list = test::slurp(items_);
  std::ofstream(items_, std::ios::app) << "{\"id\":\"new\",\"image\":\"torn.jpg\"}\n";
  refused(embed(1, 3, {"-q"}), "holds a shard of another list: items in all 9, not 10");
  std::ofstream(items_) << list;
  // Touched, but the same: fine. Another photo under the name: not.
  const fs::path photo = data_.path() / "kiwi-02.jpg";
  fs::copy_file(photo, data_.path() / "copy.jpg");
  fs::copy_file(data_.path() / "copy.jpg", photo, fs::copy_options::overwrite_existing);
  contains(embed(1, 3), 0, "is finished already");
  fs::copy_file(data_.path() / "lemon-01.jpg", photo, fs::copy_options::overwrite_existing);
  refused(embed(1, 3, {"-q"}), "1 of its images have changed since, the first: kiwi-02");
  EXPECT_EQ(embed(1, 3, {"--restart", "-q"}).exit_code, 1);
  EXPECT_NE(fs::last_write_time(first), written);
  const std::string whole = home_.path() / "whole.h5";
  EXPECT_EQ(run({"embed", items_, "-o", whole, "-q", "--no-text"}).exit_code, 1);
  contains(run({"embed", items_, "--shard", "0/3", "-o", whole, "-q"}), 1,
           "whole.h5: holds no shard; choose another name");
}

TEST_F(Shards, WrongNumbersAreUsage) {
  contains(embed(3, 3), 2, "--shard: expected i/N with i from 0 to N-1");
  contains(embed(0, 10), 2, "expected at most as many parts as items, got 10 parts of 9 items");
}

TEST_F(Shards, AShardOfBadItemsAloneIsFinished) {
  embed_all(9);
  const EmbeddingSet set = read_embedding_file(file(4), {});
  EXPECT_EQ(set.items.size(), 0u);
  EXPECT_EQ(set.failed.id, std::vector<std::string>{"torn"});
  contains(embed(4, 9), 0, "shard 4/9 is finished already");
  EXPECT_EQ(survey({}, 0)[0]["rows"][0]["finished"], 9);
  EXPECT_EQ(run({"merge", shards_, "-o", home_.path() / "joined.h5", "-q"}).exit_code, 0);
  EXPECT_EQ(read_embedding_file(home_.path() / "joined.h5", {}).items.size(), 8u);
}

TEST_F(Shards, SurveyNamesEveryState) {
  // Nothing yet.
  contains(run({"shards", shards_}), 1, "no shards there; --count says how many there must be");
  EXPECT_EQ(run({"shards", shards_, "--count", "9", "--missing"}).out, "0-8\n");
  embed_all(9);
  fs::remove(file(2));
  fs::remove(file(5));
  fs::remove(file(6));
  fs::resize_file(file(7), 2000);
  fs::remove(file(8));
  EXPECT_EQ(embed(8, 9, {"-q", "--store", "float16"}).exit_code, 0);
  fs::rename(file(8), shards_ / "foreign-8.h5");
  const std::string whole = shards_ / "whole.h5";
  EXPECT_EQ(run({"embed", items_, "-o", whole, "-q", "--no-text"}).exit_code, 1);
  const nlohmann::json tables = survey({}, 1);
  const auto counts = tables[0]["rows"][0];
  EXPECT_EQ(counts["shards"], 9);
  EXPECT_EQ(counts["finished"], 4);  // 0, 1, 3, 4
  EXPECT_EQ(counts["missing"], 5);   // 2, 5, 6, 7, 8
  EXPECT_EQ(counts["damaged"], 1);
  EXPECT_EQ(counts["foreign"], 2);
  EXPECT_EQ(counts["items"], 9);
  EXPECT_EQ(counts["vectors"], 3);
  EXPECT_EQ(counts["failed"], 1);
  std::map<std::string, std::string> remarks;
  for (const auto& row : tables[1]["rows"]) {
    remarks[fs::path(row["file"].get<std::string>()).filename()] =
        row["state"].get<std::string>() + ": " + row["remark"].get<std::string>();
  }
  EXPECT_EQ(remarks["s-0.h5"], "finished: ");
  EXPECT_TRUE(remarks["s-7.h5"].starts_with("damaged: cannot open")) << remarks["s-7.h5"];
  EXPECT_EQ(remarks["whole.h5"], "foreign: is a whole file, no shard");
  EXPECT_TRUE(remarks["foreign-8.h5"].starts_with(
      "foreign: is of another list or run: embedding of 512 float16"))
      << remarks["foreign-8.h5"];
  EXPECT_EQ(run({"shards", shards_, "--missing"}).out, "2,5-8\n");
  EXPECT_EQ(run({"shards", shards_ / "s-*.h5", "--missing"}).exit_code, 1);
  contains(run({"merge", shards_ / "s-[0-4].h5", "-o", home_.path() / "j.h5"}), 1,
           "of its 9 shards, missing: 2,5-8");
  EXPECT_FALSE(fs::exists(home_.path() / "j.h5"));
}

// A part file says whose it is, and how far it came.
TEST_F(Shards, UnfinishedOnesAreCounted) {
  embed_all(3);
  fs::remove(file(2));
  // Stopped by a photo that is no picture, after the others of its range were kept.
  fs::copy_file(data_.path() / "torn.jpg", data_.path() / "orange-02.jpg",
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(embed(2, 3, {"-q", "--fail-fast", "--batch-size", "1"}).exit_code, 1);
  const nlohmann::json tables = survey({}, 1);
  EXPECT_EQ(tables[0]["rows"][0]["unfinished"], 1);
  const auto row = tables[1]["rows"][2];
  EXPECT_EQ(row["shard"], 2);
  EXPECT_EQ(row["state"], "unfinished");
  EXPECT_EQ(row["vectors"], 2);
  EXPECT_EQ(row["items"], 3);
  EXPECT_EQ(run({"shards", shards_, "--missing"}).out, "2\n");
  // Another part of the list never goes on from it.
  contains(run({"embed", items_, "--shard", "1/3", "-o", file(2), "-q"}), 1,
           "holds vectors of another encoder, bundle or option");
  EXPECT_EQ(embed(2, 3, {"-q"}).exit_code, 1);
  EXPECT_EQ(survey({}, 0)[0]["rows"][0]["failed"], 2);
}

TEST_F(Shards, FilesOfSeveralDatasetsJoin) {
  const test::TempDir other;
  const std::string more = test::write_small_dataset(other, {"pear"}, {"egg"});
  const std::string a = home_.path() / "a.h5", b = home_.path() / "b.h5";
  EXPECT_EQ(run({"embed", items_, "-o", a, "-q"}).exit_code, 1);
  EXPECT_EQ(run({"embed", more, "-o", b, "-q"}).exit_code, 0);
  const std::string out = home_.path() / "both.h5";
  EXPECT_EQ(run({"merge", b, a, "-o", out, "-q"}).exit_code, 0);
  const EmbeddingSet found = read_embedding_file(out, {}), first = read_embedding_file(b, {}),
                     second = read_embedding_file(a, {});
  EXPECT_EQ(found.embedding.topRows(2), first.embedding);
  EXPECT_EQ(found.embedding.bottomRows(8), second.embedding);
  EXPECT_EQ(found.failed.item, std::vector<std::int64_t>{6});  // two others stand before
  // "egg" was asked about in both.
  EXPECT_EQ(found.prompts.size(), first.prompts.size() + second.prompts.size() - 1);
  contains(run({"merge", a, a, b, "-o", a}), 2, "a.h5: is one of the files to join");
  contains(run({"merge", a, home_.path() / "gone.h5", "-o", out}), 1,
           "gone.h5: no such file or folder");
  embed_all(1);
  contains(run({"merge", a, file(0), "-o", out}), 1, "s-0.h5: is a shard, but ");
}

}  // namespace
}  // namespace probe
