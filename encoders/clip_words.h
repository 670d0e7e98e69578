// How openai/CLIP cuts a text into words before byte pair encoding.
#pragma once

#include <string>
#include <vector>

namespace probe {

inline constexpr const char32_t* kClipStartMark = U"<|startoftext|>";
inline constexpr const char32_t* kClipEndMark = U"<|endoftext|>";

// The matches, in order, of
//   <|startoftext|> | <|endoftext|> | 's|'t|'re|'ve|'m|'ll|'d | letters | one number |
//   a run of neither letters, numbers nor white space
// ignoring case, so that the long s (U+017F) counts as s. White space is dropped, and so
// is U+0345, which the regex package lets match none of them.
std::vector<std::u32string> split_clip_words(const std::u32string& text);

}  // namespace probe
