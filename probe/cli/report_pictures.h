// Thumbnails for the report page.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/table.h"

namespace probe {

struct PictureOptions {
  std::vector<std::filesystem::path> datasets;  // where the items are looked up, in order
  bool allow_outside = false;
  int side = 96;    // longer side of a thumbnail, pixels
  int most = 2000;  // pictures; more are counted in `left_out`
};

struct ReportPictures {
  std::map<std::string, std::string> jpeg;  // bytes by item id
  std::vector<Failure> missing;             // no such item, or its picture cannot be read
  int left_out = 0;
};

// Reads and shrinks the pictures of these items. `ids` are as they stand in a result, where
// bytes that are not UTF-8 were replaced.
// Throws Error(input) if a dataset cannot be read; a bad picture is listed in `missing`.
ReportPictures read_pictures(const std::vector<std::string>& ids, const PictureOptions& options);

}  // namespace probe
