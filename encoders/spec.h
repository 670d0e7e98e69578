// What a bundle says about itself (encoders/BUNDLE.md), parsed and validated.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace probe {

enum class ResizeRule { shortest, squash, pad };
enum class CropRule { none, center };
enum class CropRounding { half_even, floor };
enum class Interpolation { bilinear, bicubic };

// How an image becomes pixels of the tower's size.
struct ImageSpec {
  int size = 0;                     // side of the tower's input, pixels
  ResizeRule resize = ResizeRule::shortest;
  int resize_to = 0;                // see ResizeRule in BUNDLE.md
  Interpolation interpolation = Interpolation::bicubic;
  CropRule crop = CropRule::center;
  CropRounding crop_rounding = CropRounding::half_even;
  std::array<std::uint8_t, 3> fill{};  // only with ResizeRule::pad
  std::array<float, 3> mean{}, std{};  // of levels scaled to 0..1
};

// One set of tokens that the image tower returns.
struct LayerSpec {
  std::string name;       // "last", "-2", ...
  int tokens = 0;         // t, prefix tokens included
  int width = 0;          // w
  int prefix_tokens = 0;  // leading tokens that are not patches (CLS, registers)
  bool post_norm = false;
};

enum class TokenizerType { clip_bpe, sentencepiece };

struct TokenizerSpec {
  TokenizerType type = TokenizerType::clip_bpe;
  std::string file;                // in the bundle
  bool lowercase = true;
  bool clean_ftfy = true;          // repair, HTML unescape twice, collapse whitespace
  bool canonicalize_siglip = false;
  std::int64_t start_id = -1;      // -1: none
  std::int64_t end_id = 0;
  std::int64_t pad_id = 0;
};

struct TextSpec {
  std::string file;
  int context_length = 0;  // c
  TokenizerSpec tokenizer;
  std::string known_ids_file;  // empty: every id is known
};

enum class ProbabilityRule { softmax, sigmoid };

struct BundleFile {
  std::string sha256;
  std::uint64_t bytes = 0;
};

struct EncoderSpec {
  std::filesystem::path folder;
  std::string bundle_sha256;  // of encoder.json: the identity of the whole bundle
  std::string name, family, architecture, description, licence, stored_dtype;
  std::map<std::string, std::string> source;  // checkpoint, revision, weights_sha256, ...
  int embedding_dim = 0;  // d; 0: the tower has no embedding
  int patch = 0;
  std::string image_file;
  ImageSpec image;
  std::vector<LayerSpec> layers;  // in the order in which the tower returns them
  std::string match_layer;
  std::optional<TextSpec> text;   // nullopt: vision-only tower
  std::optional<double> logit_scale_log, logit_bias;
  ProbabilityRule probability = ProbabilityRule::softmax;
  std::vector<std::string> templates;
  std::map<std::string, BundleFile> files;
  std::string golden_file;
};

// Reads and validates <folder>/encoder.json; touches no other file.
// Throws Error(model): path, field, what was required, what came.
EncoderSpec read_spec(const std::filesystem::path& folder);

// The layer called `name`, or the match layer if `name` is empty.
// Throws Error(usage) that lists the layers the bundle has.
const LayerSpec& find_layer(const EncoderSpec& spec, const std::string& name);

// Checks size and SHA-256 of every file named in `spec.files`.
// Throws Error(model) at the first that differs, is missing, or is a Git LFS pointer.
void verify_files(const EncoderSpec& spec);

// One line of JSON that fixes the preprocessing, for provenance and cache keys.
std::string preprocessing_json(const ImageSpec& image);

}  // namespace probe
