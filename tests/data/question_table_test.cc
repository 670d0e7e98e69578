#include "probe/data/question_table.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

class QuestionTable : public testing::Test {
 protected:
  test::TempDir folder_;
  std::vector<Question> read(const std::string& rows) {
    return read_question_table(folder_.write("q.csv", "Index,Question,Options,Correct Answer\n" + rows));
  }
};

TEST_F(QuestionTable, Bugcase52_ChoicesPackedInOneColumn) {
  const auto questions = read("1,Is the boat red?,(a) Yes (b) No,(a)\n2,And now?,(a) Yes (b) No,(b)\n");
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_EQ(questions[0].id, "1:choice");
  EXPECT_EQ(questions[0].choices, (std::vector<std::string>{"Yes", "No"}));
  EXPECT_EQ(questions[0].answer, 0);
  EXPECT_EQ(questions[1].answer_text, "No");
}

TEST_F(QuestionTable, OnlyTheNextLetterBeginsAChoice) {
  const auto questions = read("1,?,\"(A) vitamin (c) (B) none, or (a) few (C) all\",(C)\n");
  EXPECT_EQ(questions[0].choices,
            (std::vector<std::string>{"vitamin (c)", "none, or (a) few", "all"}));
  EXPECT_EQ(questions[0].answer, 2);
}

TEST_F(QuestionTable, WhatIsWrongIsNamedWithItsRow) {
  EXPECT_PROBE_ERROR(read("1,?,(a) Yes (b) No,(c)\n"), ErrorKind::input,
                     "q.csv:2: expected an answer from 0 to 1, got 2");
  EXPECT_PROBE_ERROR(read("1,?,(a) Yes (b) No,Yes\n"), ErrorKind::input,
                     "q.csv:2: answer: expected a letter, got \"Yes\"");
  EXPECT_PROBE_ERROR(read("1,?,Yes or no,(a)\n"), ErrorKind::input,
                     "q.csv:2: expected choices as \"(a) ... (b) ...\", got \"Yes or no\"");
  EXPECT_PROBE_ERROR(read("1,?,(a) x (b) y,(a)\n1,?,(a) x (b) y,(a)\n"), ErrorKind::input,
                     "q.csv:3: index \"1\" stands twice");
  EXPECT_PROBE_ERROR(read_question_table(folder_.write("n.csv", "index,Options\n1,x\n")),
                     ErrorKind::input, "n.csv:1: expected columns index, answer, and A, B, ... or options");
}

}  // namespace
}  // namespace probe
