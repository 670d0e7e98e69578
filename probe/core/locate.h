// Boxes in pictures and the items of LocateBench (Chiang et al. 2024).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace probe {

// In pixels, continuous: the box covers x to x + width (BUGCASES 55: half open, so that a
// box of width 30 is 30 pixels wide, not 31).
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

// Whole pixels: columns x0 to x1 - 1, rows y0 to y1 - 1.
struct PixelBox {
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  int width() const { return x1 - x0; }
  int height() const { return y1 - y0; }
};

// The part of a box within a picture; both corners are rounded to the nearest pixel.
// nullopt if nothing is left: outside, empty, reversed, or not finite.
std::optional<PixelBox> clip_box(const Box& box, int image_width, int image_height);

// Area of the intersection over that of the union, 0 to 1.
double box_overlap(const Box& a, const Box& b);

struct LocateImage {
  std::int64_t id = 0;
  std::string file_name;
  int width = 0, height = 0;
};

struct LocateObject {
  std::int64_t id = 0, image_id = 0;
  std::string category, super_category;
  Box box;  // clipped to its picture
  bool crowd = false;  // one box around many objects: never a candidate
};

// What someone wrote about one object.
struct LocateExpression {
  std::int64_t object_id = 0;
  std::string expression;  // "the tallest vase"
  std::string question;    // "Which one contains the tallest vase?"
  std::string yes_no;      // "Does the red box contain the tallest vase?"
};

inline constexpr int kLocateCandidates = 4;

struct LocateItem {
  std::string id;     // unique
  std::string image;  // relative to the folder of pictures
  int width = 0, height = 0;
  std::string category;    // what the candidates have in common
  std::vector<Box> boxes;  // kLocateCandidates
  int answer = 0;          // index into boxes
  std::string expression, question, yes_no;  // empty: nobody described the object yet
};

// Prompt formats of section 3.1, then the encoder baseline's ways to show a candidate.
enum class LocateFormat { letters, colors, coordinates, one_by_one, crop, circle, blur };

const char* locate_format_name(LocateFormat format);  // "letters", ..., "one_by_one", ...
std::optional<LocateFormat> parse_locate_format(const std::string& name);

// One answer of a model. `candidate` is the box shown, with one_by_one, else -1.
struct LocateResponse {
  std::string where;  // "<file>:<line>"
  std::string model, item_id;
  LocateFormat format = LocateFormat::letters;
  int candidate = -1;
  std::string response;
};

}  // namespace probe
