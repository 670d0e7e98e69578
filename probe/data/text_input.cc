#include "probe/data/text_input.h"

#include <algorithm>

#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {

std::string read_text(const std::filesystem::path& path) {
  std::string content = read_file(path, std::size_t{4} << 30);
  const std::string_view view = content;
  if (view.starts_with("\xFF\xFE") || view.starts_with("\xFE\xFF")) {
    throw Error(ErrorKind::input,
                path.string() + ": expected UTF-8, got UTF-16 (byte-order mark at byte 0)");
  }
  if (view.starts_with("\xEF\xBB\xBF")) content.erase(0, 3);
  if (const auto offset = first_invalid_utf8(content)) {
    const auto line = 1 + std::count(content.begin(), content.begin() + *offset, '\n');
    throw Error(ErrorKind::input, path.string() + ":" + std::to_string(line) +
                                      ": expected UTF-8, got an invalid byte at offset " +
                                      std::to_string(*offset));
  }
  return content;
}

std::vector<TextLine> split_lines(std::string_view content) {
  std::vector<TextLine> lines;
  std::size_t number = 0;
  while (!content.empty()) {
    ++number;
    const std::size_t end = content.find('\n');
    std::string_view line = content.substr(0, end);
    content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos) {
      lines.push_back({number, line});
    }
  }
  return lines;
}

}  // namespace probe
