// The questions file (DESIGN.md section 6), JSON Lines:
//   {"question_id","item_id","type":"open|choice|unsolvable","choices":[...],"answer"}
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "probe/core/item.h"

namespace probe {

// The last choice of an unsolvable question, as NEMO words it.
inline constexpr const char* kNoneOfThese = "all other options are incorrect";

// Throws Error(input) with file and line: unknown or missing field, wrong type,
// duplicate id, answer out of range, choices that are empty or equal.
std::vector<Question> read_questions(const std::filesystem::path& path);

// Checks that need the items as well. Throws Error(input) naming the question.
void check_questions(const Dataset& dataset, const std::filesystem::path& path);

// Throws Error(input) "<where>: ..." unless the choices are two or more, not empty and
// different, and `answer` is one of them.
void check_choices(const std::vector<std::string>& choices, int answer,
                   const std::string& where);

}  // namespace probe
