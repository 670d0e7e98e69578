// embed, zeroshot, match, compare and export on a few real photos, end to end.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "probe/core/sha256.h"
#include "tests/support/run_program.h"
#include "tests/support/small_dataset.h"

namespace probe {
namespace {

using nlohmann::json;
using test::run_probe;

class MainJob : public testing::Test {
 protected:
  test::TempDir home_, data_;
  std::string items_ = test::write_small_dataset(data_, {"banana", "kiwi", "tomato"},
                                                 {"egg", "pineapple", "avocado"});
  std::string file_ = data_.path() / "out.h5";

  test::ProgramResult run(const std::vector<std::string>& arguments, int exit_code = 0) {
    test::ProgramResult result = run_probe(arguments, home_.path());
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return result;
  }

  static json table(const json& report, const std::string& name) {
    for (const json& entry : report.at("tables")) {
      if (entry.at("name") == name) return entry.at("rows");
    }
    ADD_FAILURE() << "no table " << name;
    return json::array();
  }

  void embed() { run({"embed", items_, "-o", file_, "-q"}); }
};

TEST_F(MainJob, DatasetAndFileGiveTheSameNumbers) {
  embed();
  const json from_file = json::parse(run({"zeroshot", file_, "--json", "-q"}).out);
  const json from_data = json::parse(run({"zeroshot", items_, "--json", "-q"}).out);
  EXPECT_EQ(from_file.at("tables"), from_data.at("tables"));
  EXPECT_EQ(from_file.at("provenance").at("bundle_sha256"),
            sha256_file(PROBE_SOURCE_DIR "/encoders/demo/bundle/encoder.json"));
}

TEST_F(MainJob, CategoriesSumToTheTotalAndFormatsAgree) {
  const json report = json::parse(run({"zeroshot", items_, "--json", "-q"}).out);
  const json original = table(report, "choice_by_condition").at(0).at("accuracy");
  std::int64_t correct = 0, total = 0;
  for (const json& row : table(report, "choice_by_category")) {
    correct += row.at("original").at("correct").get<std::int64_t>();
    total += row.at("original").at("total").get<std::int64_t>();
  }
  EXPECT_EQ(total, 6);
  EXPECT_EQ(original.at("correct"), correct);
  EXPECT_EQ(original.at("total"), total);
  const std::string counts = std::to_string(correct) + "/" + std::to_string(total) + ")";
  EXPECT_NE(run({"zeroshot", items_, "-q"}).out.find(counts), std::string::npos);
  const std::string csv = run({"zeroshot", items_, "-q", "--format", "csv"}).out;
  EXPECT_NE(csv.find("original," + std::to_string(correct) + "," + std::to_string(total) + ","),
            std::string::npos)
      << csv;
}

TEST_F(MainJob, VectorsAreComputedOnceAndCached) {
  run({"match", items_, "-q"});
  const auto cache = home_.path() / ".cache/probe/embeddings";
  ASSERT_TRUE(std::filesystem::exists(cache));
  const auto log = std::filesystem::directory_iterator(cache)->path();
  const std::string before = test::slurp(log);
  // The photos are renamed and one byte of a sidecar changes: content decides, not names.
  std::filesystem::rename(data_.path() / "kiwi-01.jpg", data_.path() / "kiwi-00.jpg");
  std::string manifest = test::slurp(items_);
  manifest.replace(manifest.find("kiwi-01.jpg"), 11, "kiwi-00.jpg");
  data_.write("items.jsonl", manifest);
  run({"match", items_, "-q"});
  EXPECT_EQ(test::slurp(log), before);
  run({"match", items_, "-q", "--pool", "all"});  // another identity: another log
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(cache), {}), 2);
}

TEST_F(MainJob, MatchCountsQueriesAndNeverPads) {
  embed();
  const json report =
      json::parse(run({"match", file_, "--json", "-q", "--k", "1", "5", "50", "--neighbors"}).out);
  const json rows = table(report, "match_o2o");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.at(0).at("hit").at("total"), 6);
  // Five others, one of them right: at k = 5 every order hits.
  EXPECT_EQ(rows.at(1).at("hit").at("correct"), 6);
  EXPECT_NEAR(rows.at(1).at("chance_percent").get<double>(), 100.0, 1e-9);
  EXPECT_NEAR(rows.at(0).at("chance_percent").get<double>(), 20.0, 1e-9);
  const json neighbors = table(report, "match_o2o_neighbors");
  EXPECT_EQ(neighbors.size(), 30u);
  for (const json& row : neighbors) EXPECT_NE(row.at("query"), row.at("neighbor"));
}

