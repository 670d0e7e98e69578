#include "probe/data/responses.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

TEST(Responses, JsonLinesAndTablesSayTheSame) {
  const test::TempDir folder;
  const auto lines = read_responses(
      folder.write("r.jsonl",
                   "\xEF\xBB\xBF{\"model\":\"m\",\"question_id\":\"q\",\"shift\":1,\"response\":\"B\"}\r\n"
                   "\r\n{\"model\":\"m\",\"question_id\":\"q\",\"shift\":2,\"response\":\"a, b\"}"),
      "");
  const auto table = read_responses(
      folder.write("r.csv", "model,question_id,shift,response\r\nm,q,1,B\r\nm,q,2,\"a, b\"\r\n"), "");
  const auto harness = read_responses(
      folder.write("r.tsv", "question_id\tshift\tprediction\nq\t1\tB\nq\t2\ta, b\n"), "m");
  for (const auto& rows : {lines, table, harness}) {
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].model, "m");
    EXPECT_EQ(rows[0].text, "B");
    EXPECT_EQ(rows[1].shift, 2);
    EXPECT_EQ(rows[1].text, "a, b");
  }
}

// lmms-eval's sample log before and after its pull request 1103, and VLMEvalKit's JSON list.
TEST(Responses, WhatHarnessesSaveIsReadAsItIs) {
  const test::TempDir folder;
  const std::string doc =
      "{\"doc_id\":0,\"doc\":{\"question_id\":\"q\",\"type\":\"choice\",\"shift\":1,\"options\":[\"x\"]},"
      "\"target\":\"B\",";
  const auto rows = read_responses(
      folder.write("samples.jsonl",
                   doc + "\"resps\":[[\"raw\"]],\"filtered_resps\":[\"B\"]}\n" +
                       "{\"doc_id\":1,\"doc\":{\"question_id\":\"r\"},\"filtered_resps\":\"C\"}\n"
                       "{\"doc_id\":2,\"doc\":{\"question_id\":\"s\"},\"resps\":[[\"D\"]]}\n"
                       "{\"doc_id\":3,\"doc\":{\"question_id\":\"t\"}}\n"
                       "{\"doc_id\":4,\"doc\":{\"question_id\":\"u\"},\"filtered_resps\":[\"A\",\"B\"]}\n"),
      "m");
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].text, "B");
  EXPECT_EQ(rows[0].question_id, "q");
  EXPECT_EQ(rows[0].shift, 1);
  EXPECT_EQ(rows[0].type, QuestionType::choice);
  EXPECT_EQ(rows[1].text, "C");
  EXPECT_EQ(rows[2].text, "D");
  EXPECT_TRUE(rows[3].missing);
  EXPECT_TRUE(rows[4].failed);
  const auto list = read_responses(
      folder.write("r.json", "[\n {\"index\": 7, \"prediction\": \"A\"},\n"
                             " {\"index\": 8, \"prediction\": null}]\n"),
      "m");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].question_id, "7");
  EXPECT_EQ(list[0].text, "A");
  EXPECT_TRUE(list[1].missing);
  EXPECT_PROBE_ERROR(read_responses(folder.write("b.json", "[1]"), "m"), ErrorKind::input,
                     "b.json:1: expected one JSON object, got number");
}

TEST(Responses, Bugcase43_NullsNumbersAndObjects) {
  const test::TempDir folder;
  const auto rows = read_responses(
      folder.write("r.jsonl",
                   "{\"question_id\":1,\"response\":null}\n{\"question_id\":2}\n"
                   "{\"question_id\":3,\"response\":3}\n{\"question_id\":4,\"response\":2.5}\n"
                   "{\"question_id\":5,\"response\":{\"error\":\"x\"}}\n"),
      "m");
  EXPECT_TRUE(rows[0].missing);
  EXPECT_TRUE(rows[1].missing);
  EXPECT_EQ(rows[2].text, "3");
  EXPECT_EQ(rows[3].text, "2.5");
  EXPECT_TRUE(rows[4].failed);
}

TEST(Responses, MessagesNameTheRow) {
  const test::TempDir folder;
  const auto read = [&](const std::string& text) {
    return read_responses(folder.write("r.jsonl", text), "");
  };
  EXPECT_PROBE_ERROR(read("{\"question_id\":\"q\"}"), ErrorKind::input,
                     "r.jsonl:1: no model; --model names it");
  EXPECT_PROBE_ERROR(read("{\"model\":\"m\",\"response\":\"A\"}"), ErrorKind::input,
                     "r.jsonl:1: \"question_id\" is missing");
  EXPECT_PROBE_ERROR(read("{\"model\":\"m\",\"question_id\":\"q\",\"shift\":-1}"), ErrorKind::input,
                     "r.jsonl:1: shift: expected a number from 0 to 25, got \"-1\"");
  EXPECT_PROBE_ERROR(read("{\"model\":\"m\",\"question_id\":\"q\",\"type\":\"mcq\"}"),
                     ErrorKind::input, "type: expected open, choice or unsolvable, got \"mcq\"");
  EXPECT_PROBE_ERROR(read("{\"model\":\"m\",\"question_id\":\"q\",\"response\":\"A\"}\n"
                          "{\"model\":\"m\",\"question_id\":\"q\",\"response\":\"B\"}"),
                     ErrorKind::input,
                     "r.jsonl:2: model \"m\" answers question \"q\" at shift 0 twice");
}

TEST(Synonyms, GroupsALine) {
  const test::TempDir folder;
  const auto groups = read_synonyms(
      folder.write("s.txt", "# furniture\ncouch, sofa ,  big  settee # British\n\nkaki,persimmon\n"));
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0], (std::vector<std::string>{"couch", "sofa", "big settee"}));
  EXPECT_PROBE_ERROR(read_synonyms(folder.write("bad.txt", "kaki,persimmon\ncouch,\n")),
                     ErrorKind::input, "bad.txt:2: expected two or more words that mean the same");
}

// What was made up for show says so, whatever the file's kind.
TEST(Responses, MadeUpIsKept) {
  const test::TempDir folder;
  const auto json = folder.write(
      "r.jsonl", "{\"model\":\"m\",\"question_id\":\"1\",\"response\":\"A\",\"made_up\":true}\n"
                 "{\"model\":\"m\",\"question_id\":\"2\",\"response\":\"A\"}\n");
  const auto csv = folder.write(
      "r.csv", "model,question_id,response,made_up\nm,1,A,true\nm,2,A,\nm,3,A,false\n");
  for (const auto& path : {json, csv}) {
    const std::vector<Response> responses = read_responses(path, "");
    EXPECT_TRUE(responses.at(0).made_up) << path;
    EXPECT_FALSE(responses.at(1).made_up) << path;
  }
  const auto other = folder.write("s.csv", "model,question_id,response,made_up\nm,1,A,perhaps\n");
  EXPECT_PROBE_ERROR(read_responses(other, ""), ErrorKind::input,
                     "s.csv:2: made_up: expected true or false, got \"perhaps\"");
}

}  // namespace
}  // namespace probe
