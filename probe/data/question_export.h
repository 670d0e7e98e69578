// Questions for MLLM harnesses. Every row carries question_id, type and shift, so that what a
// harness saves comes back through `probe score` as it is.
#pragma once

#include <string>
#include <vector>

#include "probe/core/item.h"

namespace probe {

// NEMO's question, and what is added for open ones (its Fig. 2 and Sec. C).
inline constexpr const char* kQuestionText = "What is the object in this image?";
inline constexpr const char* kOpenInstruction = "Please only reply with an object name.";

enum class ImageForm { path, base64 };

// One file of questions as JSON Lines (read_questions reads it).
std::string questions_jsonl(const std::vector<Question>& questions);

// VLMEvalKit's TSV for questions of one type: index, image (base64; a picture that a row above
// holds is given as that row's index) or image_path, question, A, B, ..., answer (letter, of an
// open question the name), category, question_id, type, shift; a row for each circular shift
// if `all_shifts`. Throws Error(io) if an image cannot be read.
std::string vlmevalkit_tsv(const Dataset& dataset, const std::vector<Question>& questions,
                           QuestionType type, ImageForm images, bool all_shifts);

// lmms-eval: one JSON object a row with question_id, type, shift, image (path), question (the
// whole prompt), options, answer, category.
std::string lmms_eval_jsonl(const Dataset& dataset, const std::vector<Question>& questions,
                            bool all_shifts);

}  // namespace probe
