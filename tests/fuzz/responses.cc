// MLLM responses, judges' verdicts, synonyms. First byte: which reader.
#include <set>
#include <tuple>

#include "probe/data/responses.h"
#include "tests/fuzz/fuzz_input.h"

namespace probe {
namespace {

void check_responses(const std::filesystem::path& path) {
  std::set<std::tuple<std::string, std::string, int>> seen;
  for (const Response& response : read_responses(path, "a-model")) {
    FUZZ_EXPECT(!response.model.empty() && !response.question_id.empty());
    FUZZ_EXPECT(response.shift >= 0 && response.shift <= 25);
    FUZZ_EXPECT(!(response.missing || response.failed) || response.text.empty());
    FUZZ_EXPECT(response.where.starts_with(path.string()));
    FUZZ_EXPECT(seen.emplace(response.model, response.question_id, response.shift).second);
  }
}

void check_verdicts(const std::filesystem::path& path) {
  for (const JudgeVerdict& verdict : read_judge_verdicts(path)) {
    FUZZ_EXPECT(!verdict.verdict.empty());
    FUZZ_EXPECT(verdict.shift >= 0 && verdict.shift <= 25);
  }
}

void check_synonyms(const std::filesystem::path& path) {
  for (const std::vector<std::string>& group : read_synonyms(path)) {
    FUZZ_EXPECT(group.size() >= 2);
    for (const std::string& word : group) {
      FUZZ_EXPECT(!word.empty() && word.front() != ' ' && word.back() != ' ');
    }
  }
}

}  // namespace
}  // namespace probe

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probe;
  const fuzz::Input input(data, size);
  fuzz::accept_error([&] {
    switch (input.choice % 5) {
      case 0: return check_responses(fuzz::write_file("r.jsonl", input.rest));
      case 1: return check_responses(fuzz::write_file("r.tsv", input.rest));
      case 2: return check_responses(fuzz::write_file("r.csv", input.rest));
      case 3: return check_verdicts(fuzz::write_file("judge.jsonl", input.rest));
      default: return check_synonyms(fuzz::write_file("synonyms.txt", input.rest));
    }
  });
  return 0;
}
