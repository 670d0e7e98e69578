// The texts of an item's choices, ready to be found in responses (BUGCASES 47): whole words,
// any case, the longest match wins; plurals and synonyms only where choices stay distinct.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/response_text.h"

namespace probe {

// Words that mean the same, a group each: {"couch", "sofa", "settee"}.
using SynonymGroups = std::vector<std::vector<std::string>>;

struct PreparedChoices {
  // A way to name a choice, as words.
  struct Phrase {
    int choice = -1;
    std::vector<std::u16string> words;
    bool folded = false;  // compared after fold_word
  };
  int count = 0;
  bool letters = true;                // false: open question, the choices are known names
  std::vector<std::u16string> texts;  // normalised; empty where unknown
  std::vector<Phrase> phrases;        // what may be found within a response
  std::vector<Phrase> whole;          // what may only be the whole response
};

// An empty text is unknown: only its letter can be found. Throws Error(input) if there is no
// choice, more than 26 with letters, or two are equal (after NFKC and blanks collapsed).
PreparedChoices prepare_choices(const std::vector<std::string>& choices,
                                const SynonymGroups& synonyms = {}, bool letters = true);

// The choice that the whole text is, punctuation around it apart; nullopt if none or more.
std::optional<int> choice_that_is(std::u16string_view text, const PreparedChoices& choices);

struct Mention {
  int choice = -1;
  Span span;
  bool negated = false;  // "not a cat", "rather than the cat"
};

// In reading order; none overlap.
std::vector<Mention> find_mentions(std::u16string_view text, const PreparedChoices& choices);

// The text without listings of all choices ("(A) dog (B) cat ..."), which say nothing.
std::u16string without_echo(const std::u16string& text, const PreparedChoices& choices);

}  // namespace probe
