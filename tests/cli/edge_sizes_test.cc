// One item, one class, an empty condition, k above n, the same encoder twice: each has one answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/support/small_dataset.h"

namespace probe {
namespace {

using nlohmann::json;

class EdgeSizes : public testing::Test {
 protected:
  test::TempDir home_;

  // A folder of `count` photos of one class.
  std::string photos(int count) {
    const std::filesystem::path folder = home_.path() / ("photos-" + std::to_string(count));
    std::filesystem::create_directories(folder / "kiwi");
    for (int i = 1; i <= count; ++i) {
      const std::string name = "kiwi-0" + std::to_string(i) + ".jpg";
      std::filesystem::copy_file(test::demo_folder() / "originals/kiwi" / name,
                                 folder / "kiwi" / name);
    }
    return folder;
  }

  json run(std::vector<std::string> words) {
    for (const char* word : {"--json", "-q"}) words.push_back(word);
    const test::ProgramResult result = test::run_probe(words, home_.path());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }

  void expect_error(std::vector<std::string> words, int exit_code, const std::string& message) {
    words.push_back("-q");
    const test::ProgramResult result = test::run_probe(words, home_.path());
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
  }
};

// The one query has nothing to find: it leaves the denominator, and no number is made up.
TEST_F(EdgeSizes, OneItem) {
  const std::string one = photos(1);
  for (const char* k : {"1", "50"}) {
    const json report = run({"match", one, "--k", k});
    const json& row = report.at("tables").at(0).at("rows").at(0);
    EXPECT_EQ(row.at("hit").at("total"), 0);
    EXPECT_TRUE(row.at("hit").at("percent").is_null());
    EXPECT_TRUE(row.at("chance_percent").is_null());
    EXPECT_EQ(row.at("no_positive"), 1);
  }
  expect_error({"classify", one}, 1, "classify: expected two classes or more");
  expect_error({"linear", one}, 1, "linear: expected images of two classes or more to train on, got 1");
  expect_error({"similarity", one, "-e", "demo", "-e", "demo"}, 1, "similarity: expected");
}

// Four photos of one class: every neighbour is right, and so says chance.
TEST_F(EdgeSizes, OneClassAndMoreNeighboursThanItems) {
  const json report = run({"match", photos(4), "--k", "50", "--neighbors"});
  const json& row = report.at("tables").at(0).at("rows").at(0);
  EXPECT_EQ(row.at("hit").at("correct"), 4);
  EXPECT_EQ(row.at("hit").at("total"), 4);
  EXPECT_EQ(row.at("chance_percent"), 100.0);
  EXPECT_EQ(row.at("mean_fraction"), 1.0);
  EXPECT_EQ(report.at("tables").back().at("rows").size(), 12u);  // three others each, never padded
}

TEST_F(EdgeSizes, EmptyCondition) {
  const std::string originals = photos(4);
  expect_error({"match", originals, "--mode", "a2o"}, 1,
               "nothing to match: 0 modified images ask and 4 originals answer");
  const json report = run({"compare", originals});
  EXPECT_TRUE(report.at("tables").at(0).at("rows").at(0).at("a2o_hit").is_null());
}

// Both want the same cache, which one of them has locked.
TEST_F(EdgeSizes, OneEncoderTwiceDoesNotWaitForItself) {
  const json report = run({"similarity", photos(4), "-e", "demo", "-e", "demo", "--k", "2"});
  for (const json& row : report.at("tables").at(0).at("rows")) {
    EXPECT_NEAR(row.at("cka").get<double>(), 1.0, 1e-6) << row;
  }
}

}  // namespace
}  // namespace probe
