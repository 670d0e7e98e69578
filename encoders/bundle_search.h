// Finding bundles by short name, as `--encoder` takes them (DESIGN.md, ruling 13).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace probe {

struct BundleEntry {
  std::string name;  // the sub-folder's name
  std::filesystem::path folder;
};

// Folders that are searched, first to last: `encoder_dir` (if not empty), the entries of
// PROBE_ENCODERS (separated by ':'), ~/.cache/probe/encoders, and share/probe/encoders
// beside the program. Those that do not exist are left out.
std::vector<std::filesystem::path> bundle_folders(const std::filesystem::path& encoder_dir);

// Every bundle in these folders; a name found earlier hides later ones.
std::vector<BundleEntry> list_bundles(const std::vector<std::filesystem::path>& folders);

// The bundle that `wanted` names: a path to a bundle folder, a listed name, or a name
// that differs from exactly one listed name only in case or in '/', '-', '_', '.', ' '.
// Throws Error(usage) with the nearest name and the list for an unknown or ambiguous
// name, Error(model) if the folder exists but is no bundle.
BundleEntry find_bundle(const std::string& wanted, const std::vector<BundleEntry>& bundles);

// Number of single-letter edits between two words.
int edit_distance(const std::string& a, const std::string& b);

}  // namespace probe
