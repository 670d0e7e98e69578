#include "analysis/locate_answers.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "analysis/statistics.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

constexpr const char* kColors[] = {"red", "green", "blue", "yellow"};
constexpr double kSameBox = 0.5;  // intersection over union

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (is_word(c)) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

// What follows each "answer:" (any case) up to the next, the last first.
std::vector<std::string> after_cues(const std::string& text) {
  static constexpr char kCue[] = "answer";
  const std::string small = lower(text);
  std::vector<std::string> parts;
  std::size_t next = text.size();
  for (std::size_t at = small.rfind(kCue); at != std::string::npos;
       at = at == 0 ? std::string::npos : small.rfind(kCue, at - 1)) {
    std::size_t end = at + sizeof(kCue) - 1;
    while (end < text.size() && (text[end] == '*' || text[end] == ' ')) ++end;
    if (end >= text.size() || text[end] != ':') continue;
    parts.push_back(text.substr(end + 1, next - (end + 1)));
    next = at;
  }
  return parts;
}

std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> numbers;
  const char* at = text.c_str();
  while (*at != '\0') {
    if (std::isdigit(static_cast<unsigned char>(*at)) == 0) {
      ++at;
      continue;
    }
    const bool negative = at != text.c_str() && at[-1] == '-';
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    numbers.push_back(negative ? -value : value);
    at = end;
  }
  return numbers;
}

// The letter, if it is the first word: "(B)", "**B**", "B. the left one".
int first_letter(const std::string& text) {
  const auto words = words_of(text);
  if (words.empty() || words[0].size() != 1) return -1;
  const int index = std::toupper(static_cast<unsigned char>(words[0][0])) - 'A';
  return index >= 0 && index < kLocateCandidates ? index : -1;
}

int parse_letter(const std::string& response) {
  for (const std::string& part : after_cues(response)) {
    if (const int index = first_letter(part); index >= 0) return index;
  }
  const auto words = words_of(response);
  const bool one = words.size() == 1 && words[0].size() == 1;
  return one ? first_letter(response) : -1;
}

int color_index(const std::string& word) {
  for (int i = 0; i < kLocateCandidates; ++i) {
    if (word == kColors[i]) return i;
  }
  return -1;
}

int parse_color(const std::string& response) {
  for (const std::string& part : after_cues(response)) {
    const auto words = words_of(lower(part));
    const int index = words.empty() ? -1 : color_index(words[0]);
    if (index >= 0) return index;
  }
  std::set<int> named;
  for (const std::string& word : words_of(lower(response))) {
    if (const int index = color_index(word); index >= 0) named.insert(index);
  }
  return named.size() == 1 ? *named.begin() : -1;
}

int parse_coordinates(const std::string& response, const std::vector<Box>& boxes) {
  std::vector<double> numbers;
  for (const std::string& part : after_cues(response)) {
    numbers = numbers_of(part);
    if (numbers.size() >= 4) break;
  }
  if (numbers.size() < 4) {
    numbers = numbers_of(response);
    if (numbers.size() != 4) return -1;
  }
  const Box answer{numbers[0], numbers[1], numbers[2], numbers[3]};
  int best = -1;
  double most = 0.0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const double overlap = box_overlap(answer, boxes[i]);
    if (overlap > most) most = overlap, best = static_cast<int>(i);
  }
  return most >= kSameBox ? best : -1;
}

std::optional<YesNo> yes_no_word(const std::string& word) {
  if (word == "yes") return YesNo::yes;
  if (word == "no") return YesNo::no;
  return std::nullopt;
}

// Responses of one run: by item, then by candidate (0 but for one_by_one).
using RunResponses = std::map<std::size_t, std::map<int, std::string>>;

