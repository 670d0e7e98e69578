#include "encoders/bundle_search.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <numeric>
#include <set>

#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

// Lower case without separators: "ViT-B/32" and "vit_b_32" fold to the same.
std::string folded(const std::string& name) {
  std::string out;
  for (const unsigned char c : name) {
    if (std::string_view("/-_. ").find(static_cast<char>(c)) != std::string_view::npos) continue;
    out += static_cast<char>(std::tolower(c));
  }
  return out;
}

std::string name_list(const std::vector<BundleEntry>& bundles) {
  if (bundles.empty()) return "no bundle was found";
  std::string list;
  for (const BundleEntry& bundle : bundles) list += (list.empty() ? "" : ", ") + bundle.name;
  return "known are " + list;
}

fs::path program_folder() {
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  return code ? fs::path() : program.parent_path();
}

}  // namespace

std::vector<fs::path> bundle_folders(const fs::path& encoder_dir) {
  std::vector<fs::path> wanted;
  if (!encoder_dir.empty()) wanted.push_back(encoder_dir);
  if (const char* variable = std::getenv("PROBE_ENCODERS")) {
    std::string list = variable;
    for (std::size_t start = 0; start <= list.size();) {
      const std::size_t end = std::min(list.find(':', start), list.size());
      if (end > start) wanted.push_back(list.substr(start, end - start));
      start = end + 1;
    }
  }
  if (const char* home = std::getenv("HOME")) {
    wanted.push_back(fs::path(home) / ".cache/probe/encoders");
  }
  wanted.push_back(program_folder().parent_path() / "share/probe/encoders");
  std::vector<fs::path> folders;
  std::error_code code;
  for (const fs::path& folder : wanted) {
    if (fs::is_directory(folder, code)) folders.push_back(folder);
  }
  return folders;
}

std::vector<BundleEntry> list_bundles(const std::vector<fs::path>& folders) {
  std::vector<BundleEntry> bundles;
  std::set<std::string> names;
  std::error_code code;
  for (const fs::path& folder : folders) {
    std::vector<fs::path> entries;
    for (const auto& entry : fs::directory_iterator(folder, code)) entries.push_back(entry.path());
    std::sort(entries.begin(), entries.end());
    for (const fs::path& entry : entries) {
      const std::string name = entry.filename().string();
      if (!fs::exists(entry / "encoder.json", code) || !names.insert(name).second) continue;
      bundles.push_back({name, entry});
    }
  }
  return bundles;
}

int edit_distance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

BundleEntry find_bundle(const std::string& wanted, const std::vector<BundleEntry>& bundles) {
  if (wanted.empty()) {
    throw Error(ErrorKind::usage, "--encoder: expected a name or a path, got nothing; " +
                                      name_list(bundles));
  }
  for (const BundleEntry& bundle : bundles) {
    if (bundle.name == wanted) return bundle;
  }
  std::error_code code;
  const fs::path path = wanted;
  if (fs::exists(path, code)) {
    if (fs::is_directory(path, code) && fs::exists(path / "encoder.json", code)) {
      const fs::path clean = fs::absolute(path).lexically_normal();
      return {clean.filename().empty() ? clean.parent_path().filename().string()
                                       : clean.filename().string(),
              path};
    }
    throw Error(ErrorKind::model, printable(wanted) +
                                      ": expected a bundle folder with encoder.json "
                                      "(encoders/BUNDLE.md), got " +
                                      (fs::is_directory(path, code) ? "a folder without it"
                                                                    : "a file"));
  }
  std::vector<const BundleEntry*> alike;
  for (const BundleEntry& bundle : bundles) {
    if (folded(bundle.name) == folded(wanted)) alike.push_back(&bundle);
  }
  if (alike.size() == 1) return *alike[0];
  std::string message = "--encoder: ";
  message += alike.empty() ? "unknown encoder \"" : "ambiguous encoder \"";
  message += printable(wanted) + "\"";
  if (alike.empty() && !bundles.empty()) {
    const auto nearest = std::min_element(
        bundles.begin(), bundles.end(), [&](const BundleEntry& a, const BundleEntry& b) {
          return edit_distance(folded(a.name), folded(wanted)) <
                 edit_distance(folded(b.name), folded(wanted));
        });
    message += "; did you mean " + nearest->name + "?";
  }
  throw Error(ErrorKind::usage, message + " (" + name_list(bundles) + ")");
}

}  // namespace probe
