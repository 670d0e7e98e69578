// The manifest of a dataset with its recoloured twins.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "probe/core/item.h"

namespace probe {

// One recoloured picture that was written.
struct Twin {
  std::string id, category, original_id, attribute;
  std::filesystem::path image;  // relative to the manifest's folder
};

struct MergedManifest {
  std::string text;                         // of items.jsonl
  std::vector<std::filesystem::path> gone;  // pictures of earlier twins not listed any more,
                                            // relative to the folder
  int outside = 0;                          // images that lie outside the folder
};

// The dataset's items in their order, then the twins. Twins of an earlier run (condition
// "color", image under `modified/` of `folder`) are left out; if the source is
// folder/items.jsonl, all other lines stay as they are, byte for byte. A twin asks the
// choice question that its original carries. With `twins_only` the items are left out.
// Throws Error(input) if a twin's id is an item's id already.
MergedManifest merge_manifest(const Dataset& dataset, const std::vector<Twin>& twins,
                              const std::filesystem::path& folder, bool twins_only);

// Made of letters, digits, '.', '_' and '-', not beginning with '.': safe as a file name.
std::string safe_file_name(const std::string& text);

// Same file, by name: without "." and "..", relative to `folder`.
std::filesystem::path relative_to(const std::filesystem::path& path,
                                  const std::filesystem::path& folder);

}  // namespace probe
