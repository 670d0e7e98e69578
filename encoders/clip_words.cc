#include "encoders/clip_words.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "encoders/unicode_text.h"

namespace probe {
namespace {
namespace clip {

struct CodeRange {
  char32_t first, last;
};

#include "encoders/letter_ranges.inc"

bool contains(std::span<const CodeRange> ranges, char32_t c) {
  const auto found =
      std::lower_bound(ranges.begin(), ranges.end(), c,
                       [](const CodeRange& range, char32_t code) { return range.last < code; });
  return found != ranges.end() && found->first <= c;
}

bool is_letter(char32_t c) {
  return contains(kLetterRanges, c);
}
bool is_number(char32_t c) {
  return contains(kNumberRanges, c);
}

}  // namespace clip

constexpr char32_t kLongS = 0x017F;
constexpr char32_t kIotaBelow = 0x0345;  // its case fold is a letter, it is a mark

constexpr std::u32string_view kFixedWords[] = {
    U"<|startoftext|>", U"<|endoftext|>", U"'s", U"'t", U"'re", U"'ve", U"'m", U"'ll", U"'d"};

char32_t fold(char32_t c) {
  if (c >= U'A' && c <= U'Z') return c + 32;
  return c == kLongS ? U's' : c;
}

// Length of the fixed word at text[at], 0 if there is none.
std::size_t fixed_word(const std::u32string& text, std::size_t at) {
  for (const std::u32string_view word : kFixedWords) {
    if (text.size() - at < word.size()) continue;
    std::size_t i = 0;
    while (i < word.size() && fold(text[at + i]) == word[i]) ++i;
    if (i == word.size()) return i;
  }
  return 0;
}

bool is_other(char32_t c) {
  return c != kIotaBelow && !is_white_space(c) && !clip::is_letter(c) && !clip::is_number(c);
}

}  // namespace

std::vector<std::u32string> split_clip_words(const std::u32string& text) {
  std::vector<std::u32string> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + fixed_word(text, i);
    if (end > i) {
      // found
    } else if (clip::is_letter(text[i])) {
      while (end < text.size() && clip::is_letter(text[end])) ++end;
    } else if (clip::is_number(text[i])) {
      ++end;
    } else {
      while (end < text.size() && is_other(text[end])) ++end;
    }
    if (end > i) words.push_back(text.substr(i, end - i));
    i = end > i ? end : i + 1;
  }
  return words;
}

}  // namespace probe
