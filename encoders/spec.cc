#include "encoders/spec.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "encoders/preprocess.h"
#include "encoders/strict_json.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/sha256.h"

namespace probe {
namespace {

constexpr const char* kSpecFile = "encoder.json";
constexpr std::size_t kMaxSpecBytes = std::size_t{16} << 20;
constexpr int kMaxSide = 4096;
constexpr const char* kLfsMark = "version https://git-lfs.github.com/spec/";
constexpr const char* kLfsAdvice = "Git LFS pointer: run git lfs pull";

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

std::string read_name(StrictObject& root) {
  const std::string name = root.text("name");
  const bool good = name.size() <= 128 && std::all_of(name.begin(), name.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
                             c == '_' || c == '-';
                    });
  if (!good) root.fail("name", "at most 128 of a-z, 0-9, '.', '_' and '-'");
  return name;
}

std::map<std::string, std::string> read_source(StrictObject source) {
  std::map<std::string, std::string> result;
  for (const char* field : {"checkpoint", "revision", "weights_sha256", "exporter", "torch"}) {
    if (const std::optional<std::string> value = source.text_or_null(field)) {
      result[field] = *value;
    }
  }
  source.finish();
  return result;
}

std::array<float, 3> to_floats(const std::vector<double>& values) {
  return {static_cast<float>(values[0]), static_cast<float>(values[1]),
          static_cast<float>(values[2])};
}

void read_resize(StrictObject resize, ImageSpec& image) {
  const std::string rule = resize.choice("rule", {"shortest", "squash", "pad"});
  image.resize = rule == "shortest" ? ResizeRule::shortest
                 : rule == "squash" ? ResizeRule::squash
                                    : ResizeRule::pad;
  image.resize_to = static_cast<int>(resize.integer("to", 1, kMaxSide));
  image.interpolation = resize.choice("interpolation", {"bicubic", "bilinear"}) == "bicubic"
                            ? Interpolation::bicubic
                            : Interpolation::bilinear;
  resize.finish();
}

void read_crop(StrictObject crop, ImageSpec& image) {
  image.crop =
      crop.choice("rule", {"center", "none"}) == "center" ? CropRule::center : CropRule::none;
  if (image.crop == CropRule::center || crop.has("rounding")) {
    image.crop_rounding = crop.choice("rounding", {"half_even", "floor"}) == "half_even"
                              ? CropRounding::half_even
                              : CropRounding::floor;
  }
  crop.finish();
}

// The result of resize and crop must be size x size, without inventing pixels.
void check_geometry(const StrictObject& object, const ImageSpec& image) {
  const std::string size = std::to_string(image.size);
  const std::string to = std::to_string(image.resize_to);
  if (image.resize == ResizeRule::shortest && image.crop == CropRule::none) {
    object.fail("crop.rule", "center after resize rule shortest", "none");
  }
  if (image.resize == ResizeRule::pad && image.crop == CropRule::center) {
    object.fail("crop.rule", "none after resize rule pad", "center");
  }
  if (image.crop == CropRule::none && image.resize_to != image.size) {
    object.fail("resize.to", "image.size " + size + " as nothing is cropped", to);
  }
  if (image.resize_to < image.size) {
    object.fail("resize.to", "at least image.size " + size, to);
  }
}

LayerSpec read_layer(StrictObject object) {
  LayerSpec layer;
  layer.name = object.text("name");
  layer.tokens = static_cast<int>(object.integer("tokens", 1, 1 << 20));
  layer.width = static_cast<int>(object.integer("width", 1, 1 << 17));
  layer.prefix_tokens = static_cast<int>(object.integer("prefix_tokens", 0, layer.tokens - 1));
  layer.post_norm = object.boolean("post_norm");
  object.finish();
  return layer;
}

void read_image(StrictObject object, EncoderSpec& spec) {
  ImageSpec& image = spec.image;
  spec.image_file = object.file_name("file");
  image.size = static_cast<int>(object.integer("size", 1, kMaxSide));
  read_resize(object.object("resize"), image);
  read_crop(object.object("crop"), image);
  check_geometry(object, image);
  if (object.has("fill")) {
    const std::vector<double> fill = object.numbers("fill", 3, 0, 255);
    if (image.resize != ResizeRule::pad) object.fail("fill", "no fill without rule pad");
    for (int c = 0; c < 3; ++c) {
      image.fill[c] = static_cast<std::uint8_t>(fill[c]);
      if (image.fill[c] != fill[c]) object.fail("fill", "3 whole numbers");
    }
  }
  image.mean = to_floats(object.numbers("mean", 3, -10, 10));
  image.std = to_floats(object.numbers("std", 3, 1e-6, 1e6));
  spec.patch = static_cast<int>(object.integer("patch", 0, image.size));
  std::set<std::string> names;
  for (const StrictObject& entry : object.objects("layers", 1, 1024)) {
    const LayerSpec layer = read_layer(entry);
    if (!names.insert(layer.name).second) {
      entry.fail("name", "a name that no other layer has", layer.name);
    }
    spec.layers.push_back(layer);
  }
  spec.match_layer = object.text("match_layer");
  if (!names.contains(spec.match_layer)) {
    object.fail("match_layer", "the name of one of image.layers");
  }
  object.finish();
}

TokenizerSpec read_tokenizer(StrictObject object) {
  constexpr std::int64_t kMostIds = std::int64_t{1} << 24;
  TokenizerSpec tokenizer;
  tokenizer.type = object.choice("type", {"clip_bpe", "sentencepiece"}) == "clip_bpe"
                       ? TokenizerType::clip_bpe
                       : TokenizerType::sentencepiece;
  tokenizer.file = object.file_name("file");
  tokenizer.lowercase = object.boolean("lowercase");
  tokenizer.clean_ftfy = object.choice("clean", {"ftfy", "none"}) == "ftfy";
  tokenizer.canonicalize_siglip = object.choice("canonicalize", {"siglip", "none"}) == "siglip";
  tokenizer.start_id = object.integer("start_id", -1, kMostIds);
  tokenizer.end_id = object.integer("end_id", 0, kMostIds);
  tokenizer.pad_id = object.integer("pad_id", 0, kMostIds);
  object.finish();
  return tokenizer;
}

TextSpec read_text(StrictObject object) {
  TextSpec text;
  text.file = object.file_name("file");
  text.context_length = static_cast<int>(object.integer("context_length", 2, 1 << 16));
  text.tokenizer = read_tokenizer(object.object("tokenizer"));
  if (object.has("known_ids_file")) text.known_ids_file = object.file_name("known_ids_file");
  object.finish();
  return text;
}

void read_logits(StrictObject object, EncoderSpec& spec) {
  spec.logit_scale_log = object.number_or_null("scale_log", -50, 50);
  spec.logit_bias = object.number_or_null("bias", -1e6, 1e6);
  spec.probability = object.choice("probability", {"softmax", "sigmoid"}) == "softmax"
                         ? ProbabilityRule::softmax
                         : ProbabilityRule::sigmoid;
  object.finish();
}

std::vector<std::string> read_templates(StrictObject& root) {
  const std::vector<std::string> templates = root.texts("templates", 1, 10000);
  for (const std::string& entry : templates) {
    if (entry.find("{}") == std::string::npos) {
      root.fail("templates", "texts with {} for the name", quoted(entry));
    }
  }
  return templates;
}

std::map<std::string, BundleFile> read_files(StrictObject object) {
  std::map<std::string, BundleFile> files;
  for (const std::string& name : object.field_names()) {
    if (!is_plain_file_name(name) || name == kSpecFile) {
      object.fail(quoted(name), "plain names of files beside encoder.json", "this name");
    }
    StrictObject entry = object.object(name);
    BundleFile file;
    file.sha256 = entry.text("sha256");
    const bool hex = file.sha256.size() == 64 &&
                     file.sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!hex) entry.fail("sha256", "64 lower-case hex digits");
    file.bytes = static_cast<std::uint64_t>(entry.integer("bytes", 0, std::int64_t{1} << 50));
    entry.finish();
    files[name] = file;
  }
  object.finish();
  return files;
}

