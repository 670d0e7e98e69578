#include "encoders/mojibake.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "encoders/character_classes.h"
#include "encoders/unicode_text.h"

namespace probe {
namespace {

using namespace mojibake;

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t kSubstitute = 0x1A;  // stands for U+FFFD in a sloppy page
constexpr char32_t kReplacement = 0xFFFD;

// A one-byte encoding that text may have been decoded with by mistake.
struct CodePage {
  bool sloppy = false;  // holes stand for themselves, U+FFFD is byte 0x1A
  bool mac_roman = false;
  std::unordered_map<char32_t, std::uint8_t> bytes;  // of the upper half

  std::optional<Bytes> encode(const std::u32string& text) const {
    Bytes result;
    result.reserve(text.size());
    for (const char32_t c : text) {
      if (c < 0x80 && !(sloppy && c == kSubstitute)) {
        result.push_back(static_cast<std::uint8_t>(c));
      } else if (sloppy && c == kReplacement) {
        result.push_back(kSubstitute);
      } else {
        const auto found = bytes.find(c);
        if (found == bytes.end()) return std::nullopt;
        result.push_back(found->second);
      }
    }
    return result;
  }
};

// In ftfy's order: Latin-1; Windows-1252, 1251, 1250, 1253, 1254 and 1257; then
// ISO-8859-2, MacRoman and code page 437.
std::vector<CodePage> make_code_pages() {
  std::vector<CodePage> pages(1 + std::size(kCodePages));
  for (int byte = 0x80; byte < 0x100; ++byte) {
    pages[0].bytes[static_cast<char32_t>(byte)] = static_cast<std::uint8_t>(byte);
    for (std::size_t i = 0; i < std::size(kCodePages); ++i) {
      pages[i + 1].bytes[kCodePages[i][byte - 0x80]] = static_cast<std::uint8_t>(byte);
    }
  }
  for (std::size_t i = 1; i <= 6; ++i) pages[i].sloppy = true;
  pages[8].mac_roman = true;
  return pages;
}

const std::vector<CodePage>& code_pages() {
  static const std::vector<CodePage> pages = make_code_pages();
  return pages;
}

// One place of a byte pattern.
enum class ByteKind {
  blank,
  tail,
  tail_no_ellipsis,
  lost,
  lost_or_mark,
  lost_or_tail,
  any_lost
};

bool is_tail(std::uint8_t b) {
  return b >= 0x80 && b <= 0xBF;
}

bool matches(ByteKind kind, std::uint8_t b) {
  switch (kind) {
    case ByteKind::blank:
      return b == 0x20;
    case ByteKind::tail:
      return is_tail(b);
    case ByteKind::tail_no_ellipsis:
      return is_tail(b) && b != 0x85 && b != 0xA0;
    case ByteKind::lost:
      return b == kSubstitute;
    case ByteKind::lost_or_mark:
      return b == kSubstitute || b == '?';
    case ByteKind::lost_or_tail:
      return b == kSubstitute || is_tail(b);
    case ByteKind::any_lost:
      return b == kSubstitute || b == '?' || is_tail(b);
  }
  return false;
}

struct BytePattern {
  std::string_view leads;  // allowed first bytes, or two bounds if `range`
  bool range = false;
  std::vector<ByteKind> rest;
};

// Length of `pattern` at bytes[at], 0 if it is not there.
std::size_t match_length(const BytePattern& pattern, const Bytes& bytes, std::size_t at) {
  const char lead = static_cast<char>(bytes[at]);
  const bool good = pattern.range ? bytes[at] >= static_cast<std::uint8_t>(pattern.leads[0]) &&
                                        bytes[at] <= static_cast<std::uint8_t>(pattern.leads[1])
                                  : pattern.leads.find(lead) != std::string_view::npos;
  if (!good || at + pattern.rest.size() >= bytes.size()) return 0;
  for (std::size_t i = 0; i < pattern.rest.size(); ++i) {
    if (!matches(pattern.rest[i], bytes[at + 1 + i])) return 0;
  }
  return 1 + pattern.rest.size();
}

// UTF-8 sequences in which a blank stands where a no-break space (0xA0) was.
const std::vector<BytePattern>& blanked_patterns() {
  using enum ByteKind;
  static const std::vector<BytePattern> patterns = {
      {"\xC2\xC3\xC5\xCE\xD0\xD9", false, {blank}},
      {"\xE2\xE3", true, {blank, tail_no_ellipsis}},
      {"\xE0\xE3", true, {tail_no_ellipsis, blank}},
      {"\xF0\xF0", true, {blank, tail, tail}},
      {"\xF0\xF0", true, {tail, blank, tail}},
      {"\xF0\xF0", true, {tail, tail, blank}},
  };
  return patterns;
}

std::size_t blanked_length(const Bytes& bytes, std::size_t at) {
  for (const BytePattern& pattern : blanked_patterns()) {
    if (const std::size_t length = match_length(pattern, bytes, at)) return length;
  }
  return 0;
}

bool starts_with(const Bytes& bytes, std::size_t at, std::string_view text) {
  if (bytes.size() - at < text.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (bytes[at + i] != static_cast<std::uint8_t>(text[i])) return false;
  }
  return true;
}

// "Ã " alone is most often the French word "à": the blank stays, and 0xA0 comes before it.
// Not in front of a second blank or the ends of Portuguese contractions.
Bytes split_grave_words(const Bytes& bytes) {
  Bytes result;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    result.push_back(bytes[i]);
    if (bytes[i] != 0xC3 || i + 1 >= bytes.size() || bytes[i + 1] != 0x20) continue;
    bool excepted = false;
    for (const std::string_view next : {" ", "quele", "quela", "quilo", "s "}) {
      excepted = excepted || starts_with(bytes, i + 2, next);
    }
    if (!excepted) result.push_back(0xA0);
  }
  return result;
}

Bytes restore_no_break_spaces(const Bytes& bytes) {
  bool any = false;
  for (std::size_t i = 0; i < bytes.size() && !any; ++i) any = blanked_length(bytes, i) > 0;
  if (!any) return bytes;
  Bytes result = split_grave_words(bytes);
  for (std::size_t i = 0; i < result.size();) {
    const std::size_t length = blanked_length(result, i);
    for (std::size_t j = i; j < i + length; ++j) {
      if (result[j] == 0x20) result[j] = 0xA0;
    }
    i += length > 0 ? length : 1;
  }
  return result;
}

// UTF-8 (and CESU-8) sequences of which bytes became U+FFFD or '?'.
std::size_t lossy_length(const Bytes& bytes, std::size_t at) {
  using enum ByteKind;
  static const std::vector<BytePattern> two = {{"\xC2\xDF", true, {lost}},
                                               {"\xC2\xC3", true, {lost_or_mark}}};
  static const std::vector<BytePattern> more = {
      {"\xE0\xEF", true, {lost_or_mark, lost_or_tail}},
      {"\xE0\xEF", true, {lost_or_tail, lost_or_mark}},
      {"\xF0\xF4", true, {lost_or_mark, lost_or_tail, lost_or_tail}},
      {"\xF0\xF4", true, {lost_or_tail, lost_or_mark, lost_or_tail}},
      {"\xF0\xF4", true, {lost_or_tail, lost_or_tail, lost_or_mark}},
  };
  for (const BytePattern& pattern : two) {
    if (const std::size_t length = match_length(pattern, bytes, at)) return length;
  }
  if (at + 6 <= bytes.size() && bytes[at] == 0xED && bytes[at + 1] >= 0xA0 &&
      bytes[at + 1] <= 0xAF && bytes[at + 3] == 0xED && bytes[at + 4] >= 0xB0 &&
      bytes[at + 4] <= 0xBF) {
    const std::uint8_t b = bytes[at + 2], d = bytes[at + 5];
    if ((matches(lost_or_mark, b) && matches(any_lost, d)) ||
        (matches(any_lost, b) && matches(lost_or_mark, d))) {
      return 6;
    }
  }
  for (const BytePattern& pattern : more) {
    if (const std::size_t length = match_length(pattern, bytes, at)) return length;
  }
  return bytes[at] == kSubstitute ? 1 : 0;
}

Bytes replace_lossy_sequences(const Bytes& bytes) {
  Bytes result;
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = lossy_length(bytes, i);
    if (length > 0) {
      result.insert(result.end(), {0xEF, 0xBF, 0xBD});  // U+FFFD
      i += length;
    } else {
      result.push_back(bytes[i++]);
    }
  }
  return result;
}

