#include "probe/cli/locate_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "analysis/locate_answers.h"
#include "probe/cli/twin_manifest.h"
#include "probe/codec/codec.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/coco_file.h"
#include "probe/data/image_file.h"
#include "probe/data/locate_file.h"
#include "probe/imaging/draw_boxes.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

void make_folder(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) throw Error(ErrorKind::io, folder.string() + ": cannot create: " + code.message());
}

Table count_table(const LocateCounts& counts, const LocateBuild& options) {
  const LocateLimits& limits = options.limits;
  Table table;
  table.name = "locate_filters";
  table.title = "What the filters leave";
  table.columns = {{"filter", "filter"}, {"left", "left"}};
  const auto add = [&](const std::string& name, std::int64_t count) {
    table.rows.push_back({text_cell(name), count_cell(count)});
  };
  add("pictures", counts.images);
  add("objects with a box", counts.objects);
  add("not a crowd", counts.single);
  add(fmt::format("width and height at least {:g} px", limits.min_side), counts.large);
  add(fmt::format("{} or more of one {} in the picture", limits.min_objects,
                  limits.by_super_category ? "super-category" : "category"),
      counts.grouped);
  add(fmt::format("with three others that overlap at most {:g} x {:g} px", limits.max_overlap,
                  limits.max_overlap),
      counts.separate);
  if (!options.expressions.empty()) add("with an expression", counts.described);
  return table;
}

// One picture of a prompt, and its line.
struct Drawing {
  LocateFormat format;
  int candidate;
};

std::vector<Drawing> drawings_of(const std::vector<LocateFormat>& formats) {
  std::vector<Drawing> drawings;
  for (const LocateFormat format : formats) {
    if (format == LocateFormat::one_by_one) {
      for (int c = 0; c < kLocateCandidates; ++c) drawings.push_back({format, c});
    } else {
      drawings.push_back({format, -1});
    }
  }
  return drawings;
}

RgbImage draw(const RgbImage& picture, const std::vector<PixelBox>& boxes,
              const Drawing& drawing) {
  switch (drawing.format) {
    case LocateFormat::letters: return draw_lettered_boxes(picture, boxes);
    case LocateFormat::colors: return draw_colored_boxes(picture, boxes);
    case LocateFormat::one_by_one: return draw_red_box(picture, boxes[drawing.candidate]);
    default: return picture;  // coordinates: nothing is drawn
  }
}

}  // namespace

RgbImage load_locate_picture(const LocateItem& item, const fs::path& folder) {
  const fs::path name = item.image;
  const bool outside = name.is_absolute() || std::count(name.begin(), name.end(), "..") > 0;
  if (outside) {
    throw Error(ErrorKind::input, "item " + printable(item.id) + ": image \"" +
                                      printable(item.image) + "\" is outside its folder");
  }
  RgbImage picture = read_image(folder / name);
  if (picture.width != item.width || picture.height != item.height) {
    throw Error(ErrorKind::input,
                fmt::format("{}: expected {} x {} pixels as the item says, got {} x {}",
                            (folder / name).string(), item.width, item.height, picture.width,
                            picture.height));
  }
  return picture;
}

std::vector<PixelBox> pixel_boxes(const LocateItem& item) {
  std::vector<PixelBox> boxes;
  for (const Box& box : item.boxes) {
    const auto clipped = clip_box(box, item.width, item.height);
    if (!clipped) {
      throw Error(ErrorKind::input,
                  "item " + printable(item.id) + ": a box has less than one pixel");
    }
    boxes.push_back(*clipped);
  }
  return boxes;
}

