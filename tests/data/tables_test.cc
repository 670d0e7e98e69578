#include <gtest/gtest.h>

#include "probe/data/delimited.h"
#include "probe/data/json_lines.h"
#include "probe/data/text_input.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

TEST(Bugcase49, BomCrlfBlankLinesAndLineSeparators) {
  const test::TempDir folder;
  for (const std::string content :
       {"id,answer\n1,A\n2,B\n", "\xEF\xBB\xBFid,answer\n1,A\n2,B\n",
        "id,answer\r\n1,A\r\n2,B\r\n", "id,answer\n1,A\n\n2,B\n\n", "id,answer\n1,A\n2,B"}) {
    const DelimitedTable table = read_delimited(folder.write("t.csv", content), ',');
    ASSERT_EQ(table.rows.size(), 2u) << content;
    EXPECT_EQ(table.column("id"), 0);
    EXPECT_EQ(table.rows[1].fields[1], "B");
  }
  std::vector<std::string> values;
  for_each_json_line(folder.write("t.jsonl", "\xEF\xBB\xBF{\"t\":\"a\xE2\x80\xA8z\"}\r\n\n{\"t\":\"B\"}"),
                     [&](const JsonObject& object) { values.push_back(object.text("t")); });
  EXPECT_EQ(values, (std::vector<std::string>{"a\xE2\x80\xA8z", "B"}));
}

TEST(Bugcase49, OtherEncodingsAreRefusedWithTheirPlace) {
  const test::TempDir folder;
  EXPECT_PROBE_ERROR(read_text(folder.write("u16", std::string("\xFF\xFE" "i\0", 4))),
                     ErrorKind::input, "expected UTF-8, got UTF-16");
  EXPECT_PROBE_ERROR(read_text(folder.write("latin", "one\ncaf\xE9\n")), ErrorKind::input,
                     "latin:2: expected UTF-8, got an invalid byte at offset 7");
  EXPECT_PROBE_ERROR(read_delimited(folder.write("head.csv", "id,answer\n"), ','),
                     ErrorKind::input, "expected at least one row, got 0 rows");
}

TEST(Bugcase50, QuotesTabsAndNewlinesInFields) {
  const test::TempDir folder;
  const DelimitedTable table = read_delimited(
      folder.write("t.tsv",
                   "id\ttext\tkey\n1\t6\" pipe\tA\n2\t\"quoted, with comma\"\tB\n"
                   "3\t\"line one\nline two\"\tC\n4\t\"\"\tD\n5\ta \\t backslash\tA\n"),
      '\t');
  ASSERT_EQ(table.rows.size(), 5u);
  EXPECT_EQ(table.rows[0].fields[1], "6\" pipe");
  EXPECT_EQ(table.rows[1].fields[1], "quoted, with comma");
  EXPECT_EQ(table.rows[2].fields[1], "line one\nline two");
  EXPECT_EQ(table.rows[3].fields[1], "");
  EXPECT_EQ(table.rows[4].fields[1], "a \\t backslash");
  EXPECT_EQ(table.rows[4].line, 7u);  // the quoted line break counts
}

// A model that got stuck may write brackets without end: text is no nesting.
TEST(JsonLines, BracketsInTextsAreNoNesting) {
  const test::TempDir folder;
  std::string boxed;
  for (int i = 0; i < 1000; ++i) boxed += "\\boxed{\"";
  std::string escaped;
  for (const char c : boxed) escaped += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  std::string found;
  for_each_json_line(folder.write("t.jsonl", "{\"t\":\"" + escaped + "\"}\n"),
                     [&](const JsonObject& object) { found = object.text("t"); });
  EXPECT_EQ(found, boxed);
  EXPECT_PROBE_ERROR(for_each_json_line(folder.write("deep.jsonl", "{\"t\":" + std::string(600, '[')),
                                        [](const JsonObject&) {}),
                     ErrorKind::input, "deep.jsonl:1: expected an object, got one nested 601 deep");
}

// A name from a file must not move the cursor or make a second line.
TEST(Tables, NamesInMessagesArePrintable) {
  const test::TempDir folder;
  EXPECT_PROBE_ERROR(
      read_delimited(folder.write("t.csv", "\"a\nb\x1b[2J\",\"a\nb\x1b[2J\"\n1,2\n"), ','),
      ErrorKind::input, "t.csv:1: column \"a\\nb\\x1b[2J\" stands twice");
  EXPECT_PROBE_ERROR(for_each_json_line(folder.write("t.jsonl", "{\"\\u001b[2J\":1}"),
                                        [](const JsonObject& object) { object.allow_only({"a"}); }),
                     ErrorKind::input, "t.jsonl:1: unknown field \"\\x1b[2J\"");
}

TEST(Bugcase50, ShortAndLongRowsAreErrorsWithTheirLine) {
  const test::TempDir folder;
  EXPECT_PROBE_ERROR(read_delimited(folder.write("short.tsv", "a\tb\n1\t2\n3\n"), '\t'),
                     ErrorKind::input, "short.tsv:3: expected 2 fields, got 1");
  EXPECT_PROBE_ERROR(read_delimited(folder.write("long.csv", "a,b\n1,2,3\n"), ','),
                     ErrorKind::input, "long.csv:2: expected 2 fields, got 3");
  EXPECT_PROBE_ERROR(read_delimited(folder.write("open.csv", "a\n\"never\n"), ','),
                     ErrorKind::input, "open.csv:2: expected a closing quote");
  EXPECT_PROBE_ERROR(read_delimited(folder.write("twice.csv", "a,a\n1,2\n"), ','),
                     ErrorKind::input, "column \"a\" stands twice");
}

}  // namespace
}  // namespace probe
