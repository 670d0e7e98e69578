#include "probe/cli/machine.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace probe {
namespace fs = std::filesystem;

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

namespace {

// The smallest limit from a control group up to the root; "max" is none.
double limit_of_groups(const fs::path& root, const fs::path& group, const char* file) {
  double least = std::numeric_limits<double>::infinity();
  for (fs::path folder = group;; folder = folder.parent_path()) {
    std::ifstream limit(root / folder.relative_path() / file);
    if (double bytes = 0; limit >> bytes) least = std::min(least, bytes);
    if (!folder.has_relative_path()) return least;
  }
}

// Lines of /proc/self/cgroup: "0::/path" (version 2), "9:memory:/path" (version 1).
double memory_limit() {
  double least = std::numeric_limits<double>::infinity();
  std::ifstream lines("/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    const fs::path group = line.substr(slash);
    if (line.starts_with("0::")) {
      least = std::min(least, limit_of_groups("/sys/fs/cgroup", group, "memory.max"));
    } else if (line.find(":memory:") != std::string::npos) {
      least = std::min(least, limit_of_groups("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace

double available_memory() {
  std::istringstream memory(line_of("/proc/meminfo", "MemAvailable"));
  double kibibytes = 0;
  return memory >> kibibytes ? std::min(kibibytes * 1024, memory_limit()) : 0;
}

}  // namespace probe
