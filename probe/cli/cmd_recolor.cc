// probe recolor.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "probe/cli/commands.h"
#include "probe/cli/output.h"
#include "probe/cli/progress.h"
#include "probe/cli/recolor_run.h"
#include "probe/cli/twin_manifest.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/image_file.h"
#include "probe/data/manifest.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

struct RecolorArguments {
  fs::path data, folder, colors, review, boxes, sheet;
  std::string color, box;
  RecolorSettings settings;
  int sheet_side = 150, sheet_row = 3, sheet_page = 48;
  bool allow_outside = false, twins_only = false;
  OutputOptions output;
};

void make_folder(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) throw Error(ErrorKind::io, folder.string() + ": cannot create: " + code.message());
}

const char* extension_of(const std::string& bytes) {
  switch (read_image_header(bytes).format) {
    case ImageFormat::jpeg:
      return ".jpg";
    case ImageFormat::webp:
      return ".webp";
    case ImageFormat::bmp:
      return ".bmp";
    case ImageFormat::tiff:
      return ".tif";
    default:
      return ".png";
  }
}

// Pictures that stand in a table's cells get files of their own, for the manifest to name.
void write_inline_images(Dataset& dataset, const fs::path& folder) {
  for (Item& item : dataset.items) {
    if (item.image_bytes.empty()) continue;
    const fs::path path = folder / "originals" / safe_file_name(item.category) /
                          (safe_file_name(item.id) + extension_of(item.image_bytes));
    make_folder(path.parent_path());
    write_file_atomically(path, item.image_bytes);
    item.image = path;
    item.image_bytes.clear();
  }
}

// sheet.jpg, or sheet-1.jpg, sheet-2.jpg, ... if there is more than one page.
int write_sheets(const std::vector<SheetEntry>& entries, const RecolorArguments& arguments) {
  const std::size_t page = arguments.sheet_page == 0
                               ? entries.size()
                               : static_cast<std::size_t>(arguments.sheet_page);
  int pages = 0;
  for (std::size_t first = 0; first < entries.size(); first += page) {
    fs::path path = arguments.sheet;
    if (entries.size() > page) {
      path.replace_filename(
          fmt::format("{}-{}{}", path.stem().string(), pages + 1, path.extension().string()));
    }
    const auto part = std::span(entries).subspan(first, std::min(page, entries.size() - first));
    write_image(draw_sheet(part, arguments.sheet_side, arguments.sheet_row), path);
    ++pages;
  }
  return pages;
}

std::string synthetic_note(const std::string& command_line) {
  return "# Synthetic images\n\n"
         "The pictures under `modified/` are not photos. `probe recolor` made each from the\n"
         "photo that its line in `items.jsonl` names as `original_id`, by giving the object\n"
         "the colour in `attribute`; shape and background are the photo's. Each JPEG says so\n"
         "in its comment. The licences of the photos apply to them too.\n\n"
         "Made with: `" +
         command_line + "`\n";
}

Table summary_table(const RecolorResult& result, const std::map<std::string, Verdict>& verdicts,
                    std::size_t originals) {
  std::int64_t accepted = 0, open = 0;
  for (const TwinResult& twin : result.twins) {
    const auto it = verdicts.find(twin.twin.id);
    const bool yes = it != verdicts.end() && it->second == Verdict::accept;
    (yes ? accepted : open) += 1;
  }
  const auto rejected = static_cast<std::int64_t>(result.rejected.size());
  Table table;
  table.name = "summary";
  table.title = "Recoloured images";
  table.columns = {{"originals", "originals"},
                   {"twins", "twins"},
                   {"dropped", "dropped"},
                   {"rejected", "rejected"},
                   {"accepted", "accepted"},
                   {"open", "not reviewed"},
                   {"acceptance", "accepted of reviewed %"}};
  table.rows.push_back(
      {count_cell(static_cast<std::int64_t>(originals)), count_cell(std::ssize(result.twins)),
       count_cell(std::ssize(result.failures)), count_cell(rejected), count_cell(accepted),
       count_cell(open),
       accepted + rejected == 0 ? unknown_cell()
                                : accuracy_cell({accepted, accepted + rejected})});
  return table;
}

Table count_table(const char* name, const char* title, const char* what,
                  const std::map<std::string, std::int64_t>& counts) {
  Table table;
  table.name = name;
  table.title = title;
  table.columns = {{what, what}, {"twins", "twins"}};
  for (const auto& [key, count] : counts) {
    table.rows.push_back({text_cell(key), count_cell(count)});
  }
  return table;
}

