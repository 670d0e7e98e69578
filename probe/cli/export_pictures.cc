#include "probe/cli/export_pictures.h"

#include <fmt/core.h>

#include <map>

#include "probe/cli/progress.h"
#include "probe/codec/codec.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/image_file.h"
#include "probe/data/manifest.h"
#include "probe/imaging/sprite_sheet.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

constexpr int kSide = 64;         // of a square, where the sheet has room
constexpr int kSmallestSide = 8;  // below it a picture shows nothing

}  // namespace

std::vector<fs::path> picture_paths(const ItemColumns& items, const ExportPictures& options) {
  std::map<std::string, fs::path> by_id;
  for (const fs::path& path : options.datasets) {
    for (const Item& item : read_dataset(path, {{}, options.allow_outside, true}).items) {
      by_id.emplace(item.id, item.image);
    }
  }
  std::vector<fs::path> paths;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto it = by_id.find(items.id[i]);
    const fs::path path = it == by_id.end() ? fs::path(items.path[i]) : it->second;
    paths.push_back(path.empty() ? path : fs::absolute(path).lexically_normal());
  }
  return paths;
}

Sprites draw_sprites(const std::vector<fs::path>& paths, const ItemColumns& items, bool quiet) {
  const int count = static_cast<int>(paths.size());
  Sprites sprites;
  const int side = SpriteSheet::fitting_side(count, kSide);
  if (side < kSmallestSide) {
    sprites.note = fmt::format("no sprite.png: {} pictures have no room on a sheet of {} pixels",
                               count, SpriteSheet::kLargestSheet);
    return sprites;
  }
  SpriteSheet sheet(count, side);
  Progress progress("drawing sprites", count, quiet);
  int missing = 0;
  std::string first;
  for (int i = 0; i < count; ++i) {
    try {
      if (paths[i].empty()) throw Error(ErrorKind::input, "no path");
      sheet.draw(i, read_image(paths[i]));
    } catch (const Error& error) {
      if (missing++ == 0) first = printable(items.id[i]) + ": " + error.what();
      sheet.leave_out(i);
    }
    progress.advance(1);
  }
  if (missing > 0) {
    sprites.note = fmt::format("{}: {} of {} pictures could not be read ({}); --images DATA says "
                               "where they are",
                               missing == count ? "no sprite.png" : "sprite.png", missing, count,
                               first);
  }
  if (missing == count) return sprites;
  sprites.side = side;
  sprites.png = encode_picture(sheet.picture(), PictureFormat::png);
  return sprites;
}

}  // namespace probe
