// What `probe locate` does, one function for each of its own commands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/locate_items.h"
#include "analysis/table.h"
#include "probe/cli/common_options.h"
#include "probe/core/image.h"
#include "probe/core/locate.h"

namespace probe {

struct LocateBuild {
  std::filesystem::path annotations, expressions, output;
  std::string box_format = "xywh", group = "super";
  LocateLimits limits;
  std::uint64_t seed = 1;
};

struct LocateDraw {
  std::filesystem::path items, images, output;
  std::vector<std::string> formats = {"letters", "colors", "coordinates", "one_by_one"};
};

struct LocateScore {
  std::filesystem::path items;
  std::vector<std::filesystem::path> responses;
};

struct LocateBaseline {
  std::filesystem::path items, images, output;
  EncoderArguments encoder;
  std::string prompting = "crop", text_template = "{}";
  double margin = 0.1;
  bool no_cache = false, quiet = false;
};

// Items from annotations, written to `output`; every filter's count.
Report build_locate(const LocateBuild& options);

// prompts.jsonl and the pictures it names, in folder `output`.
Report draw_locate(const LocateDraw& options);

// Responses to accuracies and shared errors.
Report score_locate_files(const LocateScore& options);

// An encoder chooses the candidate that is most similar to the expression; its choices are
// written to `output` as responses, so that `score` shows it beside other models.
Report run_locate_baseline(const LocateBaseline& options);

// Picture of an item below `folder`, decoded. Throws Error(input) if its size is not the
// item's, or its name leads out of the folder.
RgbImage load_locate_picture(const LocateItem& item, const std::filesystem::path& folder);

// The item's boxes in whole pixels, within the picture.
std::vector<PixelBox> pixel_boxes(const LocateItem& item);

}  // namespace probe
