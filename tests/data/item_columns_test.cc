#include "probe/data/item_columns.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

using Strings = std::vector<std::string>;

class ItemColumnsFile : public testing::Test {
 protected:
  test::TempDir folder_;
  ItemList read(const std::string& name, const std::string& content) const {
    return read_item_columns(folder_.write(name, content));
  }
  void refuse(const std::string& name, const std::string& content, const std::string& message) {
    EXPECT_PROBE_ERROR(read(name, content), ErrorKind::input, message);
  }
};

TEST_F(ItemColumnsFile, LinesAreIds) {
  const ItemColumns items = read("ids.txt", "\xEF\xBB\xBF" "a\r\nb c\n\xE7\x8B\x90\n\n").columns;
  EXPECT_EQ(items.id, (Strings{"a", "b c", "狐"}));
  EXPECT_EQ(items.category, (Strings{"", "", ""}));
  EXPECT_EQ(items.condition, (Strings{"original", "original", "original"}));
}

TEST_F(ItemColumnsFile, TablesAreTakenByTheirColumns) {
  const ItemList list = read("ids.csv",
                             "row,category,id,condition,original_id,attribute,score\n"
                             "0,fig,a,,,,0.5\n1,\"fig, ripe\",b,color,a,deep red,0.25\n");
  EXPECT_EQ(list.columns.id, (Strings{"a", "b"}));
  EXPECT_EQ(list.columns.category, (Strings{"fig", "fig, ripe"}));
  EXPECT_EQ(list.columns.condition, (Strings{"original", "color"}));
  EXPECT_EQ(list.columns.original_id, (Strings{"", "a"}));
  EXPECT_EQ(list.columns.attribute, (Strings{"", "deep red"}));
  ASSERT_EQ(list.notes.size(), 1u);
  EXPECT_NE(list.notes[0].find("ids.csv: columns passed over: score"), std::string::npos);
}

TEST_F(ItemColumnsFile, ObjectsHaveTheSameFields) {
  const ItemColumns items =
      read("ids.jsonl", "{\"id\":7,\"path\":\"p.jpg\"}\n{\"id\":\"b\",\"category\":\"fig\"}\n")
          .columns;
  EXPECT_EQ(items.id, (Strings{"7", "b"}));
  EXPECT_EQ(items.path, (Strings{"p.jpg", ""}));
  EXPECT_EQ(items.category, (Strings{"", "fig"}));
  refuse("other.jsonl", "{\"id\":\"a\",\"colour\":\"red\"}\n", "other.jsonl:1:");
  refuse("none.jsonl", "{\"category\":\"a\"}\n", "none.jsonl:1: \"id\" is missing");
}

TEST_F(ItemColumnsFile, DatasetsAreRead) {
  const ItemColumns items =
      read("items.jsonl",
           "{\"id\":\"a\",\"image\":\"a.jpg\",\"category\":\"fig\"}\n"
           "{\"id\":\"b\",\"image\":\"b.jpg\",\"condition\":\"color\",\"original_id\":\"a\"}\n")
          .columns;
  EXPECT_EQ(items.id, (Strings{"a", "b"}));
  EXPECT_EQ(items.path[0], folder_.path() / "a.jpg");
  EXPECT_EQ(items.condition, (Strings{"original", "color"}));
  EXPECT_EQ(items.content_sha256, (Strings{"", ""}));
  const ItemColumns table = read("t.csv", "index,image_path,category\n3,x.jpg,fig\n").columns;
  EXPECT_EQ(table.id, (Strings{"3"}));
}

TEST_F(ItemColumnsFile, MistakesAreNamed) {
  refuse("a.txt", "x\ny\nx\n", "a.txt: id \"x\" stands twice");
  refuse("b.txt", "\n\n", "b.txt: expected ids, got an empty file");
  refuse("c.csv", "id,category\n,fig\n", "c.csv: id 1 is empty");
  refuse("d.csv", "name,category\nx,fig\n", "d.csv:1: expected a column \"id\"");
  refuse("e.csv", "row,id\n0,a\n2,b\n", "e.csv:3: expected row 1, got \"2\"");
  refuse("f.parquet", "PAR1", "f.parquet: expected ids as text, .csv or .jsonl, got Parquet");
  EXPECT_PROBE_ERROR(read_item_columns(folder_.path() / "none.txt"), ErrorKind::io,
                     "none.txt: cannot open");
}

TEST_F(ItemColumnsFile, PromptsAreLines) {
  EXPECT_EQ(read_prompt_lines(folder_.write("p.txt", "a fig\nan onion\n")),
            (Strings{"a fig", "an onion"}));
  EXPECT_PROBE_ERROR(read_prompt_lines(folder_.write("q.txt", "a\na\n")), ErrorKind::input,
                     "q.txt: prompt \"a\" stands twice");
  EXPECT_PROBE_ERROR(read_prompt_lines(folder_.write("r.txt", "")), ErrorKind::input,
                     "r.txt: expected prompts, got an empty file");
}

}  // namespace
}  // namespace probe
