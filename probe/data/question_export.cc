#include "probe/data/question_export.h"

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "probe/core/atomic_file.h"
#include "probe/core/base64.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

using Json = nlohmann::ordered_json;

// As pandas writes it: quoted when needed.
std::string tsv_field(const std::string& value) {
  if (value.find_first_of("\t\n\r\"") == std::string::npos) return value;
  std::string out = "\"";
  for (const char c : value) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string letter(int position) { return std::string(1, static_cast<char>('A' + position)); }

// The choices as shown at a shift, and the answer's position there.
struct Shown {
  std::vector<std::string> choices;
  int answer = -1;
};

Shown shown_at(const Question& question, int shift) {
  const int n = static_cast<int>(question.choices.size());
  Shown shown;
  for (int p = 0; p < n; ++p) shown.choices.push_back(question.choices[(p + shift) % n]);
  if (n > 0) shown.answer = (question.answer - shift + n) % n;
  return shown;
}

int shift_count(const Question& question, bool all_shifts) {
  return all_shifts && !question.choices.empty() ? static_cast<int>(question.choices.size()) : 1;
}

std::unordered_map<std::string, const Item*> items_by_id(const Dataset& dataset) {
  std::unordered_map<std::string, const Item*> items;
  for (const Item& item : dataset.items) items.emplace(item.id, &item);
  return items;
}

const Item& item_of(const std::unordered_map<std::string, const Item*>& items,
                    const Question& question) {
  const auto it = items.find(question.item_id);
  if (it == items.end()) {
    throw Error(ErrorKind::input, "question \"" + printable(question.id) + "\" asks about item \"" +
                                      printable(question.item_id) +
                                      "\", which the dataset does not have");
  }
  return *it->second;
}

}  // namespace

std::string questions_jsonl(const std::vector<Question>& questions) {
  std::string text;
  for (const Question& question : questions) {
    Json json = {{"question_id", question.id},
                 {"item_id", question.item_id},
                 {"type", question_type_name(question.type)}};
    if (question.type == QuestionType::open) {
      json["answer"] = question.answer_text;
    } else {
      json["choices"] = question.choices;
      json["answer"] = question.answer;
    }
    text += json.dump() + "\n";
  }
  return text;
}

std::string vlmevalkit_tsv(const Dataset& dataset, const std::vector<Question>& questions,
                           QuestionType type, ImageForm images, bool all_shifts) {
  const auto items = items_by_id(dataset);
  std::size_t columns = 0;
  for (const Question& question : questions) {
    if (question.type == type) columns = std::max(columns, question.choices.size());
  }
  std::string text = images == ImageForm::base64 ? "index\timage\tquestion" : "index\timage_path\tquestion";
  for (std::size_t p = 0; p < columns; ++p) text += "\t" + letter(static_cast<int>(p));
  text += "\tanswer\tcategory\tquestion_id\ttype\tshift\n";
  std::unordered_map<std::string, int> first_row;  // of an item's picture
  int index = 0;
  for (const Question& question : questions) {
    if (question.type != type) continue;
    const Item& item = item_of(items, question);
    for (int shift = 0; shift < shift_count(question, all_shifts); ++shift, ++index) {
      const Shown shown = shown_at(question, shift);
      std::string image = item.image.string();
      if (images == ImageForm::base64) {
        const auto [it, fresh] = first_row.try_emplace(item.id, index);
        image = !fresh ? std::to_string(it->second)
                       : encode_base64(item.image_bytes.empty()
                                           ? read_file(item.image, std::size_t{1} << 28)
                                           : item.image_bytes);
      }
      text += std::to_string(index) + "\t" + tsv_field(image) + "\t";
      text += type == QuestionType::open ? std::string(kQuestionText) + " " + kOpenInstruction
                                         : kQuestionText;
      for (std::size_t p = 0; p < columns; ++p) {
        text += "\t" + (p < shown.choices.size() ? tsv_field(shown.choices[p]) : std::string());
      }
      text += "\t" + (type == QuestionType::open ? tsv_field(question.answer_text)
                                                 : letter(shown.answer));
      text += "\t" + tsv_field(item.category) + "\t" + tsv_field(question.id) + "\t" +
              question_type_name(type) + "\t" + std::to_string(shift) + "\n";
    }
  }
  return text;
}

std::string lmms_eval_jsonl(const Dataset& dataset, const std::vector<Question>& questions,
                            bool all_shifts) {
  const auto items = items_by_id(dataset);
  std::string text;
  for (const Question& question : questions) {
    const Item& item = item_of(items, question);
    for (int shift = 0; shift < shift_count(question, all_shifts); ++shift) {
      const Shown shown = shown_at(question, shift);
      std::string prompt = kQuestionText;
      if (question.type == QuestionType::open) {
        prompt += std::string(" ") + kOpenInstruction;
      } else {
        const std::size_t n = shown.choices.size();
        prompt += " Please choose from the following " + std::to_string(n) + " options: ";
        for (std::size_t p = 0; p < n; ++p) {
          prompt += letter(static_cast<int>(p)) + ": " + shown.choices[p] + (p + 1 < n ? ", " : ".");
        }
      }
      Json json = {{"question_id", question.id},
                   {"type", question_type_name(question.type)},
                   {"shift", shift},
                   {"image", item.image.string()},
                   {"question", prompt},
                   {"options", shown.choices},
                   {"answer", shown.answer < 0 ? question.answer_text : letter(shown.answer)},
                   {"category", item.category}};
      text += json.dump() + "\n";
    }
  }
  return text;
}

}  // namespace probe
