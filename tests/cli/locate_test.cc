// probe locate as a user runs it, on two photos of COCO with their boxes.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

using nlohmann::json;

const std::string kData = PROBE_SOURCE_DIR "/tests/data/locate/";

class LocateCommand : public testing::Test {
 protected:
  test::TempDir folder_;
  const std::string items_ = folder_.path() / "items.jsonl";

  test::ProgramResult run(std::vector<std::string> arguments, int exit_code = 0) {
    arguments.insert(arguments.begin(), "locate");
    test::ProgramResult result = test::run_probe(arguments, folder_.path());
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return result;
  }

  // Limits looser than the benchmark's, or these two photos give nothing.
  test::ProgramResult build() {
    return run({"build", kData + "instances.json", "--expressions", kData + "expressions.jsonl",
                "-o", items_, "--min-side", "20", "--max-overlap", "20", "--json"});
  }

  std::vector<json> lines(const std::filesystem::path& path) const {
    std::istringstream in(test::slurp(path));
    std::vector<json> all;
    for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
    return all;
  }

  static json rows(const std::string& report, const std::string& name) {
    const json document = json::parse(report);
    for (const json& table : document.at("tables")) {
      if (table.at("name") == name) return table.at("rows");
    }
    ADD_FAILURE() << "no table " << name;
    return {};
  }
};

// Ruling 6: the real limits leave nothing of these photos.
TEST_F(LocateCommand, RealLimitsLeaveNoItems) {
  const auto result = run({"build", kData + "instances.json", "-o", items_, "--json"});
  EXPECT_EQ(rows(result.out, "locate_filters").back().at("left"), 0);
  EXPECT_EQ(test::slurp(items_), "");
}

TEST_F(LocateCommand, LooserLimitsAreMarked) {
  const auto result = build();
  EXPECT_NE(result.err.find("the limits are looser than LocateBench's"), std::string::npos);
  EXPECT_EQ(lines(items_).size(), 6u);
  EXPECT_EQ(rows(result.out, "locate_filters").back().at("left"), 6);
}

TEST_F(LocateCommand, PromptsToResponsesToScores) {
  build();
  const auto prompts = folder_.path() / "prompts";
  run({"draw", items_, "--images", kData, "-o", prompts, "-q"});
  std::map<std::string, int> answers;
  for (const json& item : lines(items_)) answers[item.at("item_id")] = item.at("answer");
  // A model that is right with letters, says "no" to everything else, and one that is always
  // right one by one.
  std::string responses;
  int count = 0;
  for (const json& prompt : lines(prompts / "prompts.jsonl")) {
    ++count;
    EXPECT_GT(std::filesystem::file_size(prompts / prompt.at("image").get<std::string>()), 0u);
    const int answer = answers.at(prompt.at("item_id"));
    json line = prompt;
    line.erase("image");
    line.erase("prompt");
    line["model"] = "first";
    line["response"] = prompt.at("format") == "letters"
                           ? "Answer: " + std::string(1, static_cast<char>('A' + answer))
                           : std::string("Answer: No");
    responses += line.dump() + "\n";
    if (prompt.at("format") != "one_by_one") continue;
    line["model"] = "second";
    line["response"] = prompt.at("candidate") == answer ? "Yes" : "No";
    responses += line.dump() + "\n";
  }
  EXPECT_EQ(count, 6 * 7);
  const std::string path = folder_.write("responses.jsonl", responses);
  const auto result = run({"score", items_, "--responses", path, "--json", "-q"});
  const json accuracy = rows(result.out, "locate_accuracy");
  ASSERT_EQ(accuracy.size(), 4u);
  EXPECT_EQ(accuracy.at(0).at("first").at("correct"), 6);
  EXPECT_EQ(accuracy.at(1).at("first").at("correct"), 0);
  EXPECT_TRUE(accuracy.at(0).at("second").is_null());
  EXPECT_EQ(accuracy.at(3).at("second").at("correct"), 6);
  std::int64_t at_first = 0;
  for (const auto& [id, answer] : answers) at_first += answer == 0 ? 1 : 0;
  EXPECT_EQ(accuracy.at(3).at("first").at("correct"), at_first);
  for (const json& row : rows(result.out, "locate_detail")) {
    if (row.at("prompt") != "one_by_one" || row.at("model") != "first") continue;
    EXPECT_EQ(row.at("all_no"), 6);
    EXPECT_EQ(row.at("strict_accuracy").at("correct"), 0);
  }
  // All six wrong with "first" but for those whose answer is the first candidate.
  std::int64_t only_first = 0;
  for (const json& row : rows(result.out, "locate_errors_prompt_one_by_one")) {
    if (row.at("wrong") == "first") only_first = row.at("items").get<std::int64_t>();
  }
  EXPECT_EQ(only_first, 6 - at_first);
}

TEST_F(LocateCommand, EncodersStandInTheSameTable) {
  build();
  const std::string choices = folder_.path() / "demo.jsonl";
  const auto alone = run({"baseline", items_, "--images", kData, "-e", "demo", "-o", choices,
                          "--json", "-q"});
  const auto scored = run({"score", items_, "--responses", choices, "--json", "-q"});
  const json row = rows(scored.out, "locate_accuracy").at(0);
  EXPECT_EQ(row.at("prompt"), "crop");
  EXPECT_EQ(row.at("demo").at("total"), 6);
  EXPECT_EQ(row, rows(alone.out, "locate_accuracy").at(0));
  for (const char* prompting : {"circle", "blur"}) {
    const auto other = run({"baseline", items_, "--images", kData, "-e", "demo", "--prompting",
                            prompting, "--json", "-q"});
    EXPECT_EQ(rows(other.out, "locate_accuracy").at(0).at("prompt"), prompting);
  }
}

TEST_F(LocateCommand, MistakesAreNamed) {
  EXPECT_NE(run({"build", "/none.json", "-o", items_}, 1).err.find("/none.json"),
            std::string::npos);
  EXPECT_NE(run({"build", kData + "instances.json", "-o", items_, "--box-format", "xyxy"}, 1)
                .err.find("is --box-format another one?"),
            std::string::npos);
  run({}, 2);
  build();
  std::string outside = test::slurp(items_);
  outside.replace(outside.find("000000000"), 12, "../000000000");
  folder_.write("items.jsonl", outside);
  const auto result =
      run({"draw", items_, "--images", kData, "-o", folder_.path() / "p", "-q"}, 1);
  EXPECT_NE(result.err.find("is outside its folder"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace probe
