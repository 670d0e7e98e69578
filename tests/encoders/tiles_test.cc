// Against transformers: golden/tiles.json, made by tests/parity/make_tiles.py.
#include "encoders/tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "encoders/preprocess.h"
#include "probe/core/error.h"
#include "probe/core/sha256.h"
#include "tests/encoders/golden_json.h"
#include "tests/encoders/made_up.h"
#include "tests/support/expect_error.h"

namespace probe {
namespace {

using nlohmann::json;

// A tower of `grid` x `grid` patches behind one CLS token.
EncoderSpec tower(int size, int grid, int embedding_dim = 0) {
  EncoderSpec spec;
  spec.name = "tower";
  spec.embedding_dim = embedding_dim;
  spec.image.size = spec.image.resize_to = size;
  spec.image.resize = ResizeRule::squash;
  spec.image.crop = CropRule::none;
  spec.layers = {{"last", 1 + grid * grid, 8, 1, false}};
  return spec;
}

TileOptions options_of(const json& entry) {
  TileOptions options;
  if (entry["scheme"] == "anyres") {
    options.scheme = TileScheme::anyres;
    for (const json& canvas : entry["pinpoints"]) {
      options.pinpoints.push_back({canvas[0], canvas[1]});
    }
  } else {
    options.scheme = TileScheme::dynamic;
    options.min_tiles = entry["min_tiles"];
    options.max_tiles = entry["max_tiles"];
  }
  return options;
}

std::string pixels_sha256(const RgbImage& image) {
  return sha256_hex({reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size()});
}

// Where transformers lists this view: the whole image first (anyres) or last (dynamic).
std::size_t place(const View& view, const TilePlan& plan, bool anyres) {
  const auto tile = static_cast<std::size_t>(view.row * plan.columns + view.column);
  if (anyres) return view.kind == View::Kind::tile ? 1 + tile : 0;
  const std::size_t tiles = static_cast<std::size_t>(plan.rows) * plan.columns;
  return view.kind == View::Kind::tile ? tile : (tiles == 1 ? 0 : tiles);
}

// Numbers of the patches that are pooled, counted as make_tiles.py counts them.
std::vector<std::int32_t> kept_patches(const TilePlan& plan, int grid) {
  std::vector<std::int32_t> kept;
  for (const View& view : plan.views) {
    const auto first = static_cast<std::int32_t>(place(view, plan, true) * grid * grid);
    for (int y = 0; y < view.window.height; ++y) {
      for (int x = 0; x < view.window.width; ++x) {
        kept.push_back(first + (view.window.top + y) * grid + view.window.left + x);
      }
    }
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

TEST(Tiles, ArePixelForPixelThoseOfTransformers) {
  const json golden = read_golden("tiles.json");
  ASSERT_GT(golden["cases"].size(), 150u);
  for (const json& entry : golden["cases"]) {
    SCOPED_TRACE(entry.dump().substr(0, 160));
    const bool anyres = entry["scheme"] == "anyres";
    const EncoderSpec spec = tower(entry["size"], anyres ? entry["grid"].get<int>() : 4);
    const Tiling tiling = check_tiling(options_of(entry), spec, spec.layers[0], {});
    const RgbImage image = made_up("noise", entry["width"], entry["height"]);
    const TilePlan plan = plan_tiles(image.width, image.height, spec.image, tiling);
    ASSERT_EQ(plan.rows, entry["rows"]);
    ASSERT_EQ(plan.columns, entry["columns"]);
    if (!anyres) {
      ASSERT_EQ(plan.views.size(), entry["pixels"].size());
    }
    for (const View& view : plan.views) {
      EXPECT_EQ(pixels_sha256(draw_view(image, spec.image, plan, view)),
                entry["pixels"][place(view, plan, anyres)])
          << view.row << " " << view.column;
    }
  }
}

TEST(Tiles, KeepThePatchesThatLlavaNextKeeps) {
  int cases = 0, without_tiles = 0;
  const json golden = read_golden("tiles.json");
  for (const json& entry : golden["cases"]) {
    if (entry["scheme"] != "anyres") continue;
    SCOPED_TRACE(entry.dump().substr(0, 160));
    const int grid = entry["grid"];
    const EncoderSpec spec = tower(entry["size"], grid);
    const Tiling tiling = check_tiling(options_of(entry), spec, spec.layers[0], {});
    const TilePlan plan = plan_tiles(entry["width"], entry["height"], spec.image, tiling);
    const std::vector<std::int32_t> kept = kept_patches(plan, grid);
    EXPECT_EQ(kept.size(), entry["kept"]);
    EXPECT_EQ(sha256_hex({reinterpret_cast<const char*>(kept.data()), 4 * kept.size()}),
              entry["kept_sha256"]);
    for (const View& view : plan.views) EXPECT_GT(view.window.count(), 0);
    ++cases;
    without_tiles += plan.views.size() == 1 ? 1 : 0;
  }
  EXPECT_GT(cases, 30);
  EXPECT_GT(without_tiles, 0);  // a 1 x 1000 picture: nothing but padding in its tiles
}

// PEERS.md, section 4, computed with the models' own repositories.
TEST(Tiles, GiveTheGridsOfASquarePicture) {
  const EncoderSpec clip = tower(336, 24), internvit = tower(448, 32);
  TileOptions options;
  options.scheme = TileScheme::anyres;
  TilePlan plan = plan_tiles(1024, 1024, clip.image,
                             check_tiling(options, clip, clip.layers[0], {}));
  EXPECT_EQ(plan.views.size(), 1u + 2 * 2);
  options.scheme = TileScheme::dynamic;
  options.max_tiles = 6;
  plan = plan_tiles(1024, 1024, internvit.image,
                    check_tiling(options, internvit, internvit.layers[0], {}));
  EXPECT_EQ(plan.views.size(), 2 * 2 + 1u);
  options.max_tiles = 12;
  plan = plan_tiles(1024, 1024, internvit.image,
                    check_tiling(options, internvit, internvit.layers[0], {}));
  EXPECT_EQ(plan.views.size(), 3 * 3 + 1u);
}

TEST(Tiles, WholeIsTheBundlesOwnPreparation) {
  EncoderSpec spec = tower(56, 4, 16);
  spec.image.resize = ResizeRule::shortest;
  spec.image.crop = CropRule::center;
  const RgbImage image = made_up("noise", 90, 71);
  const TilePlan plan =
      plan_tiles(90, 71, spec.image, check_tiling({}, spec, spec.layers[0], {}));
  ASSERT_EQ(plan.views.size(), 1u);
  EXPECT_TRUE(plan.views[0].embeds && plan.views[0].pools);
  EXPECT_EQ(draw_view(image, spec.image, plan, plan.views[0]).pixels,
            fit_to_tower(image, spec.image).pixels);
  EXPECT_EQ(tiles_json({}, 56), "{\"scheme\":\"whole\"}");
}

// One picture gives the embedding, whatever the scheme: the image as the bundle prepares it.
TEST(Tiles, TheEmbeddingDoesNotDependOnTheScheme) {
  EncoderSpec crops = tower(56, 4, 16);
  crops.image.resize = ResizeRule::shortest;
  crops.image.crop = CropRule::center;
  EncoderSpec bilinear = tower(56, 4, 16);
  bilinear.image.interpolation = Interpolation::bilinear;
  const RgbImage image = made_up("noise", 120, 71);
  for (const EncoderSpec& spec : {crops, bilinear, tower(56, 4, 16)}) {
    for (const TileScheme scheme : {TileScheme::anyres, TileScheme::dynamic}) {
      TileOptions options;
      options.scheme = scheme;
      const TilePlan plan =
          plan_tiles(120, 71, spec.image, check_tiling(options, spec, spec.layers[0], {}));
      int embedding = 0, pooled = 0;
      for (const View& view : plan.views) {
        pooled += view.pools ? 1 : 0;
        if (!view.embeds) continue;
        ++embedding;
        EXPECT_EQ(draw_view(image, spec.image, plan, view).pixels,
                  fit_to_tower(image, spec.image).pixels);
      }
      EXPECT_EQ(embedding, 1);
      EXPECT_EQ(pooled, 1 + plan.rows * plan.columns);
    }
  }
}

TEST(Tiles, ProvenanceNamesEveryChoice) {
  TileOptions options;
  options.scheme = TileScheme::anyres;
  EXPECT_EQ(tiles_json(options, 336),
            "{\"scheme\":\"anyres\",\"version\":1,\"tile\":336,\"interpolation\":\"bicubic\","
            "\"pinpoints\":[[336,672],[672,336],[672,672],[1008,336],[336,1008]],"
            "\"fill\":[0,0,0],\"base\":true,\"unpad\":true}");
  options.scheme = TileScheme::dynamic;
  options.max_tiles = 6;
  EXPECT_EQ(tiles_json(options, 448),
            "{\"scheme\":\"dynamic\",\"version\":1,\"tile\":448,\"interpolation\":\"bicubic\","
            "\"min_tiles\":1,\"max_tiles\":6,\"thumbnail\":true}");
}

TEST(Tiles, OptionsThatDoNotFitTheTowerAreRefused) {
  const EncoderSpec spec = tower(56, 5);
  const auto check = [&](const TileOptions& options, const EncoderOptions& encoder,
                         const std::string& message) {
    EXPECT_PROBE_ERROR(check_tiling(options, spec, spec.layers[0], encoder), ErrorKind::usage,
                       message);
  };
  TileOptions anyres;
  anyres.scheme = TileScheme::anyres;
  anyres.pinpoints = {{56, 112}, {56, 100}};
  check(anyres, {}, "multiples of the tower's 56 pixels, got 56x100");
  anyres.pinpoints = {{56 * 257, 56}};
  check(anyres, {}, "at most 256 tiles of 56 pixels, got 14392x56");
  anyres.pinpoints.clear();
  anyres.shuffle = 2;
  check(anyres, {}, "--pixel-shuffle: expected --tiles whole or dynamic, got anyres");
  anyres.shuffle = 1;
  EncoderOptions all;
  all.include_prefix = true;
  check(anyres, all, "--pool: expected patches with --tiles anyres, got all");
  EncoderOptions tokens;
  tokens.keep_tokens = true;
  check(anyres, tokens, "--tokens: expected --tiles whole");
  TileOptions shuffled;
  shuffled.shuffle = 2;
  check(shuffled, {}, "an even number of patches on each side, got 5");
  check(shuffled, all, "--pool: expected patches with --pixel-shuffle, got all");
  EncoderSpec odd = spec;
  odd.layers[0].tokens = 1 + 26;
  EXPECT_PROBE_ERROR(check_tiling(anyres, odd, odd.layers[0], {}), ErrorKind::usage,
                     "patches that form a square, got 26 in layer last");
}

}  // namespace
}  // namespace probe
