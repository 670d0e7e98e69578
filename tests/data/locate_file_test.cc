#include "probe/data/locate_file.h"

#include <gtest/gtest.h>

#include "probe/data/coco_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

class LocateFile : public testing::Test {
 protected:
  test::TempDir folder_;

  // One picture of 100 x 80 with these boxes.
  std::filesystem::path coco(const std::vector<std::string>& boxes) {
    std::string annotations;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      annotations += (i == 0 ? "" : ",") + std::string("{\"id\":") + std::to_string(i + 1) +
                     ",\"image_id\":7,\"category_id\":3,\"bbox\":[" + boxes[i] + "]}";
    }
    return folder_.write(
        "c.json",
        "{\"images\":[{\"id\":7,\"file_name\":\"a.jpg\",\"width\":100,\"height\":80}],"
        "\"categories\":[{\"id\":3,\"name\":\"cat\",\"supercategory\":\"animal\"}],"
        "\"annotations\":[" + annotations + "]}");
  }
};

TEST_F(LocateFile, Bugcase55_ThreeBoxFormatsAreOneBox) {
  const std::pair<const char*, BoxFormat> formats[] = {{"10,20,30,40", BoxFormat::xywh},
                                                       {"10,20,40,60", BoxFormat::xyxy},
                                                       {"0.1,0.25,0.4,0.75",
                                                        BoxFormat::normalized}};
  for (const auto& [box, format] : formats) {
    const CocoAnnotations read = read_coco(coco({box}), format);
    ASSERT_EQ(read.objects.size(), 1u) << box;
    EXPECT_NEAR(read.objects[0].box.x, 10, 1e-9);
    EXPECT_NEAR(read.objects[0].box.y, 20, 1e-9);
    EXPECT_NEAR(read.objects[0].box.width, 30, 1e-9);
    EXPECT_NEAR(read.objects[0].box.height, 40, 1e-9);
    EXPECT_EQ(read.objects[0].super_category, "animal");
  }
}

TEST_F(LocateFile, Bugcase55_TheWrongFormatIsNoticed) {
  const auto corners = coco({"60,40,90,70", "50,50,95,75", "10,20,40,60"});
  EXPECT_EQ(read_coco(corners, BoxFormat::xyxy).objects.size(), 3u);
  EXPECT_PROBE_ERROR(read_coco(corners, BoxFormat::xywh), ErrorKind::input,
                     "2 of 3 boxes leave their picture");
  EXPECT_PROBE_ERROR(read_coco(coco({"60,40,10,20", "50,50,9,9"}), BoxFormat::xyxy),
                     ErrorKind::input, "2 are reversed or empty: is --box-format another one?");
}

TEST_F(LocateFile, Bugcase53_BoxesOutsideAreListed) {
  const CocoAnnotations read =
      read_coco(coco({"-10,-10,20,20", "200,200,220,220", "20,20,5,5", "1,1,9,9", "1,1,9,9",
                      "1,1,9,9", "1,1,9,9", "1,1,9,9"}),
                BoxFormat::xyxy);
  EXPECT_EQ(read.objects.size(), 6u);
  EXPECT_EQ(read.objects[0].box.width, 20);
  ASSERT_EQ(read.bad.size(), 2u);
  EXPECT_EQ(read.bad[0].object_id, 2);
  EXPECT_EQ(read.bad[0].reason, "the box is outside the picture");
  EXPECT_EQ(read.bad[1].object_id, 3);
  EXPECT_EQ(read.bad[1].file_name, "a.jpg");
}

TEST_F(LocateFile, BadAnnotationsAreRefused) {
  EXPECT_PROBE_ERROR(read_coco(coco({"1,2,3"}), BoxFormat::xywh), ErrorKind::input,
                     "c.json: annotations[0]: \"bbox\": expected four numbers");
  EXPECT_PROBE_ERROR(read_coco(coco({"1,2,null,4"}), BoxFormat::xywh), ErrorKind::input,
                     "expected four numbers, got a null");
  EXPECT_PROBE_ERROR(read_coco(folder_.write("x.json", "{\"images\":[]}"), BoxFormat::xywh),
                     ErrorKind::input, "\"categories\" is missing");
  EXPECT_PROBE_ERROR(read_coco(folder_.write("x.json", "{"), BoxFormat::xywh), ErrorKind::input,
                     "x.json: invalid JSON");
}

