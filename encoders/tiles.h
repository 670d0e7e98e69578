// The pictures that a tower is shown of one image: the whole image, or the tiles that
// multimodal LLMs cut, by two published rules.
//
// anyres: LLaVA-NeXT as transformers 5 computes it (LlavaNextImageProcessor for the pixels,
//   LlavaNextModel.pack_image_features for the patches that stay). The canvas is the grid
//   pinpoint that keeps most of the image's pixels, then the one that wastes least, then
//   the earlier one. The image is resized into it with its aspect kept, centred on black,
//   and cut into tiles of the tower's size; the whole image, squashed to that size, goes
//   first. Patches of padding are dropped.
// dynamic: InternVL 1.5 and 2 (dynamic_preprocess). The grid of tiles is the one of the
//   nearest aspect ratio; of equal ones the later, in order of area, that the image covers
//   by more than half. The image is squashed onto it and cut; with more than one tile the
//   whole image, squashed to one tile, goes last (the thumbnail).
// Resizing is bicubic in both, whatever the bundle's own rule.
#pragma once

#include <string>
#include <vector>

#include "encoders/encoder.h"
#include "probe/core/image.h"

namespace probe {

// Version of the two rules above; part of what tiles_json says.
inline constexpr int kTilesVersion = 1;
inline constexpr int kMostTiles = 256;  // of one image

enum class TileScheme { whole, anyres, dynamic };

struct PixelSize {
  int height = 0, width = 0;
  bool operator==(const PixelSize&) const = default;
};

struct TileOptions {
  TileScheme scheme = TileScheme::whole;
  std::vector<PixelSize> pinpoints;   // anyres; empty: LLaVA-NeXT's five, of the tower's size
  int min_tiles = 1, max_tiles = 12;  // dynamic
  int shuffle = 1;  // pixel shuffle: patches joined on each axis; 2 is InternVL's factor 0.5
};

// Options that were checked against one tower and one of its layers.
struct Tiling {
  TileOptions options;  // pinpoints filled in
  int grid = 0;         // patches on each side of a picture; 0: they form no square
  bool embeds = false;  // the tower has an embedding
};

// Fills in the pinpoints. Throws Error(usage) if the options do not fit the tower: pinpoints
// that are no whole number of tiles, patches that form no square, pooled prefix tokens
// where the scheme has none, stored tokens whose number would differ between images.
Tiling check_tiling(const TileOptions& options, const EncoderSpec& spec, const LayerSpec& layer,
                    const EncoderOptions& encoder);

// One picture for the tower.
struct View {
  enum class Kind {
    fitted,    // the whole image as the bundle prepares it (fit_to_tower)
    squashed,  // the whole image at the tower's size, aspect given up, bicubic
    tile,
  };
  Kind kind = Kind::fitted;
  int row = 0, column = 0;  // of a tile
  bool embeds = false;      // the image's embedding is this picture's
  bool pools = false;       // its patches are pooled
  PatchWindow window;       // those that are
};

// What becomes of an image.
struct TilePlan {
  int rows = 0, columns = 0;  // of tiles; 0: none are cut
  PixelSize resized;          // of the image before it is cut
  int top = 0, left = 0;      // where it stands on the canvas of tiles, pixels
  std::vector<View> views;    // exactly one embeds (if the tower does), at least one pools
};

// The embedding is always that of the whole image as the bundle prepares it, so that it does
// not depend on the scheme; pooled are the pictures of the scheme. Tiles that are padding
// and nothing else are not shown. REQUIRES sides of at least 1 pixel.
TilePlan plan_tiles(int width, int height, const ImageSpec& spec, const Tiling& tiling);

// The pixels of one view, size x size. Computes no more of the resized image than the view
// shows. Throws Error(input) for an empty image, as fit_to_tower does.
RgbImage draw_view(const RgbImage& image, const ImageSpec& spec, const TilePlan& plan,
                   const View& view);

// One line of JSON that fixes the scheme, for provenance and cache keys. `size` is the
// tower's. {"scheme":"whole"} by default.
std::string tiles_json(const TileOptions& options, int size);

// LLaVA-NeXT's canvases (1 x 2, 2 x 1, 2 x 2, 3 x 1 and 1 x 3 tiles) in its order.
std::vector<PixelSize> default_pinpoints(int size);

}  // namespace probe
