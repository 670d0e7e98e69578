// HTML character references, as Python's html.unescape and as ftfy read them.
#pragma once

#include <string>

namespace probe {

// html.unescape: named references of HTML 5 with and without ';' (longest prefix), numeric
// ones with the corrections HTML 5 demands (Windows-1252 for 128-159, U+FFFD for 0,
// surrogates and numbers past U+10FFFF, nothing for other invalid code points).
std::u32string unescape_html(const std::u32string& text);

// ftfy's more careful form: only references that end in ';', of at most 24 letters and
// digits; names in capitals also stand for their capital letters (&NTILDE;).
std::u32string unescape_html_carefully(const std::u32string& text);

}  // namespace probe
