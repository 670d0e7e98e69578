#include "encoders/unicode_text.h"

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <cstdint>

#include "probe/core/error.h"

namespace probe {
namespace {

icu::UnicodeString to_icu(const std::u32string& text) {
  return icu::UnicodeString::fromUTF32(reinterpret_cast<const UChar32*>(text.data()),
                                       static_cast<int32_t>(text.size()));
}

std::u32string from_icu(const icu::UnicodeString& text) {
  std::u32string result;
  result.reserve(text.length());
  for (int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1)) {
    result.push_back(static_cast<char32_t>(text.char32At(i)));
  }
  return result;
}

void check(UErrorCode code) {
  if (U_FAILURE(code)) {
    throw Error(ErrorKind::io,
                std::string("ICU: expected its Unicode data, got ") + u_errorName(code));
  }
}

std::u32string normalize(const std::u32string& text,
                         const icu::Normalizer2* (*instance)(UErrorCode&)) {
  UErrorCode code = U_ZERO_ERROR;
  const icu::Normalizer2* form = instance(code);
  check(code);
  const icu::UnicodeString result = form->normalize(to_icu(text), code);
  check(code);
  return from_icu(result);
}

bool is_ascii(const std::u32string& text) {
  return std::all_of(text.begin(), text.end(), [](char32_t c) { return c < 0x80; });
}

UChar32 icu_char(char32_t c) {
  return static_cast<UChar32>(c);
}

}  // namespace

std::u32string decode_utf8(std::string_view bytes) {
  return from_icu(icu::UnicodeString::fromUTF8(
      icu::StringPiece(bytes.data(), static_cast<int32_t>(bytes.size()))));
}

void append_utf8(char32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

std::string encode_utf8(std::u32string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char32_t c : text) append_utf8(c, result);
  return result;
}

bool is_white_space(char32_t c) {
  return u_isUWhiteSpace(icu_char(c));
}

bool is_python_space(char32_t c) {
  return is_white_space(c) || (c >= 0x1C && c <= 0x1F);
}

bool is_letter(char32_t c) {
  return (U_GET_GC_MASK(icu_char(c)) & U_GC_L_MASK) != 0;
}

bool is_number(char32_t c) {
  return (U_GET_GC_MASK(icu_char(c)) & U_GC_N_MASK) != 0;
}

bool is_decimal_digit(char32_t c) {
  return u_charType(icu_char(c)) == U_DECIMAL_DIGIT_NUMBER;
}

bool is_word(char32_t c) {
  return is_letter(c) || is_number(c) || c == U'_';
}

std::u32string to_lower(const std::u32string& text) {
  return from_icu(to_icu(text).toLower(icu::Locale::getRoot()));
}

std::u32string to_upper(const std::u32string& text) {
  return from_icu(to_icu(text).toUpper(icu::Locale::getRoot()));
}

std::u32string to_nfc(const std::u32string& text) {
  if (is_ascii(text)) return text;
  return normalize(text,
                   [](UErrorCode& code) { return icu::Normalizer2::getNFCInstance(code); });
}

std::u32string to_nfkc(const std::u32string& text) {
  if (is_ascii(text)) return text;
  return normalize(text,
                   [](UErrorCode& code) { return icu::Normalizer2::getNFKCInstance(code); });
}

std::u32string strip_python_spaces(const std::u32string& text) {
  std::size_t begin = 0, end = text.size();
  while (begin < end && is_python_space(text[begin])) ++begin;
  while (end > begin && is_python_space(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

std::u32string collapse_python_spaces(const std::u32string& text) {
  std::u32string result;
  result.reserve(text.size());
  bool gap = false;
  for (const char32_t c : text) {
    if (is_python_space(c)) {
      gap = true;
      continue;
    }
    if (gap && !result.empty()) result += U' ';
    gap = false;
    result += c;
  }
  return result;
}

}  // namespace probe
