// A few items with an open, a choice and an unsolvable question each, and subjects that
// answer them as a test says.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/subject.h"

namespace probe::test {

struct World {
  ItemColumns items;
  std::vector<Question> questions;

  void add_item(const std::string& id, const std::string& category, const std::string& condition,
                const std::string& original_id) {
    items.id.push_back(id);
    items.path.push_back(id + ".jpg");
    items.category.push_back(category);
    items.condition.push_back(condition);
    items.original_id.push_back(original_id);
    items.attribute.emplace_back();
    items.content_sha256.emplace_back();
    const std::vector<std::string> choices = {category, "egg", "ball", "apple"};
    questions.push_back({id + "/open", id, QuestionType::open, {}, -1, category});
    questions.push_back({id + "/choice", id, QuestionType::choice, choices, 0, category});
    questions.push_back({id + "/unsolvable", id, QuestionType::unsolvable,
                         {"egg", "ball", "apple", "all other options are incorrect"}, 3,
                         "all other options are incorrect"});
  }

  // `pick` gives the choice taken at a shift (-1: unparsed, -2: not asked); open questions:
  // 0 is right. MLLMs are asked at `shifts` shifts, open questions once.
  Subject subject(const std::string& name, bool is_encoder, int shifts,
                  const std::function<int(const Question&, int)>& pick) const {
    Subject out;
    out.name = name;
    out.is_encoder = is_encoder;
    out.facts.model = name;
    for (const Question& question : questions) {
      QuestionResult result;
      result.question = &question;
      while (items.id[result.item] != question.item_id) ++result.item;
      const bool open = question.type == QuestionType::open;
      for (int shift = 0; shift < (open ? 1 : shifts); ++shift) {
        const int picked = pick(question, shift);
        if (picked == -2) continue;
        GivenAnswer answer;
        answer.shift = shift;
        answer.correct = open ? picked == 0 : picked == question.answer;
        if (!open && picked >= 0) answer.picked = question.choices[picked];
        result.answers.push_back(answer);
      }
      if (!result.answers.empty()) out.results.push_back(result);
    }
    return out;
  }
};

}  // namespace probe::test
