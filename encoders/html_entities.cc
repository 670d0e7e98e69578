#include "encoders/html_entities.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "encoders/mojibake.h"
#include "encoders/unicode_text.h"

namespace probe {
namespace {

constexpr std::string_view kTable =
#include "encoders/html_entities_table.inc"
    ;

struct Entity {
  std::u32string text;
  bool bare = false;  // also valid without ';'
};

using Entities = std::unordered_map<std::string, Entity>;

Entities parse_table() {
  Entities entities;
  std::size_t at = 0;
  while (at < kTable.size()) {
    const std::size_t end = kTable.find(' ', at);
    std::string_view word = kTable.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = word.find('=');
    std::string name(word.substr(0, equals));
    Entity entity;
    if (name.back() == '*') {
      entity.bare = true;
      name.pop_back();
    }
    char32_t code = 0;
    for (const char c : word.substr(equals + 1)) {
      if (c == '+') {
        entity.text += code;
        code = 0;
      } else {
        code = code * 16 + static_cast<char32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
      }
    }
    entity.text += code;
    entities.emplace(std::move(name), std::move(entity));
  }
  return entities;
}

const Entities& entities() {
  static const Entities table = parse_table();
  return table;
}

bool is_ascii_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}

int hex_value(char32_t c) {
  if (is_ascii_digit(c)) return static_cast<int>(c - U'0');
  if (c >= U'a' && c <= U'f') return static_cast<int>(c - U'a') + 10;
  if (c >= U'A' && c <= U'F') return static_cast<int>(c - U'A') + 10;
  return -1;
}

bool is_ascii_alnum(char32_t c) {
  return is_ascii_digit(c) || (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
}

// What &#number; stands for.
std::u32string numeric_reference(std::uint32_t number) {
  if (number == 0) return U"\uFFFD";
  if (number == 0x0D) return U"\r";
  if (number >= 0x80 && number <= 0x9F) {
    return {windows_1252_character(static_cast<std::uint8_t>(number))};
  }
  if ((number >= 0xD800 && number <= 0xDFFF) || number > 0x10FFFF) return U"\uFFFD";
  const bool invalid = (number >= 0x1 && number <= 0x8) || number == 0xB ||
                       (number >= 0xE && number <= 0x1F) || number == 0x7F ||
                       (number >= 0xFDD0 && number <= 0xFDEF) || (number & 0xFFFE) == 0xFFFE;
  if (invalid) return U"";
  return {static_cast<char32_t>(number)};
}

// A numeric reference at text[at] == '&'; sets `end` behind it.
std::optional<std::u32string> read_numeric(const std::u32string& text, std::size_t at,
                                           std::size_t& end) {
  std::size_t i = at + 2;
  const bool hex = i < text.size() && (text[i] == U'x' || text[i] == U'X');
  if (hex) ++i;
  const std::size_t digits = i;
  std::uint32_t number = 0;
  for (; i < text.size(); ++i) {
    const int value = hex_value(text[i]);
    if (value < 0 || (!hex && value > 9)) break;
    number = std::min<std::uint32_t>(number * (hex ? 16 : 10) + value, 0x110000);
  }
  if (i == digits) return std::nullopt;
  if (i < text.size() && text[i] == U';') ++i;
  end = i;
  return numeric_reference(number);
}

// ASCII copy of text[begin, end); empty if there is anything else in it.
std::string ascii(const std::u32string& text, std::size_t begin, std::size_t end) {
  std::string result;
  for (std::size_t i = begin; i < end; ++i) {
    if (text[i] >= 0x80) return "";
    result += static_cast<char>(text[i]);
  }
  return result;
}

// The longest entity that needs no ';' at the start of `name`; its length, or 0.
std::size_t bare_prefix(const std::string& name, std::u32string& text) {
  for (std::size_t length = name.size(); length > 1; --length) {
    const auto found = entities().find(name.substr(0, length));
    if (found != entities().end() && found->second.bare) {
      text = found->second.text;
      return length;
    }
  }
  return 0;
}

// A named reference at text[at] == '&'; sets `end` behind what was used.
std::optional<std::u32string> read_named(const std::u32string& text, std::size_t at,
                                         std::size_t& end) {
  std::size_t i = at + 1;
  std::string name;  // the ASCII beginning is all that can match
  bool only_ascii = true;
  while (i < text.size() && i - at <= 32) {
    const char32_t c = text[i];
    if (c == U'\t' || c == U'\n' || c == U'\f' || c == U' ' || c == U'<' || c == U'&' ||
        c == U'#' || c == U';') {
      break;
    }
    only_ascii = only_ascii && c < 0x80;
    if (only_ascii) name += static_cast<char>(c);
    ++i;
  }
  if (only_ascii && i < text.size() && text[i] == U';') {
    const auto found = entities().find(name);
    if (found != entities().end()) {
      end = i + 1;
      return found->second.text;
    }
  }
  std::u32string result;
  const std::size_t used = bare_prefix(name, result);
  if (used == 0) return std::nullopt;
  end = at + 1 + used;
  return result;
}

bool is_upper(const std::string& name) {
  return std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

std::string lower(std::string name) {
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return name;
}

std::optional<std::u32string> careful_name(const std::string& name) {
  const auto exact = entities().find(name);
  if (exact != entities().end()) return exact->second.text;
  std::u32string ignored;
  if (!is_upper(name) || bare_prefix(name, ignored) > 0) return std::nullopt;
  const auto folded = entities().find(lower(name));
  if (folded == entities().end()) return std::nullopt;
  return to_upper(folded->second.text);
}

}  // namespace

std::u32string unescape_html(const std::u32string& text) {
  if (text.find(U'&') == std::u32string::npos) return text;
  std::u32string result;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == U'&' && i + 1 < text.size()) {
      std::size_t end = i;
      const std::optional<std::u32string> found =
          text[i + 1] == U'#' ? read_numeric(text, i, end) : read_named(text, i, end);
      if (found) {
        result += *found;
        i = end;
        continue;
      }
    }
    result += text[i++];
  }
  return result;
}

std::u32string unescape_html_carefully(const std::u32string& text) {
  constexpr std::size_t kLongestName = 24;
  if (text.find(U'&') == std::u32string::npos) return text;
  std::u32string result;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == U'&') {
      const bool numeric = i + 1 < text.size() && text[i + 1] == U'#';
      const std::size_t begin = i + (numeric ? 2 : 1);
      std::size_t end = begin;
      while (end < text.size() && is_ascii_alnum(text[end])) ++end;
      if (end > begin && end - begin <= kLongestName && end < text.size() &&
          text[end] == U';') {
        std::size_t used = i;
        std::optional<std::u32string> found =
            numeric ? read_numeric(text, i, used) : careful_name(ascii(text, begin, end));
        const bool whole = !numeric || (used == end + 1 && found != U";");
        if (found && whole) {
          result += *found;
          i = end + 1;
          continue;
        }
      }
    }
    result += text[i++];
  }
  return result;
}

}  // namespace probe
