// What a model wrote, made plain before any rule looks at it: one Unicode form, sentences,
// words. Private to analysis. Offsets are in UTF-16 units.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace probe {

// NFKC (full-width forms, ligatures), straight quotes, LF as the only line end; without
// zero-width and direction marks and the special tokens of chat templates ("<s>", "</s>",
// "<|...|>"); runs of one character are cut to 40. Bytes that are no UTF-8 become U+FFFD.
std::u16string normalize_response(std::string_view utf8);
std::string to_utf8(std::u16string_view text);
std::u16string lower_case(std::u16string_view text);

struct Span {
  std::size_t begin = 0, end = 0;  // half-open; {0, 0} for a group that took no part
};

// All matches of an ICU regular expression: [match][group], group 0 is the whole. Case is
// ignored unless `exact_case`. Throws std::logic_error if the pattern is wrong.
std::vector<std::vector<Span>> find_all(const char16_t* pattern, std::u16string_view text,
                                        bool exact_case = false);
bool matches_somewhere(const char16_t* pattern, std::u16string_view text);

bool is_word_character(char16_t c);  // letter, mark, digit or underscore

struct Word {
  std::u16string text;  // lower case
  Span span;
};

// Words and numbers ("1.57", "14%", "-700,250,0", "c°7" are one each), without a, an, the.
std::vector<Word> split_words(std::u16string_view text);

// Singular of an English noun, and digits for the numbers two to twelve; other words as
// they are. ("One" stays: it is a pronoun more often than a number.)
std::u16string fold_word(const std::u16string& word);

// Ends of sentences: . ! ? before a space, and line ends. Spans of what is between.
std::vector<Span> split_sentences(std::u16string_view text);

}  // namespace probe
