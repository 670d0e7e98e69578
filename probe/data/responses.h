// MLLM responses, judges' verdicts and synonyms (DESIGN.md section 6).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "probe/core/response.h"

namespace probe {

// JSON Lines or one JSON list (.jsonl, .json), or a table (.csv, .tsv, .xlsx), with model,
// question_id, type?, shift?, response. What harnesses save is read as it is: VLMEvalKit's
// predictions ("prediction" for response, "index" where there is no question_id) and lmms-eval's
// sample logs ("doc", "filtered_resps"); other fields are passed over. `model` stands for rows
// without one; may be empty. A row's "made_up": true says that its text was made up for show;
// every table and figure made of it then says so.
// Throws Error(input) with file and line: no model, no question_id, a shift that is no
// number from 0 to 25, an unknown type, the same model, question and shift twice.
std::vector<Response> read_responses(const std::filesystem::path& path, const std::string& model);

// JSON Lines with model, question_id, shift?, verdict; rows with an empty verdict are passed
// over, so that the file of undecided responses can be filled in and read back.
std::vector<JudgeVerdict> read_judge_verdicts(const std::filesystem::path& path);

// Groups of words that mean the same, one a line, separated by commas; "#" begins a comment.
// Throws Error(input) with file and line for a group of fewer than two words.
std::vector<std::vector<std::string>> read_synonyms(const std::filesystem::path& path);

}  // namespace probe