// A twin finds its own source, unless that is left out.
TEST_F(MainJob, A2oLeavesTheSourceOutAndSaysSo) {
  std::filesystem::copy_file(data_.path() / "kiwi-01.jpg", data_.path() / "twin.jpg");
  data_.write("items.jsonl",
              test::slurp(items_) +
                  "{\"id\":\"twin\",\"image\":\"twin.jpg\",\"category\":\"kiwi\",\"condition\":"
                  "\"color\",\"original_id\":\"kiwi-01\",\"attribute\":\"none\"}\n");
  embed();
  const test::ProgramResult without =
      run({"match", file_, "--mode", "a2o", "--neighbors", "--k", "1", "--format", "csv"});
  EXPECT_EQ(without.out.find("twin,kiwi,1,kiwi-01"), std::string::npos) << without.out;
  EXPECT_NE(without.err.find("is left out of its gallery (1 queries)"), std::string::npos);
  const test::ProgramResult kept = run({"match", file_, "--mode", "a2o", "--neighbors", "--k",
                                        "1", "--format", "csv", "--keep-source"});
  EXPECT_NE(kept.out.find("twin,kiwi,1,kiwi-01"), std::string::npos) << kept.out;
  EXPECT_NE(kept.err.find("hit@k is too high"), std::string::npos);
}

TEST_F(MainJob, NamesOutsideTheVocabularyAreWarnedAboutOnce) {
  std::string questions = test::slurp(data_.path() / "questions.jsonl");
  for (std::size_t at; (at = questions.find("avocado")) != std::string::npos;) {
    questions.replace(at, 7, "xylophonist");
  }
  data_.write("questions.jsonl", questions);
  const json report = json::parse(run({"zeroshot", items_, "--json", "-q"}).out);
  ASSERT_EQ(report.at("warnings").size(), 1u) << report.at("warnings");
  EXPECT_NE(report.at("warnings").at(0).get<std::string>().find("xylophonist"), std::string::npos);
  EXPECT_NE(run({"zeroshot", items_, "-q"}).err.find("its vector means nothing"),
            std::string::npos);
}

TEST_F(MainJob, CompareShowsUnknownAndKeepsPublishedApart) {
  embed();
  const json report = json::parse(run({"compare", file_, "--json", "-q", "--published",
                                       PROBE_SOURCE_DIR "/demo/nemo_table2.csv"})
                                      .out);
  const json row = table(report, "comparison").at(0);
  EXPECT_EQ(row.at("encoder"), "demo");
  EXPECT_EQ(row.at("choice_original").at("total"), 6);
  EXPECT_TRUE(row.at("choice_modified").is_null());
  EXPECT_TRUE(row.at("a2o_hit").is_null());
  const json published = table(report, "published");
  ASSERT_EQ(published.size(), 28u);
  // NEMO Table 2 as printed: LLaVA-NeXT-8B, and a cell that the text does not have.
  EXPECT_EQ(published.at(2).at("model"), "LLaVA-NeXT-8B");
  EXPECT_NEAR(published.at(2).at("orig_choice").get<double>(), 77.2, 1e-9);
  EXPECT_NEAR(published.at(2).at("mod_avg").get<double>(), 30.7, 1e-9);
  EXPECT_EQ(published.at(10).at("model"), "InternVL2-26B");
  EXPECT_TRUE(published.at(10).at("orig_choice").is_null());
}

TEST_F(MainJob, TablesAreWrittenAsFiles) {
  embed();
  const auto folder = data_.path() / "tables";
  run({"match", file_, "-q", "--tables", folder});
  EXPECT_TRUE(std::filesystem::exists(folder / "match_o2o.csv"));
  const json report = json::parse(test::slurp(folder / "result.json"));
  EXPECT_NE(report.at("provenance").at("command_line").get<std::string>().find("probe match"),
            std::string::npos);
}

// BUGCASES 59: neither carriage returns nor escapes where stderr is a file.
TEST_F(MainJob, Bugcase59_LogsArePlain) {
  const test::ProgramResult result = run({"embed", items_, "-o", file_});
  EXPECT_EQ(result.err.find('\r'), std::string::npos);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
  EXPECT_NE(result.err.find("embedding with demo: 6/6"), std::string::npos);
  EXPECT_LT(result.err.size(), 4096u);
}

// The same file twice: nothing in it depends on time or on what ran before.
TEST_F(MainJob, EmbedIsDeterministic) {
  embed();
  const std::string first = test::slurp(file_);
  std::filesystem::remove(file_);
  embed();
  EXPECT_EQ(sha256_hex(test::slurp(file_)), sha256_hex(first));
  EXPECT_FALSE(std::filesystem::exists(file_ + ".part"));
}

}  // namespace
}  // namespace probe
