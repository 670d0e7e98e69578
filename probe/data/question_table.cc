#include "probe/data/question_table.h"

#include <cctype>
#include <unordered_set>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/questions.h"

namespace probe {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::input, where + ": " + message);
}

int first_column(const DelimitedTable& table, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const int column = table.column(name); column >= 0) return column;
  }
  return -1;
}

int packed_column(const DelimitedTable& table) {
  return first_column(table, {"options", "Options", "choices"});
}

int answer_column(const DelimitedTable& table) {
  return first_column(table, {"answer", "Correct Answer"});
}

std::string trimmed(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  std::size_t start = 0;
  while (start < text.size() && blank(text[start])) ++start;
  return text.substr(start);
}

// "(a) Yes (b) No" -> Yes, No. A letter counts only where it is the next one, so that
// "(a) vitamin (c) (b) none" has two choices.
std::vector<std::string> unpack(const std::string& cell, const std::string& where) {
  std::vector<std::string> choices;
  std::size_t start = std::string::npos;  // of the open choice
  for (std::size_t i = 0; i + 2 < cell.size(); ++i) {
    const int letter = std::tolower(static_cast<unsigned char>(cell[i + 1])) - 'a';
    const int next = static_cast<int>(choices.size()) + (start == std::string::npos ? 0 : 1);
    if (cell[i] != '(' || cell[i + 2] != ')' || letter != next) continue;
    if (start != std::string::npos) choices.push_back(trimmed(cell.substr(start, i - start)));
    start = i + 3;
  }
  if (start == std::string::npos) {
    fail(where, "expected choices as \"(a) ... (b) ...\", got \"" + printable(cell.substr(0, 40)) + "\"");
  }
  choices.push_back(trimmed(cell.substr(start)));
  return choices;
}

// Rows may have fewer choices than the table has columns.
std::vector<std::string> lettered(const DelimitedTable& table, const DelimitedRow& row,
                                  const std::string& where) {
  std::vector<std::string> choices;
  bool ended = false;
  for (char letter = 'A'; letter <= 'Z'; ++letter) {
    const int column = table.column(std::string(1, letter));
    if (column < 0) break;
    const std::string& choice = row.fields[column];
    if (choice.empty()) {
      ended = true;
    } else if (ended) {
      fail(where, std::string(1, letter) + ": expected no choice after an empty one");
    } else {
      choices.push_back(choice);
    }
  }
  return choices;
}

// "A", "a" or "(a)" -> 0.
int answer_letter(const std::string& cell, const std::string& where) {
  std::string letter = trimmed(cell);
  if (letter.size() == 3 && letter.front() == '(' && letter.back() == ')') letter = letter.substr(1, 1);
  if (letter.size() != 1 || std::isalpha(static_cast<unsigned char>(letter[0])) == 0) {
    fail(where, "answer: expected a letter, got \"" + printable(cell.substr(0, 40)) + "\"");
  }
  return std::tolower(static_cast<unsigned char>(letter[0])) - 'a';
}

}  // namespace

bool has_choice_columns(const DelimitedTable& table) {
  return answer_column(table) >= 0 && (table.column("A") >= 0 || packed_column(table) >= 0);
}

Question read_question_row(const DelimitedTable& table, const DelimitedRow& row,
                           const std::string& index, const std::string& where) {
  Question question;
  question.id = index + kChoiceSuffix;
  question.item_id = index;
  question.choices = table.column("A") >= 0 ? lettered(table, row, where)
                                            : unpack(row.fields[packed_column(table)], where);
  question.answer = answer_letter(row.fields[answer_column(table)], where);
  check_choices(question.choices, question.answer, where);
  question.answer_text = question.choices[question.answer];
  return question;
}

std::vector<Question> read_question_table(const std::filesystem::path& path) {
  const DelimitedTable table = read_table_file(path);
  const int index = first_column(table, {"index", "Index", "question_id"});
  if (index < 0 || !has_choice_columns(table)) {
    fail(path.string() + ":1", "expected columns index, answer, and A, B, ... or options");
  }
  std::vector<Question> questions;
  std::unordered_set<std::string> seen;
  for (const DelimitedRow& row : table.rows) {
    const std::string where = path.string() + ":" + std::to_string(row.line);
    const std::string& id = row.fields[index];
    if (id.empty()) fail(where, "the index is empty");
    if (!seen.insert(id).second) fail(where, "index \"" + printable(id) + "\" stands twice");
    questions.push_back(read_question_row(table, row, id, where));
  }
  return questions;
}

}  // namespace probe
