#include "probe/cli/machine.h"

#include <fstream>
#include <sstream>

namespace probe {

std::string line_of(const char* file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(name) || colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

double available_memory() {
  std::istringstream memory(line_of("/proc/meminfo", "MemAvailable"));
  double kibibytes = 0;
  return memory >> kibibytes ? kibibytes * 1024 : 0;
}

}  // namespace probe
