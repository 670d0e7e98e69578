// Checking tile options against a tower, and writing them down.
#include <cmath>
#include <nlohmann/json.hpp>

#include "encoders/tiles.h"
#include "probe/core/error.h"

namespace probe {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::usage, message); }

std::string text_of(const PixelSize& size) {
  return std::to_string(size.height) + "x" + std::to_string(size.width);
}

// Side of the square that the patches of a picture form, 0 if they form none.
int square_side(const LayerSpec& layer) {
  const int patches = layer.tokens - layer.prefix_tokens;
  const int side = static_cast<int>(std::lround(std::sqrt(patches)));
  return side * side == patches ? side : 0;
}

void check_pinpoint(const PixelSize& canvas, int size) {
  const std::string tile = std::to_string(size);
  if (canvas.height < 1 || canvas.width < 1 || canvas.height % size != 0 ||
      canvas.width % size != 0) {
    refuse("--grid-pinpoints: expected sides that are multiples of the tower's " + tile +
           " pixels, got " + text_of(canvas));
  }
  if (std::int64_t{canvas.height / size} * (canvas.width / size) > kMostTiles) {
    refuse("--grid-pinpoints: expected at most " + std::to_string(kMostTiles) + " tiles of " +
           tile + " pixels, got " + text_of(canvas));
  }
}

}  // namespace

std::vector<PixelSize> default_pinpoints(int size) {
  return {{size, 2 * size}, {2 * size, size}, {2 * size, 2 * size}, {3 * size, size},
          {size, 3 * size}};
}

Tiling check_tiling(const TileOptions& options, const EncoderSpec& spec, const LayerSpec& layer,
                    const EncoderOptions& encoder) {
  Tiling tiling{options, square_side(layer), spec.embedding_dim > 0};
  const bool anyres = options.scheme == TileScheme::anyres;
  const bool tiled = options.scheme != TileScheme::whole;
  if (tiled && encoder.keep_tokens) {
    refuse("--tokens: expected --tiles whole, since images have different numbers of tiles");
  }
  if (anyres && options.shuffle > 1) {
    refuse("--pixel-shuffle: expected --tiles whole or dynamic, got anyres (LLaVA-NeXT drops "
           "padding patch by patch and shuffles none)");
  }
  if ((anyres || options.shuffle > 1) && encoder.include_prefix) {
    refuse(std::string("--pool: expected patches with ") +
           (anyres ? "--tiles anyres" : "--pixel-shuffle") +
           ", got all (CLS has no place in a grid of patches)");
  }
  if ((anyres || options.shuffle > 1) && tiling.grid == 0) {
    refuse(std::string(anyres ? "--tiles anyres" : "--pixel-shuffle") +
           ": expected patches that form a square, got " +
           std::to_string(layer.tokens - layer.prefix_tokens) + " in layer " + layer.name +
           " of encoder " + spec.name);
  }
  if (options.shuffle > 1 && tiling.grid % options.shuffle != 0) {
    refuse("--pixel-shuffle: expected an even number of patches on each side, got " +
           std::to_string(tiling.grid) + " in encoder " + spec.name);
  }
  if (anyres) {
    std::vector<PixelSize>& pinpoints = tiling.options.pinpoints;
    if (pinpoints.empty()) pinpoints = default_pinpoints(spec.image.size);
    for (const PixelSize& canvas : pinpoints) check_pinpoint(canvas, spec.image.size);
  }
  return tiling;
}

std::string tiles_json(const TileOptions& options, int size) {
  nlohmann::ordered_json result;
  if (options.scheme == TileScheme::whole) {
    result["scheme"] = "whole";
    return result.dump();
  }
  const bool anyres = options.scheme == TileScheme::anyres;
  result["scheme"] = anyres ? "anyres" : "dynamic";
  result["version"] = kTilesVersion;
  result["tile"] = size;
  result["interpolation"] = "bicubic";
  if (anyres) {
    result["pinpoints"] = nlohmann::ordered_json::array();
    for (const PixelSize& canvas :
         options.pinpoints.empty() ? default_pinpoints(size) : options.pinpoints) {
      result["pinpoints"].push_back({canvas.height, canvas.width});
    }
    result["fill"] = {0, 0, 0};
    result["base"] = true;
    result["unpad"] = true;
  } else {
    result["min_tiles"] = options.min_tiles;
    result["max_tiles"] = options.max_tiles;
    result["thumbnail"] = true;
  }
  return result.dump();
}

}  // namespace probe
