// What happens to a text before it is cut into tokens.
#pragma once

#include <string>

namespace probe {

// ftfy.fix_text with the defaults of version 6.3.1, line by line: HTML references (unless
// a '<' came before), mojibake, C1 controls, Latin ligatures, full and half width, curly
// quotes, line breaks, terminal escapes, control characters, NFC; again until stable.
std::u32string fix_text(const std::u32string& text);

// openai/CLIP's basic_clean and whitespace_clean: fix_text, html.unescape twice, strip,
// runs of white space to one blank, strip.
std::u32string clean_as_clip(const std::u32string& text);

// big_vision's and open_clip's canonical form for SigLIP: '_' to a blank, ASCII
// punctuation removed, lower case, runs of white space to one blank, strip.
std::u32string canonicalize_as_siglip(const std::u32string& text);

}  // namespace probe
