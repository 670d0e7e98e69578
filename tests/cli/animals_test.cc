// NEMO's animals (demo/animals): a second set through the commands that made the first.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

using nlohmann::json;
using test::run_probe;

const std::string kAnimals = PROBE_SOURCE_DIR "/demo/animals";

std::vector<json> lines_of(const std::string& path) {
  std::vector<json> lines;
  std::istringstream stream(test::slurp(path));
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

class Animals : public testing::Test {
 protected:
  test::TempDir home_, out_;
};

TEST_F(Animals, TheManifestIsTheReviewedOne) {
  std::map<std::string, std::string> verdicts;
  std::istringstream csv(test::slurp(kAnimals + "/recolor_verdicts.csv"));
  for (std::string line; std::getline(csv, line);) {
    const auto first = line.find(','), second = line.find(',', first + 1);
    verdicts[line.substr(0, first)] = line.substr(first + 1, second - first - 1);
  }
  std::set<std::string> originals;
  int twins = 0;
  for (const json& item : lines_of(kAnimals + "/items.jsonl")) {
    if (item.at("condition") == "original") {
      originals.insert(item.at("id"));
    } else {
      ++twins;
      EXPECT_EQ(verdicts[item.at("id")], "accept") << item;
      EXPECT_TRUE(originals.contains(item.at("original_id"))) << item;
    }
  }
  EXPECT_EQ(originals.size(), 22u);
  EXPECT_EQ(twins, 12);
}

TEST_F(Animals, QuestionsGiveTheStoredFile) {
  const auto made = run_probe({"questions", kAnimals, "-o", out_.path(), "--seed", "1", "-q"}, home_.path());
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(test::slurp(out_.path() / "questions.jsonl"), test::slurp(kAnimals + "/questions.jsonl"));
}

TEST_F(Animals, RecolorMakesTheStoredTwin) {
  const std::string manifest = out_.write(
      "items.jsonl", "{\"id\":\"panda-01\",\"image\":\"" + kAnimals +
                         "/originals/panda/panda-01.jpg\",\"category\":\"panda\"}\n");
  const std::string made = out_.path() / "made";
  const auto result = run_probe({"recolor", manifest, "-o", made, "--colors", kAnimals + "/table_d.csv",
                                 "--boxes", kAnimals + "/recolor_boxes.csv", "--jpeg-quality", "80",
                                 "--allow-outside", "-q"},
                                home_.path());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<json> items = lines_of(made + "/items.jsonl");
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[1].at("id"), "panda-01-neon-pink");
  EXPECT_EQ(items[1].at("attribute"), "neon pink");
  EXPECT_EQ(items[1].at("original_id"), "panda-01");
}

TEST_F(Animals, ZeroShotAndMatchRun) {
  const auto choice = run_probe({"zeroshot", kAnimals, "--encoder", "demo", "--json", "-q"}, home_.path());
  ASSERT_EQ(choice.exit_code, 0) << choice.err;
  std::map<std::string, json> accuracy;
  const json report = json::parse(choice.out);
  for (const json& table : report.at("tables")) {
    if (table.at("name") != "choice_by_condition") continue;
    for (const json& row : table.at("rows")) accuracy[row.at("condition")] = row.at("accuracy");
  }
  EXPECT_EQ(accuracy.at("original").at("total"), 22);
  EXPECT_EQ(accuracy.at("color").at("total"), 12);
  // Far above chance (5.5 of 22 in the mean); encoders/demo/README.md measured .952.
  EXPECT_GE(accuracy.at("original").at("correct").get<int>(), 18);
  // One photo an animal: without the twin's own source nothing can be found.
  const auto match = run_probe({"match", kAnimals, "--mode", "a2o", "--encoder", "demo", "-q"}, home_.path());
  EXPECT_EQ(match.exit_code, 0) << match.err;
  EXPECT_NE(match.out.find("none"), std::string::npos) << match.out;
}

}  // namespace
}  // namespace probe
