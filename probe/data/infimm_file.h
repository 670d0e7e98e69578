// Files of InfiMM-Eval runs. All are strict: unknown fields, wrong types, ids that stand
// twice and names that do not exist are refused with file and line.
//
// questions.jsonl  {"question_id","category","complexity","question","answer",
//                   "steps"?: [...], "images"?: [...]}
// responses.jsonl  {"model","setting"?,"question_id","response"}
// scores           JSON Lines or CSV with {"model","setting"?,"grading"?,"question_id",
//                   "score"}; JSON Lines also {"prompt_id","score","reason"?}, a judge's
//                   verdict on a prompt of prompts.jsonl
// prompts.jsonl    {"prompt_id","model","setting","grading","question_id","prompt"}
//
// category: deductive, abductive, analogical. complexity: moderate, high. grading:
// with_steps (the default) or without_steps. score: 0 to 1 (checked by the scoring).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "probe/core/infimm.h"

namespace probe {

std::vector<InfimmQuestion> read_infimm_questions(const std::filesystem::path& path);

std::vector<InfimmResponse> read_infimm_responses(const std::filesystem::path& path);

// `prompts` resolves verdicts by prompt_id; empty: such lines are refused.
// A name that ends in ".csv" is read as CSV.
std::vector<InfimmScore> read_infimm_scores(const std::filesystem::path& path,
                                            const std::filesystem::path& prompts);

// What a judge is asked about one response, in our words. The response and everything else
// that others wrote stands in one JSON object, so that no text can pass for instructions.
// Without steps the judge sees neither the reference's steps nor the rule for them.
std::string judge_prompt(const InfimmQuestion& question, const std::string& response,
                         Grading grading);

// prompts.jsonl: one line for each response and grading. Throws Error(input) for a response
// to a question that does not exist and for two responses of one run to one question.
std::string judge_prompts_file(const std::vector<InfimmQuestion>& questions,
                               const std::vector<InfimmResponse>& responses,
                               const std::vector<Grading>& gradings);

}  // namespace probe