Report build_locate(const LocateBuild& options) {
  const CocoAnnotations annotations =
      read_coco(options.annotations, *parse_box_format(options.box_format));
  std::vector<LocateExpression> expressions;
  const bool described = !options.expressions.empty();
  if (described) expressions = read_locate_expressions(options.expressions);
  LocateBuild used = options;
  used.limits.by_super_category = options.group == "super";
  const LocateItems built = make_locate_items(annotations.images, annotations.objects,
                                              expressions, described, used.limits, options.seed);
  write_file_atomically(options.output, locate_items_file(built.items));
  Report report;
  report.tables.push_back(count_table(built.counts, used));
  for (const BadBox& bad : annotations.bad) {
    report.failures.push_back(
        {"annotation " + std::to_string(bad.object_id), bad.file_name, bad.reason});
  }
  report.notes.push_back(fmt::format("{} items of {} groups in {}", built.items.size(),
                                     built.counts.groups, options.output.string()));
  if (!described && !built.items.empty()) {
    report.notes.push_back("no --expressions: the items have no questions yet");
  }
  const LocateLimits standard;
  if (used.limits.min_side < standard.min_side ||
      used.limits.max_overlap > standard.max_overlap) {
    report.warnings.push_back(
        "the limits are looser than LocateBench's (75 px, 10 px): not comparable with its "
        "numbers");
  }
  report.provenance = {{"annotations", options.annotations.string()},
                       {"box_format", options.box_format},
                       {"group", options.group},
                       {"seed", std::to_string(options.seed)}};
  return report;
}

Report draw_locate(const LocateDraw& options) {
  const std::vector<LocateItem> items = read_locate_items(options.items);
  std::vector<LocateFormat> formats;
  for (const std::string& name : options.formats) formats.push_back(*parse_locate_format(name));
  std::sort(formats.begin(), formats.end());
  formats.erase(std::unique(formats.begin(), formats.end()), formats.end());
  Report report;
  std::string prompts;
  std::int64_t drawn = 0, lines = 0;
  std::set<std::string> names;
  for (const LocateItem& item : items) {
    try {
      if (item.question.empty() || item.yes_no.empty()) {
        throw Error(ErrorKind::input, "the item has no question");
      }
      const std::string stem = safe_file_name(item.id);
      if (!names.insert(stem).second) {
        throw Error(ErrorKind::input, "another item's pictures are called " + stem + " too");
      }
      const RgbImage picture = load_locate_picture(item, options.images);
      const std::vector<PixelBox> boxes = pixel_boxes(item);
      for (const Drawing& drawing : drawings_of(formats)) {
        const fs::path folder = locate_format_name(drawing.format);
        const std::string tail =
            drawing.candidate < 0 ? "" : "-" + std::to_string(drawing.candidate);
        const fs::path name = folder / (stem + tail + ".png");
        make_folder(options.output / folder);
        write_file_atomically(options.output / name,
                              encode_picture(draw(picture, boxes, drawing), PictureFormat::png));
        prompts += locate_prompt_line(item, drawing.format, drawing.candidate, name.string());
        ++lines;
      }
      ++drawn;
    } catch (const Error& error) {
      report.failures.push_back({item.id, item.image, error.what()});
    }
  }
  make_folder(options.output);
  write_file_atomically(options.output / "prompts.jsonl", prompts);
  Table table;
  table.name = "locate_prompts";
  table.title = "Prompts in " + options.output.string();
  table.columns = {{"items", "items"}, {"drawn", "drawn"}, {"prompts", "prompts"}};
  table.rows.push_back({count_cell(std::ssize(items)), count_cell(drawn), count_cell(lines)});
  report.tables.push_back(std::move(table));
  report.provenance = {{"items", options.items.string()}, {"images", options.images.string()}};
  return report;
}

Report score_locate_files(const LocateScore& options) {
  const std::vector<LocateItem> items = read_locate_items(options.items);
  std::vector<LocateResponse> responses;
  for (const fs::path& path : options.responses) {
    const std::vector<LocateResponse> part = read_locate_responses(path);
    responses.insert(responses.end(), part.begin(), part.end());
  }
  const std::vector<LocateRun> runs = score_locate(items, responses);
  Report report;
  report.tables = {locate_accuracy_table(runs), locate_detail_table(runs)};
  for (const bool by_format : {true, false}) {
    for (Table& table : locate_venn_tables(runs, by_format)) {
      report.tables.push_back(std::move(table));
    }
  }
  for (const LocateRun& run : runs) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (run.outcomes[i] != LocateOutcome::missing) continue;
      report.failures.push_back(
          {items[i].id, items[i].image,
           fmt::format("no response of {}, {}", run.model, locate_format_name(run.format))});
    }
  }
  report.notes = {"unparsed and missing answers count as wrong",
                  "intervals: Wilson, 95 %"};
  report.provenance = {{"items", options.items.string()}};
  return report;
}

}  // namespace probe
