#include "probe/data/xlsx.h"

#include <gtest/gtest.h>

#include "probe/data/responses.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

const std::string kFolder = PROBE_SOURCE_DIR "/tests/data/xlsx/";

// Both files hold the same rows (make_workbooks.py), written by pandas' two writers.
TEST(Xlsx, WhatPandasWroteIsReadBack) {
  for (const char* name : {"openpyxl.xlsx", "xlsxwriter.xlsx"}) {
    const DelimitedTable table = read_xlsx(kFolder + name);
    EXPECT_EQ(table.header, (std::vector<std::string>{"index", "question_id", "type", "shift", "A",
                                                      "prediction", "score"}));
    ASSERT_EQ(table.rows.size(), 5u) << name;
    EXPECT_EQ(table.rows[0].line, 2u);
    EXPECT_EQ(table.rows[1].fields[5], "A\nIt is \"green\", <fuzzy> & small: \u7315\u7334\u6843");
    EXPECT_EQ(table.rows[3].fields[5], "");
    EXPECT_EQ(table.rows[3].fields[3], "3");
    EXPECT_EQ(table.rows[4].fields[4], "");
    EXPECT_EQ(table.rows[0].fields[6], "0.5");
  }
}

TEST(Xlsx, PredictionsAreResponses) {
  for (const char* name : {"openpyxl.xlsx", "xlsxwriter.xlsx"}) {
    const std::vector<Response> rows = read_responses(kFolder + name, "m");
    ASSERT_EQ(rows.size(), 5u);
    EXPECT_EQ(rows[0].question_id, "kiwi-01/choice");
    EXPECT_EQ(rows[2].shift, 2);
    EXPECT_EQ(rows[4].type, QuestionType::open);
    EXPECT_EQ(rows[4].text.substr(rows[4].text.size() - 5), " kiwi");
  }
}

TEST(Xlsx, WhatIsNoWorkbookIsRefused) {
  const test::TempDir folder;
  EXPECT_PROBE_ERROR(read_xlsx(folder.write("a.xlsx", "index,answer\n1,A\n")), ErrorKind::input,
                     "a.xlsx: expected an .xlsx workbook, got no zip archive");
  EXPECT_PROBE_ERROR(read_xlsx(folder.path() / "none.xlsx"), ErrorKind::input, "no such file");
  // An empty archive: the end record alone.
  EXPECT_PROBE_ERROR(
      read_xlsx(folder.write("b.xlsx", std::string("PK\5\6", 4) + std::string(18, '\0'))),
      ErrorKind::input, "b.xlsx: expected an .xlsx workbook, got an archive without xl/workbook.xml");
}

}  // namespace
}  // namespace probe
