#include "encoders/text_cleaning.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "encoders/html_entities.h"
#include "encoders/mojibake.h"
#include "encoders/unicode_text.h"

namespace probe {
namespace {

constexpr std::size_t kMaxSegment = 1'000'000;  // characters, ftfy's max_decode_length

struct Ligature {
  char32_t sign;
  std::u32string_view letters;
};

// Digraphs kept for old encodings, and typographical ligatures.
constexpr Ligature kLigatures[] = {
    {0x0132, U"IJ"},      {0x0133, U"ij"},      {0x0149, U"\u02BCn"}, {0x01C4, U"D\u017D"},
    {0x01C5, U"D\u017E"}, {0x01C6, U"d\u017E"}, {0x01C7, U"LJ"},      {0x01C8, U"Lj"},
    {0x01C9, U"lj"},      {0x01CA, U"NJ"},      {0x01CB, U"Nj"},      {0x01CC, U"nj"},
    {0x01F1, U"DZ"},      {0x01F2, U"Dz"},      {0x01F3, U"dz"},      {0xFB00, U"ff"},
    {0xFB01, U"fi"},      {0xFB02, U"fl"},      {0xFB03, U"ffi"},     {0xFB04, U"ffl"},
    {0xFB05, U"\u017Ft"}, {0xFB06, U"st"},
};

void append_without_ligature(char32_t c, std::u32string& out) {
  for (const Ligature& ligature : kLigatures) {
    if (ligature.sign == c) {
      out += ligature.letters;
      return;
    }
  }
  out += c;
}

// Full-width ASCII, half-width kana and hangul in their usual width.
void append_usual_width(char32_t c, std::u32string& out) {
  if (c == 0x3000) {
    out += U' ';
  } else if (c >= 0xFF01 && c <= 0xFFEF) {
    out += to_nfkc(std::u32string(1, c));
  } else {
    out += c;
  }
}

char32_t uncurl(char32_t c) {
  if (c == 0x02BC || (c >= 0x2018 && c <= 0x201B)) return U'\'';
  if (c >= 0x201C && c <= 0x201F) return U'"';
  return c;
}

std::u32string fix_line_breaks(const std::u32string& text) {
  std::u32string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (c == U'\r' && i + 1 < text.size() && text[i + 1] == U'\n') continue;
    result += c == U'\r' || c == 0x2028 || c == 0x2029 || c == 0x85 ? U'\n' : c;
  }
  return result;
}

// ESC '[' digits and ';' letter.
std::u32string remove_terminal_escapes(const std::u32string& text) {
  std::u32string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == 0x1B && i + 1 < text.size() && text[i + 1] == U'[') {
      std::size_t end = i + 2;
      while (end < text.size() && (text[end] == U';' || is_decimal_digit(text[end]))) ++end;
      const char32_t last = end < text.size() ? text[end] : U'\0';
      if ((last >= U'a' && last <= U'z') || (last >= U'A' && last <= U'Z')) {
        i = end;
        continue;
      }
    }
    result += text[i];
  }
  return result;
}

bool is_removed_control(char32_t c) {
  return c <= 0x08 || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
         (c >= 0x206A && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFC);
}

std::u32string fix_characters(const std::u32string& text) {
  std::u32string split, result;
  for (const char32_t c : text) append_without_ligature(c, split);
  for (const char32_t c : split) append_usual_width(c, result);
  for (char32_t& c : result) c = uncurl(c);
  return result;
}

std::u32string fix_segment(std::u32string text, bool unescape) {
  while (true) {
    std::u32string fixed = unescape ? unescape_html_carefully(text) : text;
    fixed = replace_c1_controls(fix_mojibake(std::move(fixed)));
    fixed = remove_terminal_escapes(fix_line_breaks(fix_characters(fixed)));
    std::erase_if(fixed, is_removed_control);
    fixed = to_nfc(fixed);
    if (fixed == text) return text;
    text = std::move(fixed);
  }
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= U'!' && c <= U'/') || (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') ||
         (c >= U'{' && c <= U'~');
}

}  // namespace

std::u32string fix_text(const std::u32string& text) {
  std::u32string result;
  bool unescape = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = text.find(U'\n', begin);
    std::size_t end = newline == std::u32string::npos ? text.size() : newline + 1;
    end = std::min(end, begin + kMaxSegment);
    std::u32string segment = text.substr(begin, end - begin);
    if (segment.find(U'<') != std::u32string::npos) unescape = false;
    result += fix_segment(std::move(segment), unescape);
    begin = end;
  }
  return result;
}

std::u32string clean_as_clip(const std::u32string& text) {
  return collapse_python_spaces(unescape_html(unescape_html(fix_text(text))));
}

std::u32string canonicalize_as_siglip(const std::u32string& text) {
  std::u32string kept;
  for (const char32_t c : text) {
    if (c == U'_') {
      kept += U' ';
    } else if (!is_ascii_punctuation(c)) {
      kept += c;
    }
  }
  return collapse_python_spaces(to_lower(kept));
}

}  // namespace probe
