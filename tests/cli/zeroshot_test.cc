// probe zeroshot in full: templates, names, rejection, calibration, predictions.
#include "tests/support/made_up_command.h"
#include "tests/support/small_dataset.h"

namespace probe {
namespace {

using nlohmann::json;
using test::made_up_set;

class ZeroshotCommand : public test::MadeUpCommand {
 protected:
  ZeroshotCommand() : MadeUpCommand("zeroshot") {}

  // Twelve items of four categories, a choice question and an unsolvable one each; prompts
  // in two templates, the second of which says nothing.
  std::string write_all() {
    EmbeddingSet set = made_up_set("gone", 12, 8, 1, 4, 0.1f);
    const EmbeddingSet noise = made_up_set("gone", 12, 8, 9, 4);
    RowMatrix texts(8, 8);
    texts << set.text_embedding, noise.text_embedding;
    set.text_embedding = texts;
    for (int c = 0; c < 4; ++c) set.prompts.push_back("a c" + std::to_string(c));
    std::string questions;
    for (int i = 0; i < 12; ++i) {
      const int own = i % 4;
      std::string choices, wrong;
      for (int c = 0; c < 4; ++c) {
        const std::string name = "\"c" + std::to_string(c) + "\"";
        choices += (c > 0 ? "," : "") + name;
        if (c != own) wrong += name + ",";
      }
      const std::string head = "{\"item_id\":\"" + set.items.id[i] + "\",\"question_id\":\"";
      questions += head + std::to_string(i) + "c\",\"type\":\"choice\",\"choices\":[" + choices +
                   "],\"answer\":" + std::to_string(own) + "}\n";
      questions += head + std::to_string(i) + "u\",\"type\":\"unsolvable\",\"choices\":[" + wrong +
                   "\"all other options are incorrect\"],\"answer\":3}\n";
    }
    home_.write("questions.jsonl", questions);
    return write("x.h5", set);
  }
};

TEST_F(ZeroshotCommand, UnsolvableQuestionsAreToldApart) {
  const json result = report({write_all(), "--template", "{}", "--predictions"});
  EXPECT_EQ(table(result, "choice_by_condition").at(0).at("accuracy").at("correct"), 12);
  const json rejection = table(result, "rejection");
  ASSERT_EQ(rejection.size(), 4u);
  EXPECT_EQ(rejection.at(0).at("auroc").at("value"), 1.0);  // 0.1 of noise: cleanly apart
  EXPECT_EQ(rejection.at(0).at("answerable"), 12);
  EXPECT_EQ(rejection.at(0).at("unsolvable"), 12);
  const json risk = table(result, "risk_coverage");
  EXPECT_EQ(risk.at(0).at("coverage_100").at("correct"), 12);
  EXPECT_EQ(risk.at(1).at("coverage_100").at("correct"), 12);
  EXPECT_EQ(risk.at(1).at("coverage_100").at("total"), 24);
  EXPECT_EQ(risk.at(1).at("coverage_50").at("percent"), 100.0);
  // The bundle is not here, so its scale is unknown: no probability is invented.
  const json calibration = table(result, "calibration").at(0);
  EXPECT_TRUE(calibration.at("ece_points").is_null());
  EXPECT_FALSE(has_table(result, "reliability"));
  const json predictions = table(result, "choice_predictions");
  ASSERT_EQ(predictions.size(), 12u);
  EXPECT_TRUE(predictions.at(0).at("probability").is_null());
  EXPECT_EQ(predictions.at(0).at("picked"), predictions.at(0).at("answer"));
}

TEST_F(ZeroshotCommand, TemplatesStandSideBySide) {
  const std::string file = write_all();
  const json rows = table(report({file, "--template", "{}", "--template", "a {}",
                                  "--compare-templates"}),
                          "choice_by_template");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.at(0).at("template"), "{}");
  EXPECT_EQ(rows.at(0).at("original").at("correct"), 12);
  EXPECT_LT(rows.at(1).at("original").at("correct").get<int>(), 12);
  EXPECT_EQ(rows.at(2).at("template"), "ensemble of 2");
  // Alone and side by side are the same numbers.
  EXPECT_EQ(table(report({file, "--template", "a {}"}), "choice_by_condition")
                .at(0)
                .at("accuracy")
                .at("correct"),
            rows.at(1).at("original").at("correct"));
  expect_failure({file, "--template", "{}", "--compare-templates"}, 2,
                 "--compare-templates: expected two --template or more");
}

TEST_F(ZeroshotCommand, MistakesAreListedWithTheirItems) {
  const json result = report({write_all(), "--template", "a {}", "--errors", "3"});
  const json rows = table(result, "choice_errors");
  ASSERT_GE(rows.size(), 1u);
  ASSERT_LE(rows.size(), 3u);
  for (const json& row : rows) {
    EXPECT_NE(row.at("answer"), row.at("picked"));
    EXPECT_EQ(row.at("item").get<std::string>().substr(0, 5), "item-");
  }
}

TEST_F(ZeroshotCommand, ChoicesMayHaveSeveralNames) {
  const std::string file = write_all();
  const json plain = report({file, "--template", "{}"});
  // c0 is called by its own name and by "a c0", which is noise: its cosines change.
  const std::string labels = home_.write("names.txt", "c0\tc0|a c0\n");
  const json named = report({file, "--template", "{}", "--labels", labels});
  EXPECT_NE(table(plain, "rejection").at(2), json());
  EXPECT_NE(table(plain, "rejection_sweep"), table(named, "rejection_sweep"));
  expect_failure({file, "--template", "{}", "--labels", home_.write("other.txt", "fig\n")}, 1,
                 "expected classes of the 4 names asked for, got none of them");
}

// The demo bundle has a learned scale.
TEST_F(ZeroshotCommand, ProbabilitiesComeFromTheBundlesScale) {
  test::TempDir data;
  const std::string items =
      test::write_small_dataset(data, {"banana", "kiwi", "tomato"}, {"egg", "pineapple"});
  const json result = report({items, "--predictions"});
  const json calibration = table(result, "calibration").at(0);
  EXPECT_EQ(calibration.at("answers"), 6);
  EXPECT_GT(calibration.at("scale").get<double>(), 1.0);
  EXPECT_GE(calibration.at("ece_points").get<double>(), 0.0);
  for (const json& row : table(result, "choice_predictions")) {
    EXPECT_GE(row.at("probability").get<double>(), 1.0 / 3);  // the largest of three
    EXPECT_LE(row.at("probability").get<double>(), 1.0);
  }
}

}  // namespace
}  // namespace probe
