// The sequences that give mojibake away. Which ones, and the classes they are made of, is
// ftfy's knowledge (ftfy.badness, version 6.3.1).
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "encoders/character_classes.h"
#include "encoders/mojibake.h"
#include "encoders/unicode_text.h"

namespace probe {
namespace {

using namespace mojibake;

// Classes beyond those of the table, found by rule.
constexpr std::uint32_t kLatinLower = 1u << 26;  // a-z
constexpr std::uint32_t kLatinUpper = 1u << 27;  // A-Z
constexpr std::uint32_t kAnySpace = 1u << 28;    // \s
constexpr std::uint32_t kWordChar = 1u << 29;    // \w
constexpr std::uint32_t kNotNewline = 1u << 30;
constexpr std::uint32_t kNotLatin = 1u << 31;  // all but a-z and A-Z
constexpr std::uint32_t kLatin = kLatinLower | kLatinUpper;

// One place of a sequence: a character of one of the classes, or one of `extra`.
struct Place {
  std::uint32_t classes = 0;
  std::u32string_view extra = {};
};

constexpr std::size_t kMaxPlaces = 7;
struct Sign {
  Place places[kMaxPlaces] = {};
  int length = 0;
  bool at_start = false;

  constexpr Sign(std::initializer_list<Place> list, bool only_at_start = false)
      : at_start(only_at_start) {
    for (const Place& place : list) places[length++] = place;
  }
};

constexpr std::uint32_t kAccented = kLowerAccented | kUpperAccented;
constexpr std::uint32_t kMarks = kStartPunctuation | kEndPunctuation;
constexpr std::uint32_t kOddNeighbor = kAccented | kBox | kMarks | kCurrency | kNumeric | kLaw;
constexpr std::uint32_t kArabicTail = kCommon | kCurrency | kBad | kNumeric | kStartPunctuation;
constexpr std::uint32_t kCyrillicTail = kC1 | kBad | kMarks | kCurrency;
constexpr std::u32string_view kArabicExtra = U"ŸŠ®°µ»";

constexpr Sign kSigns[] = {
    {{kC1}},
    {{kBad | kOddNeighbor}, {kBad}},
    {{kLatin}, {kLowerCommon | kUpperCommon}, {kBad}},
    {{kBad}, {kOddNeighbor}},
    {{kLowerAccented | kLowerCommon | kBox | kEndPunctuation | kCurrency | kNumeric},
     {kUpperAccented}},
    {{kBox | kEndPunctuation | kCurrency | kNumeric}, {kLowerAccented}},
    {{kLowerAccented | kBox | kEndPunctuation}, {kCurrency}},
    {{kAnySpace}, {kUpperAccented}, {kCurrency}},
    {{kUpperAccented | kBox}, {kNumeric | kLaw}},
    {{kAccented | kBox | kCurrency | kEndPunctuation}, {kStartPunctuation}, {kNumeric}},
    {{kAccented | kCurrency | kNumeric | kBox | kLaw}, {kEndPunctuation}, {kStartPunctuation}},
    {{kCurrency | kNumeric | kBox}, {kStartPunctuation}},
    {{kLatinLower}, {kUpperAccented}, {kStartPunctuation | kCurrency}},
    {{kBox}, {kKaomoji}},
    {{kAccented | kCurrency | kNumeric | kMarks | kLaw}, {kBox}},
    {{kBox}, {kEndPunctuation}},
    {{kAccented}, {kMarks}, {kWordChar}},
    {{0, U"Œœ"}, {kNotLatin}},
    {{kUpperAccented}, {0, U"°"}},
    // Windows-1252: two characters that stand for one.
    {{0, U"ÂÃÎÐ"}, {kMarks, U"€œŠš¢£Ÿž\u00A0\u00AD®©°·»–—´"}},
    {{0, U"×"}, {0, U"²³"}},
    // Arabic as Windows-1252, and the starts of some South Asian letters.
    {{0, U"ØÙ"}, {kArabicTail, kArabicExtra}, {0, U"ØÙ"}, {kArabicTail, kArabicExtra}},
    {{0, U"à"}, {0, U"²µ¹¼½¾"}},
    // MacRoman.
    {{0, U"√"}, {0, U"±∂†≠®™´≤≥¥µø"}},
    {{0, U"≈"}, {0, U"°¢"}},
    {{0, U"‚"}, {0, U"Ä"}, {0, U"ìîïòôúùû†°¢π"}},
    {{0, U"‚"}, {0, U"âó"}, {0, U"àä°ê"}},
    // Windows-1251.
    {{0, U"в"}, {0, U"Ђ"}},
    {{0, U"ВГРС"}, {kCyrillicTail, U"°µ"}, {0, U"ВГРС"}},
    {{0, U"Г"}, {0, U"ў"}, {0, U"В"}, {0, U"Ђ"}, {0, U"В"}, {kNotNewline}, {kLatin, U" "}},
    // a with grave or acute, the no-break space.
    {{0, U"Ã"}, {0, U"\u00A0¡"}},
    {{kLatinLower}, {0, U"ÃÂ"}, {0, U" "}},
    {{kLatinLower}, {kAnySpace}, {0, U"ÃÂ"}, {0, U" "}},
    {{{0, U"ÃÂ"}, {0, U" "}}, true},
    {{kLatinLower | kEndPunctuation, U".,?!"}, {0, U"Â"}, {kMarks, U" "}},
    // Windows-1253 and 1257.
    {{0, U"β"}, {0, U"€"}, {0, U"™\u00A0Ά\u00AD®°"}},
    {{0, U"ΒΓΞΟ"}, {kCyrillicTail, U"°"}, {0, U"ΒΓΞΟ"}},
    {{0, U"ā"}, {0, U"€"}},
};

std::uint32_t all_classes_of(char32_t c) {
  std::uint32_t classes = classes_of(c);
  const bool lower = c >= U'a' && c <= U'z', upper = c >= U'A' && c <= U'Z';
  if (lower) classes |= kLatinLower;
  if (upper) classes |= kLatinUpper;
  if (!lower && !upper) classes |= kNotLatin;
  if (is_python_space(c)) classes |= kAnySpace;
  if (is_word(c)) classes |= kWordChar;
  if (c != U'\n') classes |= kNotNewline;
  return classes;
}

}  // namespace

bool looks_like_mojibake(const std::u32string& text) {
  std::uint32_t classes[kMaxPlaces] = {};
  for (std::size_t i = 0; i < kMaxPlaces && i < text.size(); ++i) {
    classes[i] = all_classes_of(text[i]);
  }
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    for (const Sign& sign : kSigns) {
      const std::size_t length = static_cast<std::size_t>(sign.length);
      if (begin + length > text.size() || (sign.at_start && begin > 0)) continue;
      bool matches = true;
      for (std::size_t i = 0; i < length && matches; ++i) {
        const Place& place = sign.places[i];
        matches = (classes[i] & place.classes) != 0 ||
                  place.extra.find(text[begin + i]) != std::u32string_view::npos;
      }
      if (matches) return true;
    }
    for (std::size_t i = 1; i < kMaxPlaces; ++i) classes[i - 1] = classes[i];
    const std::size_t next = begin + kMaxPlaces;
    classes[kMaxPlaces - 1] = next < text.size() ? all_classes_of(text[next]) : 0;
  }
  return false;
}

}  // namespace probe
