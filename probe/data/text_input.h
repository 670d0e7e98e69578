// Text files from other people: byte-order mark, encodings, line ends (BUGCASES 49).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace probe {

// A line of a text file with its number, 1-based.
struct TextLine {
  std::size_t number = 0;
  std::string_view text;  // into the content; no line end
};

// Content of a UTF-8 text file without its byte-order mark. Throws Error(input) with
// the byte offset for UTF-16 or invalid UTF-8, Error(io) if unreadable, and refuses
// more than 4 GiB.
std::string read_text(const std::filesystem::path& path);

// Lines that are not blank. Only LF and CRLF end a line: U+2028 and friends inside a
// JSON string do not.
std::vector<TextLine> split_lines(std::string_view content);

}  // namespace probe
