// probe infimm as a user runs it: judge prompts out, verdicts in.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

using nlohmann::json;

const std::string kExample = PROBE_SOURCE_DIR "/docs/examples/infimm/";

class InfimmCommand : public testing::Test {
 protected:
  test::TempDir folder_;
  const std::string questions_ = kExample + "questions.jsonl";

  test::ProgramResult run(std::vector<std::string> arguments, int exit_code) {
    arguments.insert(arguments.begin(), "infimm");
    test::ProgramResult result = test::run_probe(arguments, folder_.path());
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return result;
  }

  static json rows(const std::string& report, const std::string& name) {
    const json tables = json::parse(report).at("tables");
    for (const json& table : tables) {
      if (table.at("name") == name) return table.at("rows");
    }
    ADD_FAILURE() << "no table " << name;
    return {};
  }
};

// Seven prompts and gradings; a judge that gives every other answer half a mark.
TEST_F(InfimmCommand, PromptsToVerdictsToScores) {
  const std::string prompts = folder_.path() / "prompts.jsonl";
  run({questions_, "--write-judge-prompts", kExample + "responses.jsonl", "-o", prompts}, 0);
  std::istringstream lines(test::slurp(prompts));
  std::string line, verdicts;
  int count = 0;
  while (std::getline(lines, line)) {
    const json prompt = json::parse(line);
    const double score = prompt.at("grading") == "with_steps" ? 0.5 : 0.0;
    verdicts += json{{"prompt_id", prompt.at("prompt_id")}, {"score", score}}.dump() + "\n";
    ++count;
  }
  EXPECT_EQ(count, 14);
  const std::string path = folder_.write("verdicts.jsonl", verdicts);
  const auto result =
      run({questions_, "--scores", path, "--prompts", prompts, "--json", "-q"}, 0);
  const json scores = rows(result.out, "infimm_scores");
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores.at(0).at("overall").at("value"), 50.0);
  EXPECT_EQ(scores.at(1).at("overall").at("value"), 0.0);
  EXPECT_EQ(rows(result.out, "infimm_grading").at(0).at("difference").at("value"), 50.0);
}

// model-a, with steps: moderate 1 + 1 + 1 + 0.5 of 4, high 0.5 + 0 + 1 of 3:
// (3.5 + 2 * 1.5) / (4 + 6) = 0.65. model-b has no score for "row".
TEST_F(InfimmCommand, MissingScoresAreListedAndExitOne) {
  const auto result = run({questions_, "--scores", kExample + "scores.csv", "--models",
                           kExample + "models.csv", "--json"},
                          1);
  const json scores = rows(result.out, "infimm_scores");
  EXPECT_NEAR(scores.at(0).at("overall").at("value").get<double>(), 65.0, 1e-9);
  EXPECT_EQ(scores.at(0).at("LLM"), "7B");
  EXPECT_EQ(scores.at(3).at("missing"), 1);
  // (0.5 + 1 + 0 + 0 + 2 * (0 + 0.5)) / (4 + 2 * 2)
  EXPECT_NEAR(scores.at(3).at("overall").at("value").get<double>(), 31.25, 1e-9);
  EXPECT_NE(result.err.find("failed: row: no score of model-b, with_steps"), std::string::npos);
}

TEST_F(InfimmCommand, MistakesAreExitTwo) {
  EXPECT_NE(run({questions_}, 2).err.find("expected either --scores or --write-judge-prompts"),
            std::string::npos);
  EXPECT_NE(run({questions_, "--write-judge-prompts", "x"}, 2).err.find("needs --output"),
            std::string::npos);
}

}  // namespace
}  // namespace probe
