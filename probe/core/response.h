// What a multimodal LLM answered to one question at one circular shift.
#pragma once

#include <optional>
#include <string>

#include "probe/core/item.h"

namespace probe {

// The choice question that was made from the row "7" of a table is called "7:choice".
inline constexpr const char* kChoiceSuffix = ":choice";

struct Response {
  std::string model, question_id;
  std::optional<QuestionType> type;  // as the file says; must agree with the question
  int shift = 0;                     // position p showed choices[(p + shift) % c]
  std::string text;
  bool missing = false;  // null, or no such field
  bool failed = false;   // not text: an object or list, as harnesses write for errors
  bool made_up = false;  // the file says that the text was made up for show
  std::string where;     // "file:line", for messages
};

// A judge's word on a response that no rule decided.
struct JudgeVerdict {
  std::string model, question_id;
  int shift = 0;
  std::string verdict;  // the shown letter, "none"; open questions: "right" or "wrong"
  std::string where;
};

}  // namespace probe
