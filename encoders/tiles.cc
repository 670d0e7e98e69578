#include "encoders/tiles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

#include "encoders/preprocess.h"
#include "encoders/resample.h"
#include "probe/core/error.h"

namespace probe {
namespace {

constexpr Interpolation kFilter = Interpolation::bicubic;

// select_best_resolution of transformers' image_processing_utils; the products and quotients
// are formed in the same order, in double precision.
PixelSize best_pinpoint(int width, int height, const std::vector<PixelSize>& pinpoints) {
  const std::int64_t pixels = std::int64_t{width} * height;
  std::int64_t most_kept = 0;
  std::int64_t least_wasted = std::numeric_limits<std::int64_t>::max();
  PixelSize best;
  for (const PixelSize& canvas : pinpoints) {
    const double scale = std::min(static_cast<double>(canvas.width) / width,
                                  static_cast<double>(canvas.height) / height);
    const auto scaled_width = static_cast<std::int64_t>(width * scale);
    const auto scaled_height = static_cast<std::int64_t>(height * scale);
    const std::int64_t kept = std::min(scaled_width * scaled_height, pixels);
    const std::int64_t wasted = std::int64_t{canvas.width} * canvas.height - kept;
    if (kept > most_kept || (kept == most_kept && wasted < least_wasted)) {
      most_kept = kept;
      least_wasted = wasted;
      best = canvas;
    }
  }
  return best;
}

// get_patch_output_size: the side that fits is filled, the other rounded up.
PixelSize fit_inside(int width, int height, const PixelSize& canvas) {
  const double across = static_cast<double>(canvas.width) / width;
  const double down = static_cast<double>(canvas.height) / height;
  if (across < down) {
    const double scaled = std::ceil(height * across);
    return {static_cast<int>(std::min<double>(scaled, canvas.height)), canvas.width};
  }
  const double scaled = std::ceil(width * down);
  return {canvas.height, static_cast<int>(std::min<double>(scaled, canvas.width))};
}

// int(round(value, 7)) of Python, whose round is that of the decimal digits.
int floor_of_rounded(double value) {
  char digits[400];  // the largest double has 309 before the point
  std::snprintf(digits, sizeof(digits), "%.7f", value);
  return static_cast<int>(std::strtod(digits, nullptr));
}

// unpad_image: the rows or columns of the canvas's patches that show the image, from its true
// aspect ratio; padding is taken off by equal numbers on both sides.
PatchWindow unpadded(int width, int height, int patch_columns, int patch_rows) {
  PatchWindow kept{0, 0, patch_rows, patch_columns};
  const double aspect = static_cast<double>(width) / height;
  if (aspect > static_cast<double>(patch_columns) / patch_rows) {
    const int rows = floor_of_rounded(height * (static_cast<double>(patch_columns) / width));
    kept.top = (patch_rows - rows) / 2;
    kept.height -= 2 * kept.top;
  } else {
    const int columns = floor_of_rounded(width * (static_cast<double>(patch_rows) / height));
    kept.left = (patch_columns - columns) / 2;
    kept.width -= 2 * kept.left;
  }
  return kept;
}

// The part of `kept` (patches of the canvas) that lies in one tile, from the tile's corner.
PatchWindow inside_tile(const PatchWindow& kept, int row, int column, int grid) {
  const auto overlap = [&](int begin, int length, int tile) {
    const int first = std::max(begin - tile * grid, 0);
    const int end = std::min(begin + length - tile * grid, grid);
    return std::pair{std::min(first, grid), std::max(end - first, 0)};
  };
  const auto [top, height] = overlap(kept.top, kept.height, row);
  const auto [left, width] = overlap(kept.left, kept.width, column);
  return {top, left, height, width};
}

// find_closest_aspect_ratio; grids of one area come by columns, as in transformers'
// get_optimal_tiled_canvas (InternVL's own order there is that of a Python set).
PixelSize best_grid(int width, int height, const TileOptions& options, int size) {
  std::vector<PixelSize> grids;
  for (int columns = 1; columns <= options.max_tiles; ++columns) {
    for (int rows = 1; rows * columns <= options.max_tiles; ++rows) {
      if (rows * columns >= options.min_tiles) grids.push_back({rows, columns});
    }
  }
  std::stable_sort(grids.begin(), grids.end(), [](const PixelSize& a, const PixelSize& b) {
    return a.height * a.width < b.height * b.width;
  });
  const double aspect = static_cast<double>(width) / height;
  const double pixels = static_cast<double>(width) * height;
  double least = std::numeric_limits<double>::infinity();
  PixelSize best{1, 1};
  for (const PixelSize& grid : grids) {
    const double difference = std::abs(aspect - static_cast<double>(grid.width) / grid.height);
    const double half_canvas = 0.5 * size * size * grid.width * grid.height;
    if (difference < least || (difference == least && pixels > half_canvas)) {
      least = std::min(difference, least);
      best = grid;
    }
  }
  return best;
}

// The bundle's own preparation is that of View::Kind::squashed.
bool squashes(const ImageSpec& spec) {
  return spec.resize == ResizeRule::squash && spec.resize_to == spec.size &&
         spec.interpolation == kFilter;
}

RgbImage draw_tile(const RgbImage& image, const ImageSpec& spec, const TilePlan& plan,
                   const View& view) {
  RgbImage tile;
  tile.width = tile.height = spec.size;
  tile.pixels.assign(3 * static_cast<std::size_t>(spec.size) * spec.size, 0);  // black
  // The tile's corner in pixels of the resized image: negative where it begins in padding.
  const int x = view.column * spec.size - plan.left, y = view.row * spec.size - plan.top;
  const int left = std::max(x, 0), top = std::max(y, 0);
  const Window window{left, top, std::min(x + spec.size, plan.resized.width) - left,
                      std::min(y + spec.size, plan.resized.height) - top};
  if (window.width <= 0 || window.height <= 0) return tile;
  RgbImage shown =
      resample(image, plan.resized.width, plan.resized.height, kFilter, window);
  if (window.width == spec.size && window.height == spec.size) return shown;
  const std::size_t row_bytes = 3 * static_cast<std::size_t>(window.width);
  for (int row = 0; row < window.height; ++row) {
    const std::size_t to =
        3 * (static_cast<std::size_t>(top - y + row) * spec.size + (left - x));
    std::copy_n(shown.pixels.begin() + static_cast<std::ptrdiff_t>(row * row_bytes), row_bytes,
                tile.pixels.begin() + static_cast<std::ptrdiff_t>(to));
  }
  return tile;
}

void plan_anyres(int width, int height, int size, const Tiling& tiling, TilePlan& plan) {
  const PixelSize canvas = best_pinpoint(width, height, tiling.options.pinpoints);
  plan.rows = canvas.height / size;
  plan.columns = canvas.width / size;
  plan.resized = fit_inside(width, height, canvas);
  plan.top = (canvas.height - plan.resized.height) / 2;
  plan.left = (canvas.width - plan.resized.width) / 2;
  const int grid = tiling.grid;
  const PatchWindow all{0, 0, grid, grid};
  plan.views.push_back({View::Kind::squashed, 0, 0, false, true, all});
  const PatchWindow kept = unpadded(width, height, plan.columns * grid, plan.rows * grid);
  for (int row = 0; row < plan.rows; ++row) {
    for (int column = 0; column < plan.columns; ++column) {
      const PatchWindow window = inside_tile(kept, row, column, grid);
      if (window.count() == 0) continue;
      plan.views.push_back({View::Kind::tile, row, column, false, true, window});
    }
  }
}

void plan_dynamic(int width, int height, int size, const Tiling& tiling, TilePlan& plan) {
  const PixelSize grid = best_grid(width, height, tiling.options, size);
  plan.rows = grid.height;
  plan.columns = grid.width;
  plan.resized = {grid.height * size, grid.width * size};
  const int tiles = grid.height * grid.width;
  for (int tile = 0; tiles > 1 && tile < tiles; ++tile) {
    const int row = tile / grid.width, column = tile % grid.width;
    plan.views.push_back({View::Kind::tile, row, column, false, true, {}});
  }
  plan.views.push_back({View::Kind::squashed, 0, 0, false, true, {}});  // or the only tile
}

}  // namespace

TilePlan plan_tiles(int width, int height, const ImageSpec& spec, const Tiling& tiling) {
  TilePlan plan;
  if (width < 1 || height < 1 || tiling.options.scheme == TileScheme::whole) {
    plan.views.push_back({View::Kind::fitted, 0, 0, true, true, {}});
    return plan;
  }
  if (tiling.options.scheme == TileScheme::anyres) {
    plan_anyres(width, height, spec.size, tiling, plan);
  } else {
    plan_dynamic(width, height, spec.size, tiling, plan);
  }
  if (!tiling.embeds) return plan;
  if (squashes(spec)) {
    for (View& view : plan.views) view.embeds = view.kind == View::Kind::squashed;
  } else {
    const PatchWindow all{0, 0, tiling.grid, tiling.grid};
    plan.views.insert(plan.views.begin(), {View::Kind::fitted, 0, 0, true, false, all});
  }
  return plan;
}

RgbImage draw_view(const RgbImage& image, const ImageSpec& spec, const TilePlan& plan,
                   const View& view) {
  if (view.kind == View::Kind::tile) return draw_tile(image, spec, plan, view);
  if (view.kind == View::Kind::fitted) return fit_to_tower(image, spec);
  ImageSpec squash = spec;
  squash.resize = ResizeRule::squash;
  squash.resize_to = spec.size;
  squash.interpolation = kFilter;
  squash.crop = CropRule::none;
  return fit_to_tower(image, squash);
}

}  // namespace probe
