// Answer extraction: the choices, a line each, an empty line, the response. First byte: choice
// questions with and without synonyms, open questions, LocateBench's answers.
#include <array>

#include "analysis/answer_extraction.h"
#include "analysis/locate_answers.h"
#include "probe/core/utf8.h"
#include "tests/fuzz/fuzz_input.h"

namespace probe {
namespace {

constexpr std::size_t kMostChoices = 26;

void check_extraction(const std::string& response, const std::vector<std::string>& choices,
                      const SynonymGroups& synonyms, bool letters) {
  const PreparedChoices prepared = prepare_choices(choices, synonyms, letters);
  const Extraction found = extract_answer(response, prepared);
  FUZZ_EXPECT(found.choice >= -1 && found.choice < static_cast<int>(choices.size()));
  FUZZ_EXPECT((found.choice < 0) == (found.reason != Unparsed::none));
  FUZZ_EXPECT((found.choice < 0) == (*unparsed_name(found.reason) != '\0'));
  FUZZ_EXPECT(found.choice < 0 || *found.rule != '\0');
  const Extraction again = extract_answer(response, prepared);
  FUZZ_EXPECT(again.choice == found.choice && again.reason == found.reason);
}

void check_locate(const std::string& response) {
  const std::vector<Box> boxes = {{10, 20, 100, 80}, {200, 20, 300, 90}, {10, 200, 90, 300},
                                  {200, 200, 280, 280}};
  for (const LocateFormat format :
       {LocateFormat::letters, LocateFormat::colors, LocateFormat::coordinates}) {
    const int choice = parse_locate_choice(response, format, boxes);
    FUZZ_EXPECT(choice >= -1 && choice < 4);
  }
  parse_yes_no(response);
}

}  // namespace
}  // namespace probe

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probe;
  const fuzz::Input input(data, size);
  std::vector<std::string> choices;
  std::string_view rest = input.rest;
  while (!rest.empty() && choices.size() < kMostChoices) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.empty()) break;
    choices.emplace_back(line);
  }
  const std::string response(rest);
  fuzz::accept_error([&] {
    switch (input.choice % 4) {
      case 0: return check_extraction(response, choices, {}, true);
      case 1: return check_extraction(response, choices, {choices}, true);
      case 2: return check_extraction(response, choices, {{"sofa", "couch"}}, false);
      default: return check_locate(std::string(input.rest));
    }
  });
  return 0;
}
