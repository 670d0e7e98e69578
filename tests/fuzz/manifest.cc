// Datasets and questions. First byte: which reader.
#include <algorithm>
#include <set>

#include "probe/data/manifest.h"
#include "probe/data/questions.h"
#include "tests/fuzz/fuzz_input.h"

namespace probe {
namespace {

void check_question(const Question& question) {
  const int count = static_cast<int>(question.choices.size());
  if (question.type == QuestionType::open) {
    FUZZ_EXPECT(question.answer == -1 && count == 0);
  } else {
    FUZZ_EXPECT(question.answer >= 0 && question.answer < count);
    FUZZ_EXPECT(question.answer_text == question.choices[question.answer]);
    FUZZ_EXPECT(std::set(question.choices.begin(), question.choices.end()).size() ==
                question.choices.size());
  }
}

void check_dataset(const std::filesystem::path& path) {
  const Dataset dataset = read_dataset(path, {{}, false, true});
  FUZZ_EXPECT(!dataset.items.empty());
  std::set<std::string> ids;
  for (const Item& item : dataset.items) {
    FUZZ_EXPECT(!item.id.empty() && ids.insert(item.id).second);
    if (item.image.empty()) {
      FUZZ_EXPECT(!item.image_bytes.empty() || !item.image_error.empty());
    } else {  // nothing outside the manifest's folder
      const auto inside = item.image.lexically_normal().lexically_relative(path.parent_path());
      FUZZ_EXPECT(!inside.empty() && *inside.begin() != "..");
    }
  }
  for (const Question& question : dataset.questions) {
    FUZZ_EXPECT(ids.contains(question.item_id));
    check_question(question);
  }
}

}  // namespace
}  // namespace probe

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probe;
  const fuzz::Input input(data, size);
  fuzz::accept_error([&] {
    switch (input.choice % 4) {
      case 0: return check_dataset(fuzz::write_file("items.jsonl", input.rest));
      case 1: return check_dataset(fuzz::write_file("items.tsv", input.rest));
      case 2: return check_dataset(fuzz::write_file("items.csv", input.rest));
      default:
        for (const Question& question :
             read_any_questions(fuzz::write_file("asked.jsonl", input.rest))) {
          check_question(question);
        }
    }
  });
  return 0;
}
