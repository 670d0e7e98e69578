// UTF-8 checks that every reader of text shares.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace probe {

// Offset of the first byte that is not valid UTF-8 (RFC 3629), or nullopt.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

// `text` made safe for one line of a terminal or log: control characters and invalid
// bytes become \xNN, newlines \n. Names of files are untrusted.
std::string printable(std::string_view text);

// Number of terminal columns, counting one for each code point.
std::size_t display_width(std::string_view text);

}  // namespace probe
