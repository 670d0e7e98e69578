// The work of `probe recolor`: from originals to twins on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/table.h"
#include "probe/cli/recolor_inputs.h"
#include "probe/cli/twin_manifest.h"
#include "probe/imaging/contact_sheet.h"
#include "probe/imaging/recolor.h"

namespace probe {

struct RecolorSettings {
  std::filesystem::path folder;  // twins go to folder/modified/<category>/
  ColorTable colors;
  std::optional<NamedColor> only_color;  // instead of the table
  std::optional<Box> box;                // for all
  std::map<std::string, Box> boxes;      // for some, by item id
  int per_item = 1;
  std::uint64_t seed = 1;
  float min_difference = 0.115F;  // see difference_from()
  QualityLimits limits;
  int jpeg_quality = 90;
  int sheet_side = 0;  // 0: no entries for a sheet
  bool fail_fast = false;
  bool quiet = false;
};

struct TwinResult {
  Twin twin;
  RecolorQuality quality;
  MaskMethod method = MaskMethod::saliency_grabcut;
  MaskQuality mask;
};

struct RecolorResult {
  std::vector<TwinResult> twins;      // written
  std::vector<std::string> rejected;  // ids of twins that a verdict keeps out
  std::vector<Failure> failures;
  std::vector<SheetEntry> sheet;  // all of them, also rejected and dropped ones
};

// Colours of an item in the order in which they are tried: by SHA-256 of
// "probe recolor <seed> <item id> <colour>", those nearer than `min_difference` left out.
std::vector<NamedColor> colors_to_try(const std::vector<NamedColor>& colors,
                                      const ObjectColor& object, const std::string& id,
                                      std::uint64_t seed, float min_difference);

// Twin ids are "<item id>-<colour, with dashes>". A picture that fails does not stop the
// others unless fail_fast, which throws Error(input).
RecolorResult recolor_items(const std::vector<Item>& originals, const RecolorSettings& settings,
                            const std::map<std::string, Verdict>& verdicts);

}  // namespace probe
