#include "probe/core/item.h"

namespace probe {

const char* question_type_name(QuestionType type) {
  switch (type) {
    case QuestionType::open: return "open";
    case QuestionType::choice: return "choice";
    case QuestionType::unsolvable: return "unsolvable";
  }
  return "unknown";
}

std::optional<QuestionType> parse_question_type(const std::string& name) {
  for (QuestionType type :
       {QuestionType::open, QuestionType::choice, QuestionType::unsolvable}) {
    if (name == question_type_name(type)) return type;
  }
  return std::nullopt;
}

}  // namespace probe