void require_file(StrictObject& root, const EncoderSpec& spec, const std::string& name) {
  if (!spec.files.contains(name)) {
    root.fail("files", "an entry for every file that the bundle names",
              "none for " + quoted(name));
  }
}

void check_files_are_listed(StrictObject& root, const EncoderSpec& spec) {
  require_file(root, spec, spec.image_file);
  require_file(root, spec, spec.golden_file);
  if (!spec.text) return;
  require_file(root, spec, spec.text->file);
  require_file(root, spec, spec.text->tokenizer.file);
  if (!spec.text->known_ids_file.empty()) require_file(root, spec, spec.text->known_ids_file);
}

bool is_lfs_pointer(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string start(std::char_traits<char>::length(kLfsMark), '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  return stream.gcount() == static_cast<std::streamsize>(start.size()) && start == kLfsMark;
}

const char* name_of(ResizeRule rule) {
  switch (rule) {
    case ResizeRule::shortest:
      return "shortest";
    case ResizeRule::squash:
      return "squash";
    case ResizeRule::pad:
      return "pad";
  }
  return "";
}

}  // namespace

EncoderSpec read_spec(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kSpecFile;
  std::string content;
  try {
    content = read_file(path, kMaxSpecBytes);
  } catch (const Error& error) {
    throw Error(
        ErrorKind::model,
        std::string("encoder bundle: expected a folder with encoder.json: ") + error.what());
  }
  if (content.starts_with(kLfsMark)) {
    throw Error(ErrorKind::model, path.string() + ": expected JSON, got a " + kLfsAdvice);
  }
  StrictObject root = parse_strict_json(content, path);
  root.choice("format", {"probe-encoder"});
  root.integer("format_version", 1, 1);

  EncoderSpec spec;
  spec.folder = folder;
  spec.bundle_sha256 = sha256_hex(content);
  spec.name = read_name(root);
  spec.family = root.choice("family", {"clip", "siglip", "eva", "dinov2", "internvit", "demo"});
  spec.architecture = root.text("architecture");
  spec.description = root.text_or_empty("description");
  spec.source = read_source(root.object("source"));
  spec.licence = root.text("licence");
  spec.stored_dtype = root.choice("stored_dtype", {"float32", "float16", "bfloat16"});
  spec.embedding_dim = static_cast<int>(root.integer("embedding_dim", 0, 1 << 17));
  read_image(root.object("image"), spec);
  if (const std::optional<StrictObject> text = root.object_or_null("text")) {
    spec.text = read_text(*text);
    if (spec.embedding_dim == 0) {
      root.fail("embedding_dim", "at least 1 in a bundle with a text tower", "0");
    }
  }
  read_logits(root.object("logits"), spec);
  spec.templates = read_templates(root);
  spec.files = read_files(root.object("files"));
  spec.golden_file = root.file_name("golden");
  root.finish();
  check_files_are_listed(root, spec);
  return spec;
}

