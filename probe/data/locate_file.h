// Files of `probe locate`, JSON Lines. Strict: messages name file and line.
//
// items.jsonl        {"item_id","image","width","height","category","boxes":[[x,y,w,h] x 4],
//                     "answer": 0..3,"expression"?,"question"?,"yes_no"?}
// expressions.jsonl  {"annotation_id","expression","question"?,"yes_no"?}; the two questions
//                    default to "Which one contains E?" and "Does the red box contain E?"
// responses.jsonl    {"model","item_id","format","candidate"?,"response"}
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "probe/core/locate.h"

namespace probe {

std::vector<LocateExpression> read_locate_expressions(const std::filesystem::path& path);

// Boxes must lie within the picture.
std::vector<LocateItem> read_locate_items(const std::filesystem::path& path);
std::string locate_items_file(const std::vector<LocateItem>& items);

std::vector<LocateResponse> read_locate_responses(const std::filesystem::path& path);
std::string locate_responses_file(const std::vector<LocateResponse>& responses);

// The text of a prompt (section 3.1). `item` must have its question.
std::string locate_prompt(const LocateItem& item, LocateFormat format);

// One line of prompts.jsonl: what a model is to be shown and asked. `image` is a path
// relative to the prompts file; `candidate` is -1 but for one_by_one.
std::string locate_prompt_line(const LocateItem& item, LocateFormat format, int candidate,
                               const std::string& image);

}  // namespace probe