// Length and code point of one shortest-form UTF-8 character at bytes[at]; 0 if none.
std::size_t decode_character(const Bytes& bytes, std::size_t at, char32_t& c) {
  const std::uint8_t lead = bytes[at];
  if (lead < 0x80) {
    c = lead;
    return 1;
  }
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                             : lead >= 0xE0 && lead <= 0xEF ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 0;
  if (length == 0 || at + length > bytes.size()) return 0;
  c = lead & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_tail(bytes[at + i])) return 0;
    c = (c << 6) | (bytes[at + i] & 0x3F);
  }
  const bool too_long = (length == 3 && c < 0x800) || (length == 4 && c < 0x10000);
  const bool no_character = (c >= 0xD800 && c <= 0xDFFF) || c > 0x10FFFF;
  return too_long || no_character ? 0 : length;
}

// UTF-8, and its variants: surrogate pairs of three bytes each (CESU-8) and 0xC0 0x80 for
// NUL (Java). Nothing if there is any other fault.
std::optional<std::u32string> decode_strictly(const Bytes& bytes) {
  std::u32string result;
  for (std::size_t i = 0; i < bytes.size();) {
    char32_t c = 0;
    if (const std::size_t length = decode_character(bytes, i, c)) {
      result += c;
      i += length;
      continue;
    }
    const auto in = [&](std::size_t offset, std::uint8_t low, std::uint8_t high) {
      const std::uint8_t b = bytes[i + offset];
      return b >= low && b <= high;
    };
    // ftfy's '$' also takes a line break that ends the text for the 0x80.
    const bool last_two = i + 2 == bytes.size();
    if (bytes[i] == 0xC0 && i + 1 < bytes.size() &&
        (bytes[i + 1] == 0x80 || (last_two && bytes[i + 1] == '\n'))) {
      result += U'\0';
      i += 2;
    } else if (i + 6 <= bytes.size() && bytes[i] == 0xED && in(1, 0xA0, 0xAF) &&
               in(2, 0x80, 0xBF) && bytes[i + 3] == 0xED && in(4, 0xB0, 0xBF) &&
               in(5, 0x80, 0xBF)) {
      result += 0x10000 + ((bytes[i + 1] & 0x0Fu) << 16) + ((bytes[i + 2] & 0x3Fu) << 10) +
                ((bytes[i + 4] & 0x0Fu) << 6) + (bytes[i + 5] & 0x3Fu);
      i += 6;
    } else {
      return std::nullopt;
    }
  }
  return result;
}

