// Questions and judged scores of InfiMM-Eval (Han et al. 2023, sections 3 and 4.1).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace probe {

enum class ReasoningCategory { deductive, abductive, analogical };
enum class ReasoningComplexity { moderate, high };

// What the judge saw besides question, reference answer and response: the reference's
// reasoning steps, or not (the paper's Figure 4 grades one response both ways).
enum class Grading { with_steps, without_steps };

struct InfimmQuestion {
  std::string id;  // unique, not empty
  ReasoningCategory category = ReasoningCategory::deductive;
  ReasoningComplexity complexity = ReasoningComplexity::moderate;
  std::string question, answer;     // not empty
  std::vector<std::string> steps;   // of the reference; may be empty
  std::vector<std::string> images;  // names or paths; may be empty
};

// One judged response. `setting` tells runs of one model apart ("CoT", "concatenated").
struct InfimmScore {
  std::string where;  // "<file>:<line>", for messages
  std::string model, setting, question_id;
  Grading grading = Grading::with_steps;
  double score = 0.0;  // 0 to 1
};

struct InfimmResponse {
  std::string where;
  std::string model, setting, question_id, response;
};

const char* category_name(ReasoningCategory category);        // "deductive", ...
const char* complexity_name(ReasoningComplexity complexity);  // "moderate", "high"
const char* grading_name(Grading grading);                    // "with_steps", ...
std::optional<ReasoningCategory> parse_reasoning_category(const std::string& name);
std::optional<ReasoningComplexity> parse_reasoning_complexity(const std::string& name);
std::optional<Grading> parse_grading(const std::string& name);

}  // namespace probe
