// Choice questions in tables: VLMEvalKit's columns A, B, C, ... and answers by letter, or all
// choices packed into one cell, "(a) Yes (b) No", as MMVP writes them (BUGCASES 52).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "probe/core/item.h"
#include "probe/core/response.h"
#include "probe/data/delimited.h"

namespace probe {

// True if the table has an answer and either column A or packed options.
bool has_choice_columns(const DelimitedTable& table);

// Fills id ("<index>:choice"), item_id, choices and answer of the row's question.
// Throws Error(input) "<where>: ...": choices that are not in order, fewer than two or equal;
// an answer that is no letter ("A", "(a)") of one of them.
Question read_question_row(const DelimitedTable& table, const DelimitedRow& row,
                           const std::string& index, const std::string& where);

// All questions of a .csv, .tsv or .xlsx with an index (or question_id); images are not
// looked at. Throws Error(input) as above, for an index that stands twice, for missing columns.
std::vector<Question> read_question_table(const std::filesystem::path& path);

}  // namespace probe
