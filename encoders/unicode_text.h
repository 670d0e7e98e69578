// Texts as code points, with the Unicode rules that Python's str and regex follow (ICU).
#pragma once

#include <string>
#include <string_view>

namespace probe {

// Bytes that are no UTF-8 become U+FFFD, as Python's errors="replace" has it.
std::u32string decode_utf8(std::string_view bytes);
std::string encode_utf8(std::u32string_view text);
void append_utf8(char32_t c, std::string& out);

// str.isspace() and re's \s.
bool is_python_space(char32_t c);
// White_Space, the \s of the `regex` package: without U+001C to U+001F.
bool is_white_space(char32_t c);
bool is_letter(char32_t c);         // \p{L}
bool is_number(char32_t c);         // \p{N}
bool is_decimal_digit(char32_t c);  // \d of a str pattern
bool is_word(char32_t c);           // \w of a str pattern

// Full Unicode mappings, not bound to a language: final sigma, I with dot, sharp s.
std::u32string to_lower(const std::u32string& text);
std::u32string to_upper(const std::u32string& text);
std::u32string to_nfc(const std::u32string& text);
std::u32string to_nfkc(const std::u32string& text);

// " ".join(text.split())
std::u32string collapse_python_spaces(const std::u32string& text);
std::u32string strip_python_spaces(const std::u32string& text);

}  // namespace probe