LocateOutcome outcome_of(const LocateItem& item, LocateFormat format,
                         const std::map<int, std::string>& responses) {
  if (format != LocateFormat::one_by_one) {
    const int choice = parse_locate_choice(responses.begin()->second, format, item.boxes);
    if (choice < 0) return LocateOutcome::unparsed;
    return choice == item.answer ? LocateOutcome::right : LocateOutcome::wrong;
  }
  bool unclear = false;
  for (int candidate = 0; candidate < kLocateCandidates; ++candidate) {
    const auto it = responses.find(candidate);
    // Without this answer nobody knows whether it would have been the first "yes".
    if (it == responses.end()) return LocateOutcome::missing;
    const YesNo answer = parse_yes_no(it->second);
    if (answer == YesNo::yes) {
      return candidate == item.answer ? LocateOutcome::right : LocateOutcome::wrong;
    }
    unclear |= answer == YesNo::unparsed;
  }
  if (unclear) return LocateOutcome::unparsed;
  return item.answer == 0 ? LocateOutcome::all_no_right : LocateOutcome::all_no_wrong;
}

}  // namespace

int parse_locate_choice(const std::string& response, LocateFormat format,
                        const std::vector<Box>& boxes) {
  switch (format) {
    case LocateFormat::colors: return parse_color(response);
    case LocateFormat::coordinates: return parse_coordinates(response, boxes);
    default: return parse_letter(response);
  }
}

YesNo parse_yes_no(const std::string& response) {
  for (const std::string& part : after_cues(response)) {
    const auto words = words_of(lower(part));
    if (words.empty()) continue;
    if (const auto answer = yes_no_word(words[0])) return *answer;
  }
  const auto words = words_of(lower(response));
  if (words.empty()) return YesNo::unparsed;
  if (const auto answer = yes_no_word(words[0])) return *answer;
  const bool yes = std::count(words.begin(), words.end(), "yes") > 0;
  const bool no = std::count(words.begin(), words.end(), "no") > 0;
  if (yes == no) return YesNo::unparsed;
  return yes ? YesNo::yes : YesNo::no;
}

std::int64_t LocateRun::count(LocateOutcome outcome) const {
  return std::count(outcomes.begin(), outcomes.end(), outcome);
}

Accuracy LocateRun::accuracy() const {
  return {count(LocateOutcome::right) + count(LocateOutcome::all_no_right),
          std::ssize(outcomes)};
}

Accuracy LocateRun::strict_accuracy() const {
  return {count(LocateOutcome::right), std::ssize(outcomes)};
}

bool LocateRun::failed(std::size_t item) const {
  return outcomes[item] != LocateOutcome::right && outcomes[item] != LocateOutcome::all_no_right;
}

std::vector<LocateRun> score_locate(const std::vector<LocateItem>& items,
                                    const std::vector<LocateResponse>& responses) {
  std::unordered_map<std::string, std::size_t> rows;
  for (std::size_t i = 0; i < items.size(); ++i) rows.emplace(items[i].id, i);
  std::vector<LocateRun> runs;
  std::vector<RunResponses> answers;
  for (const LocateResponse& response : responses) {
    const auto fail = [&](const std::string& message) {
      throw Error(ErrorKind::input, response.where + ": " + message);
    };
    const auto row = rows.find(response.item_id);
    if (row == rows.end()) {
      fail("item_id \"" + printable(response.item_id) + "\" is not among the items");
    }
    const bool one_by_one = response.format == LocateFormat::one_by_one;
    if (one_by_one && (response.candidate < 0 || response.candidate >= kLocateCandidates)) {
      fail("expected a candidate from 0 to 3 with one_by_one");
    }
    if (!one_by_one && response.candidate != -1) {
      fail(std::string("a candidate has no place with ") + locate_format_name(response.format));
    }
    auto run = std::find_if(runs.begin(), runs.end(), [&](const LocateRun& entry) {
      return entry.model == response.model && entry.format == response.format;
    });
    if (run == runs.end()) {
      runs.push_back({response.model, response.format,
                      std::vector<LocateOutcome>(items.size(), LocateOutcome::missing)});
      answers.emplace_back();
      run = std::prev(runs.end());
    }
    auto& of_item = answers[run - runs.begin()][row->second];
    if (!of_item.emplace(std::max(response.candidate, 0), response.response).second) {
      fail("a second response of model \"" + printable(response.model) + "\" to item \"" +
           printable(response.item_id) + "\"");
    }
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const auto& [item, of_item] : answers[r]) {
      runs[r].outcomes[item] = outcome_of(items[item], runs[r].format, of_item);
    }
  }
  return runs;
}

}  // namespace probe
