// The MLLM side of `compare`: responses, what the user says of the models, other wordings.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/nemo_tables.h"
#include "analysis/subject.h"

namespace probe {

struct ResponseArguments {
  std::vector<std::filesystem::path> responses;
  std::filesystem::path models, synonyms, verdicts;
  std::vector<std::string> open_prompts;  // "NAME=FILE"
  bool asked_only = false;
};

// Everything that is read before any image is.
struct ResponseFiles {
  std::vector<Response> responses;
  std::vector<ModelFacts> models;
  std::vector<std::pair<std::string, std::vector<Response>>> prompts;  // name, its responses
  SynonymGroups synonyms;
  std::vector<JudgeVerdict> verdicts;
  std::set<std::string> made_up;  // models
  std::optional<std::set<std::string>> asked;  // question ids, with asked_only
};

// Throws Error(input) as the readers do, and for a model, question and shift that stand in two
// files; Error(usage) for options that need responses, and a prompt that is not "NAME=FILE".
ResponseFiles read_response_files(const ResponseArguments& arguments);

// Scored responses; `questions` and `items` must outlive it.
struct ModelAnswers {
  std::vector<Subject> subjects;
  std::vector<PromptVariant> variants;
};

// `passed_over`: ids of questions that exist but are not compared; responses to them are
// counted in a warning. Other unknown questions are failures.
ModelAnswers score_models(const ResponseFiles& files, const std::vector<Question>& questions,
                          const std::set<std::string>& passed_over, const ItemColumns& items,
                          Report& report);

}  // namespace probe
