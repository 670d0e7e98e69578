#include "probe/data/questions.h"

#include <gtest/gtest.h>

#include "probe/data/manifest.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

TEST(Questions, ThreeKinds) {
  const test::TempDir folder;
  const std::vector<Question> questions = read_questions(folder.write(
      "q.jsonl",
      "{\"question_id\":\"1\",\"item_id\":\"a\",\"type\":\"open\",\"answer\":\"fig\"}\n"
      "{\"question_id\":\"2\",\"item_id\":\"a\",\"type\":\"choice\",\"choices\":[\"egg\",\"fig\"],"
      "\"answer\":1}\n"
      "{\"question_id\":\"3\",\"item_id\":\"a\",\"type\":\"unsolvable\",\"choices\":[\"egg\","
      "\"all other options are incorrect\"],\"answer\":1}\n"));
  ASSERT_EQ(questions.size(), 3u);
  EXPECT_EQ(questions[0].answer_text, "fig");
  EXPECT_EQ(questions[1].answer_text, "fig");
  EXPECT_EQ(questions[2].type, QuestionType::unsolvable);
}

TEST(Questions, MessagesNameTheLine) {
  const test::TempDir folder;
  const auto read = [&](const std::string& line) {
    return read_questions(folder.write("q.jsonl", line));
  };
  EXPECT_PROBE_ERROR(
      read("{\"question_id\":\"1\",\"item_id\":\"a\",\"type\":\"choice\",\"choices\":[\"x\",\"x\"],"
           "\"answer\":0}"),
      ErrorKind::input, "q.jsonl:1: question \"1\": choice \"x\" stands twice");
  EXPECT_PROBE_ERROR(
      read("{\"question_id\":\"1\",\"item_id\":\"a\",\"type\":\"mcq\"}"), ErrorKind::input,
      "expected open, choice or unsolvable, got \"mcq\"");
  EXPECT_PROBE_ERROR(
      read("{\"question_id\":\"1\",\"item_id\":\"a\",\"type\":\"choice\",\"choices\":[\"x\",\"y\"],"
           "\"answer\":\"A\"}"),
      ErrorKind::input, "\"answer\": expected an integer, got string");
  EXPECT_PROBE_ERROR(
      read("{\"question_id\":\"1\",\"item_id\":\"a\",\"type\":\"unsolvable\",\"choices\":[\"x\","
           "\"y\"],\"answer\":1}"),
      ErrorKind::input, "expected the answer of an unsolvable question to be");
}

TEST(Questions, MustAskAboutKnownItems) {
  const test::TempDir folder;
  folder.write("items.jsonl", "{\"id\":\"a\",\"image\":\"a.jpg\"}");
  folder.write("questions.jsonl",
               "{\"question_id\":\"1\",\"item_id\":\"b\",\"type\":\"open\",\"answer\":\"fig\"}");
  EXPECT_PROBE_ERROR(read_dataset(folder.path(), {}), ErrorKind::input,
                     "question \"1\" asks about item \"b\", which the dataset does not have");
}

}  // namespace
}  // namespace probe
