#include "probe/cli/verify_bundle.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "encoders/preprocess.h"
#include "encoders/tokenizer.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/sha256.h"
#include "probe/data/image_file.h"

namespace probe {
namespace {

using Json = nlohmann::json;

// Collects the rows of the report.
struct Checks {
  Report report;
  Table table;

  void add(const std::string& what, const std::string& expected, const std::string& got,
           bool passed) {
    table.rows.push_back(
        {text_cell(what), text_cell(expected), text_cell(got), text_cell(passed ? "ok" : "DIFFERS")});
    if (!passed) {
      report.failures.push_back(
          {what, "", "self-test differs: expected " + expected + ", got " + got});
    }
  }

  void add_cosine(const std::string& what, const std::vector<float>& expected,
                  const Eigen::RowVectorXf& got, double smallest) {
    if (std::ssize(expected) != got.size()) {
      add(what, fmt::format("{} values", expected.size()), fmt::format("{} values", got.size()),
          false);
      return;
    }
    const Eigen::Map<const Eigen::RowVectorXf> wanted(expected.data(), got.size());
    const double cosine = wanted.cast<double>().normalized().dot(got.cast<double>().normalized());
    add(what, fmt::format("cosine >= {}", smallest), fmt::format("cosine {:.7f}", cosine),
        cosine >= smallest);
  }
};

void check_texts(const Json& golden, const EncoderSpec& spec, Encoder& encoder, double smallest,
                 Checks& checks) {
  const auto texts = golden.at("texts").get<std::vector<std::string>>();
  const auto ids = golden.at("ids").get<std::vector<std::vector<std::int64_t>>>();
  const auto expected = golden.at("text_embeddings").get<std::vector<std::vector<float>>>();
  if (ids.size() != texts.size() || expected.size() != texts.size()) {
    throw Error(ErrorKind::model, spec.golden_file + ": texts, ids and text_embeddings differ "
                                                     "in number");
  }
  const auto tokenizer = load_tokenizer(spec.folder, spec.text->tokenizer);
  std::vector<std::string> warnings;
  const RowMatrix embeddings = encoder.encode_texts(texts, &warnings);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<std::int64_t> found =
        fit_to_context(tokenizer->encode(texts[i]), spec.text->tokenizer,
                       spec.text->context_length, nullptr);
    const std::string name = fmt::format("text {} ", i + 1);
    checks.add(name + "token ids", fmt::format("{} ids", ids[i].size()),
               found == ids[i] ? "the same" : "others", found == ids[i]);
    checks.add_cosine(name + "embedding", expected[i],
                      embeddings.row(static_cast<Eigen::Index>(i)), smallest);
  }
}

}  // namespace

Report verify_bundle(const EncoderSpec& spec, const EncoderOptions& options) {
  Checks checks;
  checks.report.command = "verify";
  checks.report.provenance = {{"encoder", spec.name},
                              {"bundle_sha256", spec.bundle_sha256},
                              {"runtime", runtime_name(options)},
                              {"dtype", options.dtype}};
  checks.table.name = "self_test";
  checks.table.title = "Self-test of " + spec.name;
  checks.table.columns = {
      {"check", "check"}, {"expected", "expected"}, {"got", "got"}, {"result", "result"}};
  verify_files(spec);
  checks.add("files", "sha256 as in encoder.json", "the same", true);
  const std::filesystem::path path = spec.folder / spec.golden_file;
  try {
    const Json golden = Json::parse(read_file(path, 64 << 20));
    // bfloat16 keeps 8 bits: its own bar is 0.999 (PERFORMANCE.md, gates).
    const double smallest = options.dtype == "bfloat16"
                                ? std::min(0.999, golden.at("min_cosine").get<double>())
                                : golden.at("min_cosine").get<double>();
    const RgbImage fitted = fit_to_tower(
        read_image(spec.folder / golden.at("image").get<std::string>()), spec.image);
    const std::string pixels = sha256_hex(
        {reinterpret_cast<const char*>(fitted.pixels.data()), fitted.pixels.size()});
    const auto wanted = golden.at("pixels_sha256").get<std::string>();
    checks.add("pixels", "sha256 " + wanted.substr(0, 12), "sha256 " + pixels.substr(0, 12),
               pixels == wanted);
    std::vector<float> input(std::size_t{3} * spec.image.size * spec.image.size);
    normalize_pixels(fitted, spec.image, input.data());
    for (const LayerSpec& layer : spec.layers) {
      EncoderOptions one = options;
      one.layer = layer.name;
      one.include_prefix = false;
      const bool first = layer.name == spec.layers.front().name;
      const auto encoder = load_encoder(spec, one, {true, first && spec.text.has_value()});
      const ImageFeatures features = encoder->encode_images(input.data(), 1, {});
      if (first && spec.embedding_dim > 0) {
        checks.add_cosine("image embedding",
                          golden.at("image_embedding").get<std::vector<float>>(),
                          features.embedding.row(0), smallest);
      }
      checks.add_cosine("mean tokens, layer " + layer.name,
                        golden.at("tokens_mean").at(layer.name).get<std::vector<float>>(),
                        features.mean_tokens.row(0), smallest);
      if (first && spec.text) check_texts(golden, spec, *encoder, smallest, checks);
    }
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::model, path.string() + ": damaged: " + first_line(error.what()));
  }
  checks.report.tables.push_back(std::move(checks.table));
  return checks.report;
}

}  // namespace probe