LocateItem item() {
  LocateItem item;
  item.id = "7";
  item.image = "a.jpg";
  item.width = 100;
  item.height = 80;
  item.category = "kitchen";
  item.boxes = {{0, 0, 10, 10}, {20.4, 0, 10, 10}, {40, 0, 10.6, 10}, {60, 0, 10, 10}};
  item.answer = 2;
  item.expression = "the tallest vase";
  item.question = "Which one contains the tallest vase?";
  item.yes_no = "Does the red box contain the tallest vase?";
  return item;
}

TEST_F(LocateFile, ItemsComeBackAsTheyWere) {
  const auto read = read_locate_items(folder_.write("i.jsonl", locate_items_file({item()})));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(locate_items_file(read), locate_items_file({item()}));
  EXPECT_EQ(read[0].boxes[1].x, 20.4);
  EXPECT_EQ(read[0].answer, 2);
}

TEST_F(LocateFile, BadItemsAreRefused) {
  LocateItem bad = item();
  bad.boxes[0].width = 101;
  EXPECT_PROBE_ERROR(read_locate_items(folder_.write("i.jsonl", locate_items_file({bad}))),
                     ErrorKind::input, "i.jsonl:1: \"boxes\": a box is not within the picture");
  bad = item();
  bad.boxes.pop_back();
  EXPECT_PROBE_ERROR(read_locate_items(folder_.write("i.jsonl", locate_items_file({bad}))),
                     ErrorKind::input, "expected 4 boxes, got 3");
  bad = item();
  bad.answer = 4;
  EXPECT_PROBE_ERROR(read_locate_items(folder_.write("i.jsonl", locate_items_file({bad}))),
                     ErrorKind::input, "expected 0 to 3, got 4");
}

// The templates of section 3.1.
TEST_F(LocateFile, PromptsOfThePaper) {
  EXPECT_EQ(locate_prompt(item(), LocateFormat::letters),
            "There are 4 bounding boxes (drawn in red rectangles) marked with A, B, C, D in the "
            "image. Which one contains the tallest vase?\n\nPlease answer in the following "
            "format: Answer: (A|B|C|D)");
  EXPECT_EQ(locate_prompt(item(), LocateFormat::colors),
            "There are 4 bounding boxes drawn in color red, green, blue and yellow. Which one "
            "contains the tallest vase?\n\nPlease answer in the following format: Answer: "
            "(red|green|blue|yellow)");
  EXPECT_EQ(locate_prompt(item(), LocateFormat::coordinates),
            "There are 4 kitchen in the image. Their bounding boxes (x, y, width, height) are "
            "(0, 0, 10, 10), (20, 0, 10, 10), (40, 0, 11, 10), (60, 0, 10, 10) respectively. "
            "Which one contains the tallest vase?\n\nPlease output the bounding box in the "
            "following format: Answer: (x, y, width, height)");
  EXPECT_EQ(locate_prompt(item(), LocateFormat::one_by_one),
            "Does the red box contain the tallest vase? Please output the answer in the "
            "following format: Answer: (Yes|No)");
}

TEST_F(LocateFile, ResponsesAndExpressions) {
  const LocateResponse response{"", "m", "7", LocateFormat::one_by_one, 3, "Yes"};
  const auto read = read_locate_responses(
      folder_.write("r.jsonl", locate_responses_file({response})));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].candidate, 3);
  EXPECT_EQ(read[0].format, LocateFormat::one_by_one);
  EXPECT_PROBE_ERROR(
      read_locate_responses(folder_.write(
          "r.jsonl", R"({"model":"m","item_id":"7","format":"abcd","response":"A"})")),
      ErrorKind::input, "r.jsonl:1: \"format\": expected letters");
  const auto words = read_locate_expressions(folder_.write(
      "e.jsonl", "{\"annotation_id\":5000000000,\"expression\":\"the tallest vase\"}\n"));
  EXPECT_EQ(words[0].object_id, 5000000000);
  EXPECT_EQ(words[0].question, "Which one contains the tallest vase?");
  EXPECT_EQ(words[0].yes_no, "Does the red box contain the tallest vase?");
}

}  // namespace
}  // namespace probe