// Length of a run of sequences that look like UTF-8 read as a one-byte encoding.
std::size_t embedded_run(const std::u32string& text, std::size_t begin) {
  if (begin > 0 && (classes_of(text[begin - 1]) & kUtf8ContinuationStrict) != 0) return 0;
  const auto continues = [&](std::size_t at, std::size_t count) {
    if (at + count > text.size()) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if ((classes_of(text[at + i]) & kUtf8Continuation) == 0) return false;
    }
    return true;
  };
  std::size_t at = begin;
  while (at < text.size()) {
    const std::uint32_t lead = classes_of(text[at]);
    if ((lead & kUtf8FirstOf2) != 0 && continues(at + 1, 1)) {
      at += 2;
    } else if ((lead & kUtf8FirstOf3) != 0 && continues(at + 1, 2)) {
      at += 3;
    } else if ((lead & kUtf8FirstOf4) != 0 && continues(at + 1, 3)) {
      at += 4;
    } else {
      break;
    }
  }
  return at - begin;
}

// Repairs each such run by itself, if it looks wrong; each is shorter than the text.
std::u32string fix_embedded(const std::u32string& text) {
  std::u32string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = embedded_run(text, i);
    if (length == 0) {
      result += text[i++];
      continue;
    }
    std::u32string part = text.substr(i, length);
    const bool fix = length < text.size() && looks_like_mojibake(part);
    result += fix ? fix_mojibake(std::move(part)) : part;
    i += length;
  }
  return result;
}

bool is_ascii(const std::u32string& text) {
  for (const char32_t c : text) {
    if (c >= 0x80) return false;
  }
  return true;
}

bool is_c1(char32_t c) {
  return c >= 0x80 && c <= 0x9F;
}

std::u32string fix_one_step(const std::u32string& text) {
  if (is_ascii(text) || !looks_like_mojibake(text)) return text;
  for (const CodePage& page : code_pages()) {
    std::optional<Bytes> bytes = page.encode(text);
    if (!bytes) continue;
    // Not with MacRoman, where an en dash and a blank would look like "Ð" and a blank.
    if (!page.mac_roman) bytes = restore_no_break_spaces(*bytes);
    if (page.sloppy) bytes = replace_lossy_sequences(*bytes);
    if (std::optional<std::u32string> decoded = decode_strictly(*bytes)) return *decoded;
  }
  std::u32string fixed = fix_embedded(text);
  if (fixed != text) return fixed;
  // What is left are C1 controls, meant as Windows-1252 (also where only a part of the
  // text is Latin-1).
  return replace_c1_controls(text);
}

}  // namespace

char32_t windows_1252_character(std::uint8_t byte) {
  return kCodePages[0][byte - 0x80];
}

std::u32string replace_c1_controls(std::u32string text) {
  for (char32_t& c : text) {
    if (is_c1(c)) c = windows_1252_character(static_cast<std::uint8_t>(c));
  }
  return text;
}

std::u32string fix_mojibake(std::u32string text) {
  while (true) {
    std::u32string fixed = fix_one_step(text);
    if (fixed == text) return text;
    text = std::move(fixed);
  }
}

}  // namespace probe
