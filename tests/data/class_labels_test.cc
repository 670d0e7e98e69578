#include "probe/data/class_labels.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

class ClassLabels : public testing::Test {
 protected:
  test::TempDir folder_;

  std::vector<ClassLabel> read(const std::string& name, const std::string& content) {
    return read_class_labels(folder_.write(name, content));
  }
};

TEST_F(ClassLabels, OneALineWithNamesIfTheyAreGiven) {
  const std::vector<ClassLabel> labels =
      read("x.txt", "\xEF\xBB\xBF" "fig\r\n\nbell pepper\tbell pepper|capsicum\r\na|b\n");
  ASSERT_EQ(labels.size(), 3u);
  EXPECT_EQ(labels[0].name, "fig");
  EXPECT_EQ(labels[0].names, std::vector<std::string>{"fig"});
  EXPECT_EQ(labels[1].names, (std::vector<std::string>{"bell pepper", "capsicum"}));
  EXPECT_EQ(labels[2].names, std::vector<std::string>{"a|b"});  // no tab: a bar is a bar
}

TEST_F(ClassLabels, JsonKeepsItsOrder) {
  const std::vector<ClassLabel> labels =
      read("x.json", R"({"plum": ["plum", "damson"], "fig": []})");
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[0].name, "plum");
  EXPECT_EQ(labels[0].names.size(), 2u);
  EXPECT_EQ(labels[1].names, std::vector<std::string>{"fig"});
  EXPECT_EQ(read("y.json", R"(["b", "a"])")[0].name, "b");
}

TEST_F(ClassLabels, WhatIsWrongIsNamed) {
  const auto fails = [&](const std::string& name, const std::string& content,
                         const std::string& message) {
    EXPECT_PROBE_ERROR(read(name, content), ErrorKind::input, message);
  };
  fails("a.txt", "\n\n", "expected classes, got none");
  fails("b.txt", "fig\nfig\n", "b.txt: expected every class once, got \"fig\" twice");
  fails("c.txt", "fig\tfig|\n", "class \"fig\": got an empty name");
  fails("d.txt", "fig\tx\ty\n", "d.txt:1: expected a class, or class<TAB>name|name, got 3 fields");
  fails("e.txt", "fig\tx\nplum\tx\n",
        "name \"x\" belongs to class \"fig\" and again to \"plum\"");
  fails("f.json", "{\"fig\": [\"a\"], \"fig\": [\"b\"]}", "got \"fig\" twice");
  fails("g.json", "{\"fig\": \"a\"}", "class \"fig\": expected a list of names");
  fails("h.json", "{", "expected JSON");
  fails("i.json", "[1]", "expected a list of texts");
}

}  // namespace
}  // namespace probe
