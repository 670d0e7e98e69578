// probe locate.
#include <CLI/CLI.hpp>
#include <memory>

#include "probe/cli/commands.h"
#include "probe/cli/locate_run.h"
#include "probe/cli/output.h"
#include "probe/core/error.h"

namespace probe {
namespace {

struct LocateOptions {
  LocateBuild build;
  LocateDraw draw;
  LocateScore score;
  LocateBaseline baseline;
  OutputOptions output;
};

CLI::App* add_build(CLI::App& app, LocateBuild& options) {
  CLI::App* command = app.add_subcommand("build", "make items from COCO-format annotations");
  command->add_option("ANNOTATIONS", options.annotations, "instances.json")->required();
  command
      ->add_option("--expressions", options.expressions,
                   "JSON Lines: annotation_id, expression, question, yes_no; only described "
                   "objects become answers")
      ->type_name("FILE");
  command->add_option("-o,--output", options.output, "items to write, JSON Lines")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--box-format,--box_format", options.box_format,
                   "x, y, width, height; or left, top, right, bottom; or these as shares of "
                   "the picture's size")
      ->check(CLI::IsMember({"xywh", "xyxy", "normalized"}))
      ->capture_default_str();
  command->add_option("--group", options.group, "what candidates have in common")
      ->check(CLI::IsMember({"super", "category"}))
      ->capture_default_str();
  command->add_option("--min-side,--min_side", options.limits.min_side, "pixels")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--max-overlap,--max_overlap", options.limits.max_overlap, "pixels")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--seed", options.seed, "of the other candidates and of the order")
      ->capture_default_str();
  return command;
}

CLI::App* add_draw(CLI::App& app, LocateDraw& options) {
  CLI::App* command = app.add_subcommand("draw", "write the prompts: pictures and text");
  command->add_option("ITEMS", options.items, "items of `build`")->required();
  command->add_option("--images", options.images, "folder of the photos")
      ->required()
      ->type_name("DIR");
  command->add_option("-o,--output", options.output, "folder to write into")
      ->required()
      ->type_name("DIR");
  command->add_option("--prompt", options.formats, "which prompts")
      ->check(CLI::IsMember({"letters", "colors", "coordinates", "one_by_one"}))
      ->capture_default_str();
  return command;
}

CLI::App* add_score(CLI::App& app, LocateScore& options) {
  CLI::App* command = app.add_subcommand("score", "score saved responses");
  command->add_option("ITEMS", options.items, "items of `build`")->required();
  command
      ->add_option("--responses", options.responses,
                   "JSON Lines: model, item_id, format, candidate, response")
      ->required()
      ->type_name("FILE");
  return command;
}

CLI::App* add_baseline(CLI::App& app, LocateBaseline& options) {
  CLI::App* command =
      app.add_subcommand("baseline", "let an encoder choose, by image-text similarity");
  command->add_option("ITEMS", options.items, "items of `build`")->required();
  command->add_option("--images", options.images, "folder of the photos")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("-o,--output", options.output, "also write the choices as responses for "
                                                  "`score`")
      ->type_name("FILE");
  command
      ->add_option("--prompting", options.prompting,
                   "show a candidate as a crop, by a red circle, or by blurring the rest")
      ->check(CLI::IsMember({"crop", "circle", "blur"}))
      ->capture_default_str();
  command
      ->add_option("--margin", options.margin,
                   "crop: added on each side, as a share of the box's width and height")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  command->add_option("--template", options.text_template, "text; {} is the expression")
      ->capture_default_str();
  command->add_flag("--no-cache,--no_cache", options.no_cache,
                    "neither read nor write ~/.cache/probe/embeddings");
  add_encoder_options(*command, options.encoder);
  return command;
}

}  // namespace

Command add_locate(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<LocateOptions>();
  options->baseline.encoder.command_line = command_line;
  app.require_subcommand(1);
  CLI::App* build = add_build(app, options->build);
  CLI::App* draw = add_draw(app, options->draw);
  CLI::App* score = add_score(app, options->score);
  CLI::App* baseline = add_baseline(app, options->baseline);
  for (CLI::App* command : {build, draw, score, baseline}) {
    add_output_options(*command, options->output);
  }
  add_examples(app, {"probe locate build instances.json --expressions expressions.jsonl "
                     "-o items.jsonl",
                     "probe locate draw items.jsonl --images photos -o prompts",
                     "probe locate baseline items.jsonl --images photos -e demo -o demo.jsonl",
                     "probe locate score items.jsonl --responses answers.jsonl demo.jsonl"});
  return [=] {
    Report report;
    if (build->parsed()) report = build_locate(options->build);
    if (draw->parsed()) report = draw_locate(options->draw);
    if (score->parsed()) report = score_locate_files(options->score);
    if (baseline->parsed()) {
      options->baseline.quiet = options->output.quiet;
      report = run_locate_baseline(options->baseline);
    }
    report.command = "locate";
    report.provenance["command_line"] = command_line;
    return show_report(report, options->output);
  };
}

}  // namespace probe
