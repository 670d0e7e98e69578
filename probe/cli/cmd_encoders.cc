// probe encoders (and encoders pull), probe info, probe verify.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "encoders/bundle_search.h"
#include "probe/cli/commands.h"
#include "probe/cli/common_options.h"
#include "probe/cli/encoder_choice.h"
#include "probe/cli/output.h"
#include "probe/cli/pull_encoder.h"
#include "probe/cli/verify_bundle.h"
#include "probe/core/error.h"

namespace probe {
namespace {

struct EncodersOptions {
  std::filesystem::path encoder_dir;
  OutputOptions output;
};

struct InfoOptions {
  EncoderArguments encoder;
  OutputOptions output;
};

Report run_encoders(const EncodersOptions& options) {
  Report report;
  report.command = "encoders";
  Table table;
  table.name = "encoders";
  table.title = "Encoder bundles";
  table.columns = {{"name", "name"},           {"architecture", "architecture"},
                   {"size", "pixels"},         {"embedding_dim", "d"},
                   {"text", "text tower"},     {"megabytes", "MB"},
                   {"bundle_sha256", "bundle"}, {"folder", "folder"}};
  const auto folders = bundle_folders(options.encoder_dir);
  for (const BundleEntry& entry : list_bundles(folders)) {
    try {
      const EncoderSpec spec = read_spec(entry.folder);
      std::uint64_t bytes = 0;
      for (const auto& [name, file] : spec.files) bytes += file.bytes;
      table.rows.push_back({text_cell(entry.name), text_cell(spec.architecture),
                            count_cell(spec.image.size), count_cell(spec.embedding_dim),
                            text_cell(spec.text ? "yes" : "no"),
                            number_cell(static_cast<double>(bytes) / 1e6, 1),
                            text_cell(options.output.json ? spec.bundle_sha256
                                                          : spec.bundle_sha256.substr(0, 12)),
                            text_cell(entry.folder.string())});
    } catch (const Error& error) {
      report.failures.push_back({entry.name, entry.folder.string(), error.what()});
    }
  }
  std::string searched;
  for (const auto& folder : folders) searched += (searched.empty() ? "" : ", ") + folder.string();
  report.notes.push_back("searched: " + (searched.empty() ? "no folder exists" : searched));
  report.tables.push_back(std::move(table));
  return report;
}

std::string resize_words(const ImageSpec& image) {
  const char* filter = image.interpolation == Interpolation::bicubic ? "bicubic" : "bilinear";
  switch (image.resize) {
    case ResizeRule::shortest:
      return fmt::format("short side to {}, {}, antialiased", image.resize_to, filter);
    case ResizeRule::squash:
      return fmt::format("squash to {0} x {0}, {1}, antialiased", image.resize_to, filter);
    case ResizeRule::pad:
      return fmt::format("long side to {}, padded, {}, antialiased", image.resize_to, filter);
  }
  return "";
}

Report run_info(const InfoOptions& options) {
  const EncoderSpec spec = choose_encoder(options.encoder, true);
  Report report;
  report.command = "info";
  report.provenance = {{"folder", spec.folder.string()}};
  Table facts;
  facts.name = "encoder";
  facts.title = spec.name + (spec.description.empty() ? "" : ": " + spec.description);
  facts.columns = {{"field", "field"}, {"value", "value"}};
  const auto add = [&](const std::string& field, const std::string& value) {
    facts.rows.push_back({text_cell(field), value.empty() ? unknown_cell() : text_cell(value)});
  };
  const ImageSpec& image = spec.image;
  add("family", spec.family);
  add("architecture", spec.architecture);
  add("bundle sha256", spec.bundle_sha256);
  add("folder", spec.folder.string());
  add("licence", spec.licence);
  for (const auto& [field, value] : spec.source) add("source " + field, value);
  add("stored dtype", spec.stored_dtype);
  add("embedding width", spec.embedding_dim > 0 ? std::to_string(spec.embedding_dim) : "none");
  add("image size", fmt::format("{0} x {0}", image.size));
  add("resize", resize_words(image));
  add("crop", image.crop == CropRule::none
                  ? "none"
                  : fmt::format("centre, start rounded {}",
                                image.crop_rounding == CropRounding::floor ? "down"
                                                                          : "half to even"));
  add("mean", fmt::format("{}, {}, {}", image.mean[0], image.mean[1], image.mean[2]));
  add("std", fmt::format("{}, {}, {}", image.std[0], image.std[1], image.std[2]));
  if (spec.text) {
    add("tokenizer",
        spec.text->tokenizer.type == TokenizerType::clip_bpe ? "CLIP BPE" : "SentencePiece");
    add("context length", std::to_string(spec.text->context_length));
    add("known token ids", spec.text->known_ids_file.empty() ? "all" : spec.text->known_ids_file);
  } else {
    add("text tower", "none");
  }
  add("logit scale", spec.logit_scale_log ? fmt::format("{:.4f} (stored as logarithm {:.4f})",
                                                        std::exp(*spec.logit_scale_log),
                                                        *spec.logit_scale_log)
                                          : "");
  add("logit bias", spec.logit_bias ? fmt::format("{:.4f}", *spec.logit_bias) : "none");
  add("probability", spec.probability == ProbabilityRule::softmax ? "softmax" : "sigmoid");
  for (const std::string& words : spec.templates) add("template", words);
  report.tables.push_back(std::move(facts));

  Table layers;
  layers.name = "layers";
  layers.title = "Layers (* is the one that match pools)";
  layers.columns = {{"name", "name"},
                    {"tokens", "tokens"},
                    {"width", "width"},
                    {"prefix_tokens", "CLS and registers"},
                    {"post_norm", "after the final norm"}};
  for (const LayerSpec& layer : spec.layers) {
    layers.rows.push_back({text_cell(layer.name + (layer.name == spec.match_layer ? " *" : "")),
                           count_cell(layer.tokens), count_cell(layer.width),
                           count_cell(layer.prefix_tokens),
                           text_cell(layer.post_norm ? "yes" : "no")});
  }
  report.tables.push_back(std::move(layers));
  return report;
}

void add_name(CLI::App& app, EncoderArguments& encoder) {
  app.add_option("ENCODER", encoder.encoder, "name of a bundle, or its folder")
      ->capture_default_str();
}

CLI::App* add_pull(CLI::App& app, PullOptions& options, OutputOptions& output) {
  CLI::App* pull = app.add_subcommand(
      "pull", "export an encoder from the Hugging Face hub, open_clip or a folder (needs the "
              "Python package in encoders/export)");
  pull->add_option("NAME", options.model,
                   "clip, siglip, clip-h, eva, a hub id (owner/name[@revision]), "
                   "open_clip:ARCHITECTURE/TAG, or a folder with a checkpoint")
      ->required();
  pull->add_option("--as", options.name, "name of the bundle (default: from NAME)");
  pull->add_option("--encoder-dir,--encoder_dir", options.encoder_dir,
                   "where to put it (default: ~/.cache/probe/encoders)")
      ->type_name("DIR");
  pull->add_option("--dtype", options.dtype, "how the weights are stored: float32 or float16")
      ->check(CLI::IsMember({"float32", "float16"}))
      ->capture_default_str();
  pull->add_option("--layers", options.layers,
                   "token outputs, e.g. --layers=-1,-2,post (default: per family)");
  pull->add_option("--python", options.python,
                   "Python with probe-export (default: PROBE_PYTHON, then the checkout's "
                   ".venv-export or .venv-open-clip, then python3)");
  pull->add_flag("--force", options.force, "replace a bundle of that name");
  add_output_options(*pull, output);
  add_examples(*pull, {"probe encoders pull siglip",
                       "probe encoders pull google/siglip-base-patch16-224 --dtype float16",
                       "probe encoders pull ./llava-next-8b --as llava-next --layers=-2"});
  return pull;
}

}  // namespace

Command add_encoders(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<EncodersOptions>();
  add_encoder_dir_option(app, options->encoder_dir);
  add_output_options(app, options->output);
  add_examples(app, {"probe encoders", "probe encoders --encoder-dir ~/bundles --json",
                     "probe encoders pull siglip"});
  auto pull_options = std::make_shared<PullOptions>();
  CLI::App* pull = add_pull(app, *pull_options, options->output);
  return [=] {
    if (!pull->parsed()) return show_report(run_encoders(*options), options->output);
    if (pull_options->encoder_dir.empty()) pull_options->encoder_dir = options->encoder_dir;
    pull_options->quiet = options->output.quiet;
    Report report = pull_encoder(*pull_options);
    report.provenance["command_line"] = command_line;
    return show_report(report, options->output);
  };
}

Command add_info(CLI::App& app, const std::string&) {
  auto options = std::make_shared<InfoOptions>();
  add_name(app, options->encoder);
  add_encoder_dir_option(app, options->encoder.encoder_dir);
  add_output_options(app, options->output);
  add_examples(app, {"probe info demo", "probe info ~/bundles/siglip --json"});
  return [options] { return show_report(run_info(*options), options->output); };
}

Command add_verify(CLI::App& app, const std::string&) {
  auto options = std::make_shared<InfoOptions>();
  add_name(app, options->encoder);
  add_encoder_dir_option(app, options->encoder.encoder_dir);
  add_runtime_options(app, options->encoder);
  add_output_options(app, options->output);
  add_examples(app, {"probe verify demo", "probe verify siglip --dtype bfloat16"});
  return [options] {
    const EncoderSpec spec = choose_encoder(options->encoder, options->output.quiet);
    EncoderOptions runtime = encoder_options(options->encoder);
    resolve_dtype(spec, runtime, options->output.quiet);
    return show_report(verify_bundle(spec, runtime), options->output);
  };
}

}  // namespace probe