Table twin_table(const RecolorResult& result) {
  Table table;
  table.name = "twins";
  table.title = "Every twin";
  table.columns = {{"id", "id"},
                   {"original_id", "original"},
                   {"category", "category"},
                   {"color", "colour"},
                   {"mask", "mask"},
                   {"mask_fraction", "share"},
                   {"border", "at border"},
                   {"compactness", "compactness"},
                   {"hue_error", "hue error"},
                   {"color_distance", "distance"},
                   {"start_distance", "before"},
                   {"change", "change"}};
  for (const TwinResult& twin : result.twins) {
    const RecolorQuality& quality = twin.quality;
    table.rows.push_back(
        {text_cell(twin.twin.id), text_cell(twin.twin.original_id),
         text_cell(twin.twin.category), text_cell(twin.twin.attribute),
         text_cell(mask_method_name(twin.method)), number_cell(quality.mask_fraction, 3),
         number_cell(twin.mask.border, 3), number_cell(twin.mask.compactness, 3),
         number_cell(quality.hue_error, 1), number_cell(quality.color_distance, 3),
         number_cell(quality.start_distance, 3), number_cell(quality.change, 3)});
  }
  table.note = "hue error in degrees; distances in OKLab, where black to white is 1";
  return table;
}

Report make_report(const RecolorArguments& arguments, const RecolorResult& result,
                   const std::map<std::string, Verdict>& verdicts, std::size_t originals) {
  Report report;
  report.command = "recolor";
  report.failures = result.failures;
  report.tables.push_back(summary_table(result, verdicts, originals));
  std::map<std::string, std::int64_t> categories, colors;
  for (const TwinResult& twin : result.twins) {
    ++categories[twin.twin.category];
    ++colors[twin.twin.attribute];
  }
  report.tables.push_back(
      count_table("categories", "Twins of each category", "category", categories));
  report.tables.push_back(count_table("colors", "Twins of each colour", "color", colors));
  // 12 columns and a row for each picture: for files and machines.
  if (arguments.output.json || arguments.output.format != "text" ||
      !arguments.output.tables_dir.empty()) {
    report.tables.push_back(twin_table(result));
  }
  const QualityLimits& limits = arguments.settings.limits;
  report.provenance = {
      {"data", arguments.data.string()},
      {"folder", arguments.folder.string()},
      {"colors", arguments.color.empty() ? arguments.colors.string() : arguments.color},
      {"seed", std::to_string(arguments.settings.seed)},
      {"jpeg_quality", std::to_string(arguments.settings.jpeg_quality)},
      {"limits", fmt::format("mask {} to {} of the picture, hue error {} degrees, distance {}, "
                             "change {}",
                             limits.min_area, limits.max_area, limits.max_hue_error,
                             limits.max_color_distance, limits.min_change)}};
  report.notes = {"the twins are synthetic: see SYNTHETIC.md in " + arguments.folder.string()};
  std::set<std::string> known;
  for (const TwinResult& twin : result.twins) known.insert(twin.twin.id);
  known.insert(result.rejected.begin(), result.rejected.end());
  const auto stale = std::count_if(verdicts.begin(), verdicts.end(), [&](const auto& entry) {
    return known.count(entry.first) == 0;
  });
  if (stale > 0) {
    report.warnings.push_back(fmt::format(
        "{} verdicts of {} are about pictures that this run did not make (another seed, "
        "colour or limit?)",
        stale, arguments.review.string()));
  }
  return report;
}

Report run_recolor(RecolorArguments arguments, const std::string& command_line) {
  RecolorSettings& settings = arguments.settings;
  if (arguments.color.empty() == arguments.colors.empty()) {
    throw Error(ErrorKind::usage, "expected either --colors TABLE or --color NAME");
  }
  if (!arguments.color.empty()) settings.only_color = require_color(arguments.color);
  if (!arguments.box.empty()) settings.box = parse_box(arguments.box);
  if (!arguments.colors.empty()) settings.colors = read_color_table(arguments.colors);
  if (!arguments.boxes.empty()) settings.boxes = read_boxes(arguments.boxes);
  std::map<std::string, Verdict> verdicts;
  if (!arguments.review.empty()) verdicts = read_verdicts(arguments.review);

  DatasetOptions reading;
  reading.allow_outside = arguments.allow_outside;
  reading.without_questions = true;  // they may speak of twins that go or come
  Dataset dataset = read_dataset(arguments.data, reading);
  make_folder(arguments.folder);
  write_inline_images(dataset, arguments.folder);
  std::vector<Item> originals;
  std::copy_if(dataset.items.begin(), dataset.items.end(), std::back_inserter(originals),
               [](const Item& item) { return item.condition == kOriginal; });
  if (originals.empty()) {
    throw Error(ErrorKind::input, arguments.data.string() +
                                      ": expected items of condition \"original\", got none");
  }
  settings.folder = arguments.folder;
  settings.sheet_side = arguments.sheet.empty() ? 0 : arguments.sheet_side;
  settings.quiet = arguments.output.quiet;
  const RecolorResult result = recolor_items(originals, settings, verdicts);

  std::vector<Twin> twins;
  for (const TwinResult& twin : result.twins) twins.push_back(twin.twin);
  const MergedManifest merged =
      merge_manifest(dataset, twins, arguments.folder, arguments.twins_only);
  if (merged.text.empty()) {
    throw Error(ErrorKind::input,
                "no twin was made: " +
                    (result.failures.empty()
                         ? std::string("all are rejected")
                         : result.failures.front().id + ": " + result.failures.front().reason));
  }
  write_file_atomically(arguments.folder / "SYNTHETIC.md", synthetic_note(command_line));
  write_file_atomically(arguments.folder / "items.jsonl", merged.text);
  std::error_code code;
  for (const fs::path& gone : merged.gone) fs::remove(arguments.folder / gone, code);

  Report report = make_report(arguments, result, verdicts, originals.size());
  report.notes.push_back("manifest: " + (arguments.folder / "items.jsonl").string());
  if (merged.outside > 0) {
    report.notes.push_back(
        fmt::format("{} images lie outside {}: read the manifest with --allow-outside",
                    merged.outside, arguments.folder.string()));
  }
  if (!arguments.sheet.empty() && !result.sheet.empty()) {
    const int pages = write_sheets(result.sheet, arguments);
    report.notes.push_back(
        fmt::format("contact sheet: {} ({} pages)", arguments.sheet.string(), pages));
  }
  if (fs::exists(arguments.folder / "questions.jsonl", code)) {
    report.notes.push_back(
        "questions.jsonl beside the manifest was not changed; make it again");
  }
  return report;
}

