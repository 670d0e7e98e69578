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
  EXPECT_PROBE_ERROR(read_dataset(folder.path(), {folder.path() / "questions.jsonl"}),
                     ErrorKind::input,
                     "question \"1\" asks about item \"b\", which the dataset does not have");
  // A file that only happens to stand beside the data may ask about more items.
  const Dataset dataset = read_dataset(folder.path(), {});
  EXPECT_TRUE(dataset.questions.empty());
  ASSERT_EQ(dataset.notes.size(), 1u);
  EXPECT_NE(dataset.notes[0].find("1 questions about other items were passed over"),
            std::string::npos);
}

TEST(Questions, ChoicesOfADatasetFileAreQuestionsToo) {
  const test::TempDir folder;
  const auto manifest = folder.write(
      "m.jsonl", "{\"id\":\"a\",\"image\":\"a.jpg\",\"choices\":[\"fig\",\"egg\"],\"answer\":1}");
  EXPECT_EQ(read_any_questions(manifest).at(0).answer_text, "egg");
  const auto table = folder.write(
      "t.tsv", "index\timage_path\tA\tB\tC\tanswer\tcondition\toriginal_id\tattribute\n"
               "1\ta.jpg\tfig\tegg\t\tB\tcolor\t0\tdeep red\n");
  EXPECT_EQ(read_any_questions(table).at(0).answer_text, "egg");
  const Item item = read_dataset(table, {}).items.at(0);
  EXPECT_EQ(item.condition, "color");
  EXPECT_EQ(item.original_id, "0");
  EXPECT_EQ(item.attribute, "deep red");
  const auto gap = folder.write("g.tsv", "index\timage_path\tA\tB\tC\tanswer\n1\ta\t\tfig\tegg\tB\n");
  EXPECT_PROBE_ERROR(read_dataset(gap, {}), ErrorKind::input,
                     "g.tsv:2: B: expected no choice after an empty one");
}

TEST(Questions, IdsAreUniqueOverBothPlaces) {
  const test::TempDir folder;
  folder.write("items.jsonl",
               "{\"id\":\"a\",\"image\":\"a.jpg\",\"choices\":[\"fig\",\"egg\"],\"answer\":1}");
  folder.write("questions.jsonl",
               "{\"question_id\":\"a:choice\",\"item_id\":\"a\",\"type\":\"open\",\"answer\":\"fig\"}");
  EXPECT_PROBE_ERROR(read_dataset(folder.path(), {}), ErrorKind::input,
                     "question_id \"a:choice\" stands in the dataset as well");
}

TEST(Questions, TheRejectionChoiceBelongsToUnsolvableQuestions) {
  const test::TempDir folder;
  EXPECT_PROBE_ERROR(
      read_questions(folder.write(
          "q.jsonl", "{\"question_id\":\"1\",\"item_id\":\"a\",\"type\":\"choice\",\"choices\":"
                     "[\"fig\",\"all other options are incorrect\"],\"answer\":0}")),
      ErrorKind::input, "belongs to questions of type unsolvable");
}

}  // namespace
}  // namespace probe
