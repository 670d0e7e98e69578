// Agreement with a person's reading of 300 saved responses of nine models
// (tests/data/mllm/README.md).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/answer_extraction.h"

namespace probe {
namespace {

TEST(LabelledAnswers, AgreementIsAtLeast985Permille) {
  std::ifstream file(PROBE_SOURCE_DIR "/tests/data/mllm/labelled.jsonl");
  int rows = 0, agreed = 0;
  std::string disagreements;
  for (std::string line; std::getline(file, line); ++rows) {
    const auto row = nlohmann::json::parse(line);
    const Extraction found = extract_answer(
        row.at("response"), prepare_choices(row.at("choices").get<std::vector<std::string>>()));
    const std::string got =
        found.choice < 0 ? "-" : std::string(1, static_cast<char>('A' + found.choice));
    if (got == row.at("label")) {
      ++agreed;
    } else {
      disagreements += row.at("id").get<std::string>() + ": " + got + "\n";
    }
  }
  ASSERT_EQ(rows, 300);
  EXPECT_GE(agreed, 296) << disagreements;  // 98.5 % of 300 is 295.5
  RecordProperty("agreed", agreed);
}

}  // namespace
}  // namespace probe
