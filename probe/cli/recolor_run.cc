#include "probe/cli/recolor_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "probe/cli/progress.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/sha256.h"
#include "probe/core/utf8.h"
#include "probe/data/image_file.h"
#include "probe/imaging/encode_jpeg.h"
#include "probe/imaging/thumbnail.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

RgbImage load(const Item& item) {
  if (!item.image_error.empty()) throw Error(ErrorKind::input, item.image_error);
  return read_image(item.image);
}

// The colours each category has and others lack. Unreadable pictures are told of later.
std::map<std::string, ColorPrior> learn_priors(const std::vector<Item>& originals, bool quiet) {
  std::map<std::string, ColorHistogram> categories;
  ColorHistogram all;
  Progress progress("comparing colours", std::ssize(originals), quiet);
  for (const Item& item : originals) {
    try {
      const RgbImage small = thumbnail(load(item), 160);
      categories[item.category].add(small);
      all.add(small);
    } catch (const Error&) {
    }
    progress.advance(1);
  }
  std::map<std::string, ColorPrior> priors;
  for (const auto& [category, histogram] : categories) {
    priors.emplace(category, ColorPrior(histogram, all));
  }
  return priors;
}

std::string jpeg_comment(const Item& item, const NamedColor& color) {
  return fmt::format("SYNTHETIC: recoloured to {} by probe recolor; original {}", color.name,
                     printable(item.id));
}

class Recolorer {
 public:
  Recolorer(const RecolorSettings& settings, const std::map<std::string, Verdict>& verdicts,
            std::map<std::string, ColorPrior> priors)
      : settings_(settings), verdicts_(verdicts), priors_(std::move(priors)) {}

  void add(const Item& item) {
    try {
      make_twins(item);
    } catch (const Error& error) {
      fail(item.id, item.image, error.what());
    }
  }

  RecolorResult take() { return std::move(result_); }

 private:
  // Throws Error(input) if the category is not in the table.
  std::vector<NamedColor> colors_of(const Item& item) const {
    if (settings_.only_color) return {*settings_.only_color};
    const auto it = settings_.colors.find(item.category);
    if (it == settings_.colors.end()) {
      throw Error(ErrorKind::input, item.category.empty()
                                        ? std::string("no category, so no colours")
                                        : "category \"" + printable(item.category) +
                                              "\" is not in the table of colours");
    }
    return it->second;
  }

  void make_twins(const Item& item) {
    const std::vector<NamedColor> known = colors_of(item);
    const RgbImage image = load(item);
    MaskOptions options;
    const auto box = settings_.boxes.find(item.id);
    options.box = box != settings_.boxes.end() ? box->second : settings_.box;
    const auto prior = priors_.find(item.category);
    options.prior = prior == priors_.end() ? nullptr : &prior->second;
    const ObjectMask object = find_object(image, options);
    const ObjectColor own = measure_object(image, object.mask);
    const auto colors =
        colors_to_try(known, own, item.id, settings_.seed, settings_.min_difference);
    if (colors.empty()) {
      throw Error(ErrorKind::input, "every colour of its category is too near to its own");
    }
    const std::size_t count =
        std::min(colors.size(), static_cast<std::size_t>(settings_.per_item));
    for (std::size_t i = 0; i < count; ++i) make_twin(item, image, object, colors[i]);
  }

  void make_twin(const Item& item, const RgbImage& image, const ObjectMask& object,
                 const NamedColor& color) {
    const std::string slug = color_slug(color.name);
    const std::string id = item.id + "-" + slug;
    const auto verdict = verdicts_.find(id);
    const bool rejected = verdict != verdicts_.end() && verdict->second == Verdict::reject;
    const bool accepted = verdict != verdicts_.end() && verdict->second == Verdict::accept;
    const Recolored made = recolor(image, object.mask, color);
    const std::string reason = quality_failure(made.quality, settings_.limits);
    if (settings_.sheet_side > 0) {
      SheetEntry entry;
      entry.label = id + (rejected ? ": rejected" : reason.empty() ? "" : ": " + reason);
      entry.mark = rejected || !reason.empty() ? SheetMark::rejected
                   : accepted                  ? SheetMark::accepted
                                               : SheetMark::open;
      entry.original = thumbnail(image, settings_.sheet_side);
      entry.outlined = thumbnail(draw_outline(image, object.mask), settings_.sheet_side);
      entry.recolored = thumbnail(made.image, settings_.sheet_side);
      result_.sheet.push_back(std::move(entry));
    }
    if (rejected) {
      result_.rejected.push_back(id);
      return;
    }
    if (!reason.empty()) {
      fail(id, item.image, reason);
      return;
    }
    const std::string category = item.category.empty() ? "unknown" : item.category;
    Twin twin{id, item.category, item.id, std::string(color.name),
              fs::path("modified") / safe_file_name(category) /
                  (safe_file_name(item.id) + "-" + slug + ".jpg")};
    if (!files_.insert(twin.image).second) {
      throw Error(ErrorKind::input,
                  "another twin is called " + twin.image.string() + " already");
    }
    const fs::path path = settings_.folder / twin.image;
    std::error_code code;
    fs::create_directories(path.parent_path(), code);
    if (code) {
      throw Error(ErrorKind::io,
                  path.parent_path().string() + ": cannot create: " + code.message());
    }
    write_file_atomically(
        path, encode_jpeg(made.image, settings_.jpeg_quality, jpeg_comment(item, color)));
    result_.twins.push_back({std::move(twin), made.quality, object.method, object.quality});
  }

  void fail(const std::string& id, const fs::path& path, const std::string& reason) {
    if (settings_.fail_fast) throw Error(ErrorKind::input, printable(id) + ": " + reason);
    result_.failures.push_back({id, path.string(), reason});
  }

  const RecolorSettings& settings_;
  const std::map<std::string, Verdict>& verdicts_;
  std::map<std::string, ColorPrior> priors_;
  std::set<fs::path> files_;
  RecolorResult result_;
};

}  // namespace

std::vector<NamedColor> colors_to_try(const std::vector<NamedColor>& colors,
                                      const ObjectColor& object, const std::string& id,
                                      std::uint64_t seed, float min_difference) {
  std::vector<std::pair<std::string, NamedColor>> keyed;
  for (const NamedColor& color : colors) {
    if (difference_from(object, color) < min_difference) continue;
    keyed.emplace_back(sha256_hex(fmt::format("probe recolor {} {} {}", seed, id, color.name)),
                       color);
  }
  std::sort(keyed.begin(), keyed.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<NamedColor> order;
  for (const auto& [key, color] : keyed) order.push_back(color);
  return order;
}

RecolorResult recolor_items(const std::vector<Item>& originals, const RecolorSettings& settings,
                            const std::map<std::string, Verdict>& verdicts) {
  Recolorer recolorer(settings, verdicts, learn_priors(originals, settings.quiet));
  Progress progress("recolouring", std::ssize(originals), settings.quiet);
  for (const Item& item : originals) {
    recolorer.add(item);
    progress.advance(1);
  }
  return recolorer.take();
}

}  // namespace probe
