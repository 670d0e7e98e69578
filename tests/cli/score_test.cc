// probe questions -> an MLLM harness's table -> saved answers -> probe score.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <set>
#include <sstream>

#include "tests/support/run_program.h"
#include "tests/support/small_dataset.h"

namespace probe {
namespace {

using nlohmann::json;
using test::run_probe;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

json table_of(const json& report, const std::string& name) {
  for (const json& table : report.at("tables")) {
    if (table.at("name") == name) return table.at("rows");
  }
  ADD_FAILURE() << "no table " << name;
  return json::array();
}

class ScoreCommand : public testing::Test {
 protected:
  test::TempDir home_, data_;

  test::ProgramResult run(const std::vector<std::string>& arguments) {
    return run_probe(arguments, home_.path());
  }

  // What a harness saves: its table with one column more. `answer` gets the answer's letter.
  template <typename Answer>
  std::string saved(const std::string& table, Answer answer) {
    const auto lines = split(test::slurp(table), '\n');
    const auto header = split(lines[0], '\t');
    const auto column = std::find(header.begin(), header.end(), "answer") - header.begin();
    std::string text = lines[0] + "\tprediction\n";
    for (std::size_t i = 1; i < lines.size(); ++i) {
      text += lines[i] + "\t" + answer(split(lines[i], '\t').at(column)) + "\n";
    }
    return data_.write("saved.tsv", text);
  }
};

TEST_F(ScoreCommand, RoundTripThroughVlmEvalKit) {
  const std::string items =
      test::write_small_dataset(data_, {"kiwi", "pear", "plum", "lemon", "orange"}, {"egg"});
  const std::string q = data_.path() / "q";
  for (const bool base64 : {false, true}) {
    std::vector<std::string> arguments = {"questions", items, "-o", q, "--export",
                                          "vlmevalkit,lmms-eval", "--seed", "7", "-q"};
    if (base64) arguments.push_back("--base64");
    const auto made = run(arguments);
    ASSERT_EQ(made.exit_code, 0) << made.err;
    for (const char* type : {"choice", "unsolvable", "open"}) {
      const std::string table = q + "/vlmevalkit_" + type + ".tsv";
      const auto score = [&](const std::string& file) {
        const auto result = run({"score", file, "--model", "m", "--questions",
                                 q + "/questions.jsonl", "--items", items, "--json", "-q"});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return table_of(json::parse(result.out), "mllm_accuracy").at(0);
      };
      const json right = score(saved(table, [](const std::string& a) { return a; }));
      EXPECT_EQ(right.at("type"), type);
      EXPECT_EQ(right.at("accuracy").at("correct"), right.at("accuracy").at("total"));
      if (std::string(type) == "open") continue;
      EXPECT_EQ(right.at("accuracy").at("total"), 40);  // 10 photos, 4 shifts
      EXPECT_EQ(right.at("strict").at("total"), 10);
      // Always "A": right at exactly one of the four shifts of each question.
      const json first = score(saved(table, [](const std::string&) { return "A"; }));
      EXPECT_EQ(first.at("accuracy").at("correct"), 10);
      EXPECT_EQ(first.at("strict").at("correct"), 0);
    }
  }
  const auto exported = split(test::slurp(q + "/lmms_eval.jsonl"), '\n');
  EXPECT_EQ(exported.size(), 90u);
  // lmms-eval logs the row without its image, and the response in two lists.
  std::string log;
  for (std::size_t i = 0; i < exported.size(); ++i) {
    json doc = json::parse(exported[i]);
    doc.erase("image");
    const json sample = {{"doc_id", i}, {"doc", doc}, {"target", doc.at("answer")},
                         {"resps", {{"Answer: " + doc.at("answer").get<std::string>()}}},
                         {"filtered_resps", {doc.at("answer")}}};
    log += sample.dump() + "\n";
  }
  const auto result = run({"score", data_.write("samples.jsonl", log), "--model", "m", "--questions",
                           q + "/questions.jsonl", "--items", items, "--json", "-q"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::int64_t total = 0;
  for (const json& row : table_of(json::parse(result.out), "mllm_accuracy")) {
    EXPECT_EQ(row.at("accuracy").at("correct"), row.at("accuracy").at("total")) << row;
    total += row.at("accuracy").at("total").get<std::int64_t>();
  }
  EXPECT_EQ(total, 90);
}

TEST_F(ScoreCommand, ExportsTheUndecidedAndTakesVerdicts) {
  const auto questions = data_.write(
      "q.jsonl",
      "{\"question_id\":\"1\",\"item_id\":\"a\",\"type\":\"choice\",\"choices\":[\"dog\",\"cat\"],"
      "\"answer\":1}\n"
      "{\"question_id\":\"2\",\"item_id\":\"a\",\"type\":\"open\",\"answer\":\"kaki\"}\n");
  const auto responses = data_.write(
      "r.jsonl",
      "{\"model\":\"m\",\"question_id\":\"1\",\"response\":\"a feline\"}\n"
      "{\"model\":\"m\",\"question_id\":\"2\",\"response\":\"persimmon\"}\n");
  const std::string undecided = data_.path() / "u.jsonl";
  const auto before = run({"score", responses, "--questions", questions, "--export-undecided",
                           undecided, "--json", "-q"});
  ASSERT_EQ(before.exit_code, 0) << before.err;
  EXPECT_EQ(table_of(json::parse(before.out), "mllm_accuracy").at(0).at("unparsed"), 1);
  auto lines = split(test::slurp(undecided), '\n');
  ASSERT_EQ(lines.size(), 2u);
  json first = json::parse(lines[0]), second = json::parse(lines[1]);
  EXPECT_EQ(first.at("choices"), (json{"dog", "cat"}));
  first["verdict"] = "B";
  second["verdict"] = "right";
  const auto verdicts = data_.write("v.jsonl", first.dump() + "\n" + second.dump() + "\n");
  const auto after =
      run({"score", responses, "--questions", questions, "--verdicts", verdicts, "--json", "-q"});
  ASSERT_EQ(after.exit_code, 0) << after.err;
  for (const json& row : table_of(json::parse(after.out), "mllm_accuracy")) {
    EXPECT_EQ(row.at("accuracy").at("correct"), 1) << row;
    EXPECT_EQ(row.at("unparsed"), 0);
  }
  const auto synonyms = data_.write("s.txt", "cat, feline\nkaki, persimmon\n");
  const auto by_rule =
      run({"score", responses, "--questions", questions, "--synonyms", synonyms, "--json", "-q"});
  EXPECT_EQ(table_of(json::parse(by_rule.out), "mllm_accuracy").at(1).at("accuracy").at("correct"), 1);
}

// The answer must not depend on how much is logged (VLMEvalKit's once did).
TEST_F(ScoreCommand, Bugcase40_VerboseChangesNothing) {
  const auto questions = data_.write(
      "q.jsonl",
      "{\"question_id\":\"1\",\"item_id\":\"a\",\"type\":\"choice\",\"choices\":[\"dog\",\"cat\","
      "\"red boat\",\"none of the above\"],\"answer\":2}\n");
  const auto responses = data_.write(
      "r.jsonl", "{\"model\":\"m\",\"question_id\":\"1\",\"response\":\"A red boat is visible.\"}\n");
  const auto plain = run({"score", responses, "--questions", questions, "--json"});
  const auto verbose = run({"score", responses, "--questions", questions, "--json", "--verbose"});
  EXPECT_EQ(plain.out, verbose.out);
  EXPECT_NE(verbose.err.find("m 1 shift 0: C (choice text)"), std::string::npos) << verbose.err;
  EXPECT_EQ(table_of(json::parse(plain.out), "mllm_accuracy").at(0).at("accuracy").at("correct"), 1);
}

// Four rows, three right: one of the two pairs. The pairs go by number, not by neighbours.
TEST_F(ScoreCommand, Bugcase52_PairAccuracyGroupsByNumber) {
  const auto questions = data_.write(
      "q.csv",
      "Index,Question,Options,Correct Answer\n4,?,(a) Yes (b) No,(a)\n1,?,(a) Yes (b) No,(a)\n"
      "3,?,(a) Yes (b) No,(b)\n2,?,(a) Yes (b) No,(b)\n");
  const auto responses = data_.write(
      "r.csv", "index,prediction\n1,(a)\n2,(b)\n3,(a)\n4,(a)\n");
  const auto result =
      run({"score", responses, "--model", "m", "--questions", questions, "--pairs", "--json", "-q"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  EXPECT_EQ(table_of(report, "mllm_accuracy").at(0).at("accuracy").at("correct"), 3);
  const json pairs = table_of(report, "mllm_pairs").at(0);
  EXPECT_EQ(pairs.at("accuracy").at("correct"), 1);
  EXPECT_EQ(pairs.at("accuracy").at("total"), 2);
  EXPECT_EQ(pairs.at("alone"), 0);
}

TEST_F(ScoreCommand, Bugcase43_BadKeysNameTheRow) {
  const auto responses = data_.write(
      "r.jsonl", "{\"model\":\"m\",\"question_id\":\"7\",\"response\":\"A\"}\n");
  const auto score_with = [&](const std::string& answer) {
    const auto questions = data_.write(
        "q.jsonl", "{\"question_id\":\"7\",\"item_id\":\"a\",\"type\":\"choice\",\"choices\":["
                   "\"w\",\"x\",\"y\",\"z\"]" + answer + "}\n");
    return run({"score", responses, "--questions", questions, "-q"});
  };
  const auto missing = score_with("");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("q.jsonl:1: \"answer\" is missing"), std::string::npos) << missing.err;
  const auto letter = score_with(",\"answer\":\"G\"");
  EXPECT_EQ(letter.exit_code, 1);
  EXPECT_NE(letter.err.find("q.jsonl:1: \"answer\": expected an integer"), std::string::npos);
  const auto range = score_with(",\"answer\":6");
  EXPECT_EQ(range.exit_code, 1);
  EXPECT_NE(range.err.find("q.jsonl:1: question \"7\": expected an answer from 0 to 3, got 6"),
            std::string::npos)
      << range.err;
}

TEST_F(ScoreCommand, UnknownQuestionsAreListedAndTheRestIsScored) {
  const auto questions = data_.write(
      "q.jsonl", "{\"question_id\":\"1\",\"item_id\":\"a\",\"type\":\"open\",\"answer\":\"fig\"}\n");
  const auto responses = data_.write("r.csv", "model,question_id,response\nm,1,Figs\nm,9,x\n");
  const auto result = run({"score", responses, "--questions", questions, "--json", "-q"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("failed: 9: "), std::string::npos) << result.err;
  EXPECT_EQ(table_of(json::parse(result.out), "mllm_accuracy").at(0).at("accuracy").at("correct"), 1);
}

TEST_F(ScoreCommand, DistractorsFromTablesAndConfusions) {
  const std::string items = test::write_small_dataset(data_, {"kiwi"}, {"egg"});
  const auto table = data_.write("b.csv", "object,d1,d2,d3\nkiwi,egg,ball,stone\n");
  const std::string q = data_.path() / "q";
  ASSERT_EQ(run({"questions", items, "-o", q, "--distractors", table, "--types", "choice", "-q"})
                .exit_code, 0);
  json question = json::parse(split(test::slurp(q + "/questions.jsonl"), '\n').at(0));
  EXPECT_EQ(question.at("choices").size(), 4u);
  const auto pairs = data_.write(
      "h.csv", "answer,picked,count\nkiwi,egg,1\nkiwi,lime,9\nkiwi,pear,3\nkiwi,plum,2\n");
  ASSERT_EQ(run({"questions", items, "-o", q, "--hard", pairs, "--types", "choice", "-q"}).exit_code,
            0);
  question = json::parse(split(test::slurp(q + "/questions.jsonl"), '\n').at(0));
  std::set<std::string> choices;
  for (const auto& c : question.at("choices")) choices.insert(c.get<std::string>());
  EXPECT_EQ(choices, (std::set<std::string>{"kiwi", "lime", "pear", "plum"}));
  const auto few = run({"questions", items, "-o", q, "--types", "choice", "-q"});
  EXPECT_EQ(few.exit_code, 1);
  EXPECT_NE(few.err.find("no question could be made; the first item: expected 3 distractors for "
                         "\"kiwi\", got 0"),
            std::string::npos)
      << few.err;
}

}  // namespace
}  // namespace probe
