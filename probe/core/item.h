// Items (images with a category) and the questions asked about them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace probe {

inline constexpr const char* kOriginal = "original";

// One image of a dataset (DESIGN.md section 6).
struct Item {
  std::string id;                      // unique in the dataset, not empty
  std::filesystem::path image;         // absolute, or relative to the working folder
  std::string category;                // empty: unknown
  std::string condition = kOriginal;   // "original", "color", "shape", ...
  std::string original_id;             // of a modified twin: its source; else empty
  std::string attribute;               // e.g. "deep purple"; else empty
  std::string image_bytes;             // an image given inline (TSV base64); else empty
  std::string image_error;             // why there is no image to read; else empty
};

enum class QuestionType { open, choice, unsolvable };

// One question about one item. At circular shift s, position p shows
// choices[(p + s) % choices.size()]; `answer` indexes the unshifted list.
struct Question {
  std::string id;
  std::string item_id;
  QuestionType type = QuestionType::choice;
  std::vector<std::string> choices;   // empty for open questions
  int answer = -1;                    // index into choices; -1 for open questions
  std::string answer_text;            // the right name
};

// A dataset: items in file order, and the questions that come with them.
struct Dataset {
  std::filesystem::path source;       // the manifest, folder or table it was read from
  std::vector<Item> items;
  std::vector<Question> questions;
  std::vector<std::string> notes;     // what the reader left out, in words
};

// "open", "choice", "unsolvable".
const char* question_type_name(QuestionType type);
std::optional<QuestionType> parse_question_type(const std::string& name);

}  // namespace probe
