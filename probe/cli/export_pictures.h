// The pictures behind an embedding file, for exports that show them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "probe/core/embedding_set.h"
#include "probe/core/image.h"

namespace probe {

struct ExportPictures {
  std::vector<std::filesystem::path> datasets;  // where items are looked up by id, in order
  bool allow_outside = false;
};

// Where each item's picture is: of the first dataset that knows the id, else the path that
// the file has; absolute, and empty where there is none.
std::vector<std::filesystem::path> picture_paths(const ItemColumns& items,
                                                 const ExportPictures& options);

// The items' pictures on one sheet; squares of at most 64 pixels.
struct Sprites {
  std::string png;   // empty: no picture could be read, or squares would be too small
  int side = 0;      // pixels of a square
  std::string note;  // why some or all are missing
};
Sprites draw_sprites(const std::vector<std::filesystem::path>& paths, const ItemColumns& items,
                     bool quiet);

}  // namespace probe
