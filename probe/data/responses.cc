#include "probe/data/responses.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/delimited.h"
#include "probe/data/json_lines.h"
#include "probe/data/text_input.h"

namespace probe {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::input, where + ": " + message);
}

int parse_shift(const std::string& text, const std::string& where) {
  const bool digits = !text.empty() && text.size() <= 2 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || std::stoi(text) > 25) {
    fail(where, "shift: expected a number from 0 to 25, got \"" + printable(text) + "\"");
  }
  return std::stoi(text);
}

bool parse_flag(const std::string& text, const std::string& where) {
  if (text == "true") return true;
  if (!text.empty() && text != "false") {
    fail(where, "made_up: expected true or false, got \"" + printable(text) + "\"");
  }
  return false;
}

void set_type(const std::string& name, Response& response) {
  if (name.empty()) return;
  response.type = parse_question_type(name);
  if (!response.type) {
    fail(response.where,
         "type: expected open, choice or unsolvable, got \"" + printable(name) + "\"");
  }
}

void check(const Response& response) {
  if (response.model.empty()) fail(response.where, "no model; --model names it");
  if (response.question_id.empty()) fail(response.where, "question_id is empty");
}

// Where a harness keeps the id: ours, or the row number of its own table.
std::string json_id(const JsonObject& object) {
  return object.has("question_id") || !object.has("index") ? object.text("question_id")
                                                           : object.text("index");
}

void set_text(const JsonObject& object, const char* field, Response& response) {
  response.missing = !object.has(field);
  if (response.missing) return;
  response.failed = !object.is_text_or_number(field);
  if (!response.failed) response.text = object.text_or_number(field);
}

// lmms-eval's sample log: the row of the questions file stands in "doc" (without its image),
// the response in "filtered_resps" or "resps", as text or as a list of one, once or twice.
void read_sample(const JsonObject& object, const JsonObject& doc, Response& response) {
  response.question_id = json_id(doc);
  response.shift = parse_shift(doc.text_or("shift", "0"), object.where());
  set_type(doc.text_or("type", ""), response);
  const char* field = object.has("filtered_resps") ? "filtered_resps" : "resps";
  response.missing = !object.has(field);
  const std::optional<std::string> text = object.only_text(field);
  response.failed = !response.missing && !text;
  if (text) response.text = *text;
}

std::vector<Response> read_json(const std::filesystem::path& path, const std::string& model) {
  std::vector<Response> responses;
  for_each_json_line(path, [&](const JsonObject& object) {
    Response response;
    response.where = object.where();
    response.model = object.text_or("model", model);
    response.made_up = object.flag("made_up");
    if (const std::optional<JsonObject> doc = object.object("doc"); doc) {
      read_sample(object, *doc, response);
    } else {
      response.question_id = json_id(object);
      response.shift = parse_shift(object.text_or("shift", "0"), object.where());
      set_type(object.text_or("type", ""), response);
      set_text(object, object.has("response") ? "response" : "prediction", response);
    }
    check(response);
    responses.push_back(std::move(response));
  });
  return responses;
}

std::vector<Response> read_table(const std::filesystem::path& path, const std::string& model) {
  const DelimitedTable table = read_table_file(path);
  int question = table.column("question_id");
  if (question < 0) question = table.column("index");
  const int shift = table.column("shift"), type = table.column("type"),
            name = table.column("model"), made_up = table.column("made_up");
  const int text = table.column("response") >= 0 ? table.column("response")
                                                 : table.column("prediction");
  if (question < 0 || text < 0) {
    fail(path.string() + ":1",
         "expected columns question_id (or index) and response (or prediction)");
  }
  std::vector<Response> responses;
  for (const DelimitedRow& row : table.rows) {
    Response response;
    response.where = path.string() + ":" + std::to_string(row.line);
    response.model = name >= 0 && !row.fields[name].empty() ? row.fields[name] : model;
    response.question_id = row.fields[question];
    if (shift >= 0) response.shift = parse_shift(row.fields[shift], response.where);
    if (type >= 0) set_type(row.fields[type], response);
    if (made_up >= 0) response.made_up = parse_flag(row.fields[made_up], response.where);
    response.text = row.fields[text];
    check(response);
    responses.push_back(std::move(response));
  }
  return responses;
}

}  // namespace

std::vector<Response> read_responses(const std::filesystem::path& path,
                                     const std::string& model) {
  const std::string extension = path.extension().string();
  std::vector<Response> responses;
  if (extension == ".jsonl" || extension == ".json") {
    responses = read_json(path, model);
  } else if (is_table_file(path)) {
    responses = read_table(path, model);
  } else {
    fail(path.string(), "expected .jsonl, .json, .csv, .tsv or .xlsx");
  }
  std::set<std::tuple<std::string, std::string, int>> seen;
  for (const Response& r : responses) {
    if (!seen.emplace(r.model, r.question_id, r.shift).second) {
      fail(r.where, "model \"" + printable(r.model) + "\" answers question \"" +
                        printable(r.question_id) + "\" at shift " + std::to_string(r.shift) +
                        " twice");
    }
  }
  return responses;
}

std::vector<JudgeVerdict> read_judge_verdicts(const std::filesystem::path& path) {
  std::vector<JudgeVerdict> verdicts;
  for_each_json_line(path, [&](const JsonObject& object) {
    JudgeVerdict verdict;
    verdict.where = object.where();
    verdict.model = object.text("model");
    verdict.question_id = object.text("question_id");
    verdict.shift = parse_shift(object.text_or("shift", "0"), object.where());
    verdict.verdict = object.text_or("verdict", "");
    if (!verdict.verdict.empty()) verdicts.push_back(std::move(verdict));
  });
  return verdicts;
}

std::vector<std::vector<std::string>> read_synonyms(const std::filesystem::path& path) {
  const std::string content = read_text(path);
  std::vector<std::vector<std::string>> groups;
  for (const TextLine& line : split_lines(content)) {
    const std::string text(line.text.substr(0, line.text.find('#')));
    if (text.find_first_not_of(" \t") == std::string::npos) continue;
    std::vector<std::string> group(1);
    for (const char c : text) {
      if (c == ',') {
        group.emplace_back();
      } else if (c != ' ' && c != '\t') {
        group.back() += c;
      } else if (!group.back().empty() && group.back().back() != ' ') {
        group.back() += ' ';
      }
    }
    for (std::string& word : group) {
      if (!word.empty() && word.back() == ' ') word.pop_back();
    }
    std::erase(group, "");
    if (group.size() < 2) {
      fail(path.string() + ":" + std::to_string(line.number),
           "expected two or more words that mean the same, separated by commas");
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace probe
