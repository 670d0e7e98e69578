// Cutting a text at a separator.
#pragma once

#include <string>
#include <vector>

namespace probe {

// The parts between separators, empty ones too: "a||b" gives three, "" gives one.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

}  // namespace probe
