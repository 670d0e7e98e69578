// Option letters in a response. Private to analysis. Letters beyond the item's own choices
// never count; nor do the article "a", the pronoun "I", and letters inside words.
#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "analysis/response_text.h"

namespace probe {

struct LetterToken {
  int choice = -1;      // 0 for A
  Span span;            // with its wrappers: brackets, quotes, bold, $, \boxed{...}
  bool wrapped = false; // stands in brackets, bold, quotes or the like
  bool several = false; // another letter is named beside it ("A or B")
};

// The letter that begins at `begin`, wrappers and blanks passed over; nullopt if there is
// none of the first `count` letters.
std::optional<LetterToken> letter_at(std::u16string_view text, std::size_t begin, int count);

// The only letter of a text that is nothing but one ("B", "(b)", "**B**", "B:").
std::optional<int> lone_letter(std::u16string_view text, int count);

// Where an explicit cue ends ("the answer is", "I choose", "答案:"), in reading order.
std::vector<Span> strong_cues(std::u16string_view text);

// Letters the response turns down: "option A is wrong", "not (B)".
std::set<int> rejected_letters(std::u16string_view text, int count);

// Letters after "option", "choice", "it is": named, but not said to be the answer.
std::vector<LetterToken> weak_cues(std::u16string_view text, int count);

// "(C) red boat", "C. red boat", "C" and a line end, at the head of the response.
std::optional<LetterToken> leading_label(std::u16string_view text, int count);

// Letters in brackets or bold.
std::vector<LetterToken> wrapped_letters(std::u16string_view text, int count);

// A capital that closes a line after a comma, colon or alone: "Based on the picture, D".
std::vector<LetterToken> closing_letters(std::u16string_view text, int count);

}  // namespace probe