void add_limits(CLI::App& app, QualityLimits& limits) {
  const CLI::Range share(0.0, 1.0);
  const char* group = "Quality: what falls short is dropped and listed";
  app.add_option("--min-area,--min_area", limits.min_area, "least share of the picture")
      ->check(share)
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-area,--max_area", limits.max_area, "largest share of the picture")
      ->check(share)
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-hue-error,--max_hue_error", limits.max_hue_error,
                 "degrees between the object's new hue and the colour's")
      ->check(CLI::Range(0.0, 180.0))
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-distance,--max_distance", limits.max_color_distance,
                 "OKLab distance of the object's new mean colour to the colour")
      ->check(share)
      ->capture_default_str()
      ->group(group);
  app.add_option("--min-change,--min_change", limits.min_change,
                 "OKLab distance between new and old object")
      ->check(share)
      ->capture_default_str()
      ->group(group);
}

}  // namespace

Command add_recolor(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<RecolorArguments>();
  RecolorArguments& o = *options;
  app.add_option("DATA", o.data, "dataset (folder, .jsonl, .tsv, .csv); its originals are used")
      ->required();
  app.add_option("-o,--output", o.folder, "folder for modified/, items.jsonl and SYNTHETIC.md")
      ->required()
      ->type_name("DIR");
  app.add_option("--colors", o.colors, "CSV: category, then its colours (NEMO's Table A)")
      ->type_name("FILE");
  app.add_option("--color", o.color, "one colour for all, e.g. \"deep purple\"")
      ->type_name("NAME");
  app.add_option("--per-item,--per_item", o.settings.per_item, "twins of each original")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--seed", o.settings.seed, "which colours an original gets")
      ->capture_default_str();
  app.add_option("--min-difference,--min_difference", o.settings.min_difference,
                 "colours nearer than this to the object's own are passed over (OKLab, "
                 "lightness counts a third)")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--box", o.box, "the object of every picture lies in x,y,width,height")
      ->type_name("BOX");
  app.add_option("--boxes", o.boxes, "CSV with columns id, x, y, width, height, for some items")
      ->type_name("FILE");
  app.add_option("--review", o.review,
                 "verdicts, CSV or JSON Lines: id of the twin, verdict (accept, reject)")
      ->type_name("FILE");
  app.add_option("--sheet", o.sheet, "contact sheet for review, .jpg or .png")
      ->type_name("FILE");
  app.add_option("--sheet-side,--sheet_side", o.sheet_side, "pixels of a picture on the sheet")
      ->check(CLI::Range(16, 1024))
      ->capture_default_str();
  app.add_option("--sheet-row,--sheet_row", o.sheet_row, "twins in a row")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--sheet-page,--sheet_page", o.sheet_page, "twins on a page (0: all on one)")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  app.add_option("--jpeg-quality,--jpeg_quality", o.settings.jpeg_quality, "of the twins")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_flag("--twins-only,--twins_only", o.twins_only,
               "leave the originals out of the manifest");
  app.add_flag("--allow-outside,--allow_outside", o.allow_outside,
               "the dataset may name images outside its own folder");
  app.add_flag("--fail-fast,--fail_fast", o.settings.fail_fast,
               "stop at the first item that fails");
  add_limits(app, o.settings.limits);
  add_output_options(app, o.output);
  add_examples(app,
               {"probe recolor photos -o recolored --colors demo/table_a.csv --sheet sheet.jpg",
                "probe recolor photos -o recolored --colors demo/table_a.csv --review verdicts.csv",
                "probe recolor photos -o purple --color \"deep purple\" --twins-only"});
  return [options, command_line] {
    return show_report(run_recolor(*options, command_line), options->output);
  };
}

}  // namespace probe
