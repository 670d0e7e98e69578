#include "probe/core/infimm.h"

namespace probe {

const char* category_name(ReasoningCategory category) {
  switch (category) {
    case ReasoningCategory::deductive: return "deductive";
    case ReasoningCategory::abductive: return "abductive";
    case ReasoningCategory::analogical: return "analogical";
  }
  return "";
}

const char* complexity_name(ReasoningComplexity complexity) {
  return complexity == ReasoningComplexity::moderate ? "moderate" : "high";
}

const char* grading_name(Grading grading) {
  return grading == Grading::with_steps ? "with_steps" : "without_steps";
}

std::optional<ReasoningCategory> parse_reasoning_category(const std::string& name) {
  for (const auto category : {ReasoningCategory::deductive, ReasoningCategory::abductive,
                              ReasoningCategory::analogical}) {
    if (name == category_name(category)) return category;
  }
  return std::nullopt;
}

std::optional<ReasoningComplexity> parse_reasoning_complexity(const std::string& name) {
  for (const auto complexity : {ReasoningComplexity::moderate, ReasoningComplexity::high}) {
    if (name == complexity_name(complexity)) return complexity;
  }
  return std::nullopt;
}

std::optional<Grading> parse_grading(const std::string& name) {
  for (const auto grading : {Grading::with_steps, Grading::without_steps}) {
    if (name == grading_name(grading)) return grading;
  }
  return std::nullopt;
}

}  // namespace probe