const LayerSpec& find_layer(const EncoderSpec& spec, const std::string& name) {
  const std::string& wanted = name.empty() ? spec.match_layer : name;
  std::string names;
  for (const LayerSpec& layer : spec.layers) {
    if (layer.name == wanted) return layer;
    names += (names.empty() ? "" : ", ") + layer.name;
  }
  throw Error(ErrorKind::usage, "layer: expected one of the layers of encoder " + spec.name +
                                    " (" + names + "), got " + wanted);
}

void verify_files(const EncoderSpec& spec) {
  for (const auto& [name, expected] : spec.files) {
    const std::filesystem::path path = spec.folder / name;
    const std::string in_list = " listed in encoder.json";
    std::error_code failure;
    if (!std::filesystem::is_regular_file(path, failure)) {
      throw Error(
          ErrorKind::model,
          path.string() + ": expected the file" + in_list + ", got " +
              (std::filesystem::exists(path, failure) ? "no regular file" : "no such file"));
    }
    const std::uintmax_t bytes = std::filesystem::file_size(path, failure);
    if (bytes != expected.bytes) {
      const std::string got = is_lfs_pointer(path) ? std::string("a ") + kLfsAdvice
                                                   : std::to_string(bytes) + " bytes";
      throw Error(ErrorKind::model, path.string() + ": expected " +
                                        std::to_string(expected.bytes) + " bytes" + in_list +
                                        ", got " + got);
    }
    const std::string hash = sha256_file(path);
    if (hash != expected.sha256) {
      throw Error(ErrorKind::model, path.string() + ": expected SHA-256 " + expected.sha256 +
                                        in_list + ", got " + hash);
    }
  }
}

std::string preprocessing_json(const ImageSpec& image) {
  nlohmann::ordered_json result;
  result["version"] = kPreprocessVersion;
  result["size"] = image.size;
  result["resize"] = name_of(image.resize);
  result["to"] = image.resize_to;
  result["interpolation"] =
      image.interpolation == Interpolation::bicubic ? "bicubic" : "bilinear";
  result["antialias"] = true;
  result["crop"] = image.crop == CropRule::center ? "center" : "none";
  if (image.crop == CropRule::center) {
    result["rounding"] = image.crop_rounding == CropRounding::half_even ? "half_even" : "floor";
  }
  if (image.resize == ResizeRule::pad) result["fill"] = image.fill;
  result["mean"] = image.mean;
  result["std"] = image.std;
  return result.dump();
}

}  // namespace probe
