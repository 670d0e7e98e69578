// Repair of text that was encoded as UTF-8 and decoded as something else ("MÃ¼nchen"),
// by the rules of ftfy 6.3.1 (fix_encoding with its defaults).
#pragma once

#include <cstdint>
#include <string>

namespace probe {

// ftfy's heuristic: true if `text` has a sequence of characters that hardly occurs in
// rightly decoded text.
bool looks_like_mojibake(const std::u32string& text);

// Undoes wrong decodings, one after the other, as long as the text looks wrong and a way
// back is found.
std::u32string fix_mojibake(std::u32string text);

// Byte 0x80 to 0x9F in Windows-1252, the byte's own number where that has no character.
// REQUIRES such a byte.
char32_t windows_1252_character(std::uint8_t byte);

// Characters U+0080 to U+009F, which nobody means, as those of Windows-1252.
std::u32string replace_c1_controls(std::u32string text);

}  // namespace probe
