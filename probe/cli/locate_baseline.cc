// The encoder baseline of `probe locate`: not in the paper.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "analysis/locate_answers.h"
#include "probe/cli/encoder_choice.h"
#include "probe/cli/features.h"
#include "probe/cli/locate_run.h"
#include "probe/codec/codec.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/data/locate_file.h"
#include "probe/imaging/draw_boxes.h"

namespace probe {
namespace {

RgbImage show(const RgbImage& picture, const PixelBox& box, LocateFormat prompting,
              double margin) {
  switch (prompting) {
    case LocateFormat::circle: return draw_red_ellipse(picture, box);
    case LocateFormat::blur: return blur_outside(picture, box);
    default: return crop_box(picture, box, margin);
  }
}

std::string candidate_id(const LocateItem& item, int candidate) {
  return item.id + "#" + std::to_string(candidate);
}

std::string filled(const std::string& text_template, const std::string& expression) {
  const std::size_t at = text_template.find("{}");
  if (at == std::string::npos) {
    throw Error(ErrorKind::usage, "--template: expected {} where the expression goes");
  }
  return text_template.substr(0, at) + expression + text_template.substr(at + 2);
}

}  // namespace

Report run_locate_baseline(const LocateBaseline& options) {
  filled(options.text_template, "");  // checked before the long work
  FeatureSource source(choose_encoder(options.encoder, options.quiet), options.encoder, false,
                       cache_place(options.no_cache), options.quiet);
  const LocateFormat prompting = *parse_locate_format(options.prompting);
  Report report;
  const std::vector<LocateItem> all = read_locate_items(options.items);
  std::vector<LocateItem> items;  // those that can be used
  std::vector<Item> pictures;
  std::vector<std::string> texts;
  for (const LocateItem& item : all) {
    try {
      if (item.expression.empty()) throw Error(ErrorKind::input, "the item has no expression");
      const RgbImage picture = load_locate_picture(item, options.images);
      const std::vector<PixelBox> boxes = pixel_boxes(item);
      for (int c = 0; c < kLocateCandidates; ++c) {
        Item shown;
        shown.id = candidate_id(item, c);
        shown.image_bytes = encode_picture(
            show(picture, boxes[c], prompting, options.margin), PictureFormat::png);
        pictures.push_back(std::move(shown));
      }
    } catch (const Error& error) {
      report.failures.push_back({item.id, item.image, error.what()});
      continue;
    }
    texts.push_back(filled(options.text_template, item.expression));
    items.push_back(item);
  }
  if (items.empty()) {
    throw Error(ErrorKind::input, options.items.string() + ": no item can be used" +
                                      (report.failures.empty()
                                           ? std::string()
                                           : ": " + report.failures[0].reason));
  }
  const EmbeddingSet set = source.embed_items(pictures, false, report.failures);
  const RowMatrix shown = unit_rows(set.embedding);
  const RowMatrix asked = unit_rows(source.embed_texts(texts, report.warnings));
  std::map<std::string, Eigen::Index> rows;
  for (std::size_t r = 0; r < set.items.id.size(); ++r) {
    rows.emplace(set.items.id[r], static_cast<Eigen::Index>(r));
  }
  std::vector<LocateResponse> responses;
  std::int64_t ties = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    int best = -1, equal = 0;
    float most = 0.0F;
    bool complete = true;
    for (int c = 0; c < kLocateCandidates; ++c) {
      const auto row = rows.find(candidate_id(items[i], c));
      if (row == rows.end()) {
        complete = false;  // listed by embed_items
        break;
      }
      const float cosine = shown.row(row->second).dot(asked.row(static_cast<Eigen::Index>(i)));
      if (best < 0 || cosine > most) {
        most = cosine, best = c, equal = 0;
      } else if (cosine == most) {
        ++equal;
      }
    }
    if (!complete) continue;
    ties += equal > 0 ? 1 : 0;
    responses.push_back({"", source.spec().name, items[i].id, prompting, -1,
                         std::string(1, static_cast<char>('A' + best))});
  }
  if (!options.output.empty()) {
    write_file_atomically(options.output, locate_responses_file(responses));
  }
  const std::vector<LocateRun> runs = score_locate(all, responses);
  report.tables = {locate_accuracy_table(runs)};
  report.notes = {fmt::format("{}, text template \"{}\"; the candidate of the highest cosine; "
                              "ties go to the first ({} ties)",
                              options.prompting == "crop"
                                  ? fmt::format("crop with a margin of {:g}", options.margin)
                                  : options.prompting,
                              options.text_template, ties)};
  report.provenance = {{"items", options.items.string()},
                       {"encoder", source.spec().name},
                       {"bundle_sha256", source.spec().bundle_sha256},
                       {"prompting", options.prompting},
                       {"margin", fmt::format("{:g}", options.margin)},
                       {"template", options.text_template}};
  return report;
}

}  // namespace probe
