#include "probe/data/manifest.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

// A PNG of one red pixel, as base64.
constexpr const char* kPixel =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSu"
    "QmCC";

TEST(Manifest, JsonLines) {
  const test::TempDir folder;
  const auto path = folder.write(
      "items.jsonl",
      "{\"id\":\"a\",\"image\":\"x/a.jpg\",\"category\":\"fig\"}\n"
      "{\"id\":7,\"image\":\"b.jpg\",\"category\":\"fig\",\"condition\":\"color\","
      "\"original_id\":\"a\",\"attribute\":\"red\",\"choices\":[\"fig\",\"egg\"],\"answer\":1}\n");
  const Dataset dataset = read_dataset(path, {});
  ASSERT_EQ(dataset.items.size(), 2u);
  EXPECT_EQ(dataset.items[0].image, folder.path() / "x/a.jpg");
  EXPECT_EQ(dataset.items[0].condition, "original");
  EXPECT_EQ(dataset.items[1].id, "7");
  EXPECT_EQ(dataset.items[1].original_id, "a");
  ASSERT_EQ(dataset.questions.size(), 1u);
  EXPECT_EQ(dataset.questions[0].answer_text, "egg");
}

TEST(Manifest, RefusesWhatItDoesNotUnderstand) {
  const test::TempDir folder;
  const auto read = [&](const std::string& line) {
    return read_dataset(folder.write("m.jsonl", line), {});
  };
  EXPECT_PROBE_ERROR(read("{\"id\":\"a\"}"), ErrorKind::input, "m.jsonl:1: \"image\" is missing");
  EXPECT_PROBE_ERROR(read("{\"id\":\"a\",\"image\":\"a\",\"colour\":1}"), ErrorKind::input,
                     "unknown field \"colour\"");
  EXPECT_PROBE_ERROR(read("{\"id\":\"a\",\"image\":\"a\"}\n{\"id\":\"a\",\"image\":\"b\"}"),
                     ErrorKind::input, "id \"a\" stands twice");
  EXPECT_PROBE_ERROR(read("{\"id\":\"a\",\"image\":[]}"), ErrorKind::input,
                     "\"image\": expected a string, got array");
  EXPECT_PROBE_ERROR(read("not json"), ErrorKind::input, "expected one JSON object");
  EXPECT_PROBE_ERROR(
      read("{\"id\":\"a\",\"image\":\"a\",\"choices\":[\"x\",\"y\"],\"answer\":2}"),
      ErrorKind::input, "expected an answer from 0 to 1, got 2");
  EXPECT_PROBE_ERROR(read_dataset(folder.path() / "none.jsonl", {}), ErrorKind::input,
                     "none.jsonl: no such file or folder");
}

TEST(Manifest, ImagesStayInsideTheFolder) {
  const test::TempDir folder;
  for (const char* image : {"../secret.jpg", "/etc/passwd", "a/../../secret.jpg"}) {
    const auto path = folder.write(
        "m.jsonl", std::string("{\"id\":\"a\",\"image\":\"") + image + "\"}");
    EXPECT_PROBE_ERROR(read_dataset(path, {}), ErrorKind::input,
                       "lies outside the dataset's folder");
    EXPECT_EQ(read_dataset(path, {{}, true}).items.size(), 1u);
  }
}

TEST(Manifest, FolderWithOneSubFolderPerClass) {
  const test::TempDir folder;
  folder.write("pear/b.jpg", "x");
  folder.write("apple/a.PNG", "x");
  folder.write("apple/notes.txt", "x");
  const Dataset dataset = read_dataset(folder.path(), {});
  ASSERT_EQ(dataset.items.size(), 2u);
  EXPECT_EQ(dataset.items[0].id, "apple/a.PNG");
  EXPECT_EQ(dataset.items[1].category, "pear");
  const test::TempDir empty;
  EXPECT_PROBE_ERROR(read_dataset(empty.path(), {}), ErrorKind::input,
                     "expected images, got 0 items");
}

TEST(Bugcase52, Base64CellsReferencesAndBrokenCells) {
  const test::TempDir folder;
  const std::string data_url = std::string("data:image/png;base64,") + kPixel;
  const auto path = folder.write(
      "v.tsv", std::string("index\timage\tA\tB\tanswer\n1\t") + kPixel + "\tYes\tNo\tA\n2\t1\tYes\tNo\tB\n" +
                   "3\t[\"x\",\"y\"]\tYes\tNo\tA\n4\t%%%%\tYes\tNo\tA\n5\t" + data_url +
                   "\tYes\tNo\tA\n6\t99\tYes\tNo\tA\n");
  const Dataset dataset = read_dataset(path, {});
  ASSERT_EQ(dataset.items.size(), 6u);
  EXPECT_EQ(dataset.items[0].image_bytes.substr(1, 3), "PNG");
  EXPECT_EQ(dataset.items[1].image_bytes, dataset.items[0].image_bytes);
  EXPECT_EQ(dataset.items[2].image_error, "expected one image, got a list of images");
  EXPECT_EQ(dataset.items[3].image_error, "expected base64, got another character");
  EXPECT_EQ(dataset.items[4].image_bytes, dataset.items[0].image_bytes);
  EXPECT_EQ(dataset.items[5].image_error, "expected the index of an earlier row, got 99");
  EXPECT_EQ(dataset.questions[1].answer_text, "No");
}

TEST(Bugcase52, LargeCellsAreFine) {
  const test::TempDir folder;
  const std::string cell(6 << 20, 'A');
  const auto path =
      folder.write("v.tsv", "index\timage\tA\tB\tanswer\n1\t" + cell + "\tYes\tNo\tA\n");
  EXPECT_EQ(read_dataset(path, {}).items[0].image_bytes.size(), cell.size() / 4 * 3);
}

}  // namespace
}  // namespace probe
