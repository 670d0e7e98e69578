// The one interface behind which every image and text encoder stands.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "encoders/spec.h"
#include "probe/core/matrix.h"

namespace probe {

// What one batch of images gives. n = images in the batch.
struct ImageFeatures {
  RowMatrix embedding;    // [n, d], raw (not normalised); [n, 0] if the tower has none
  RowMatrix mean_tokens;  // [n, w], mean over the layer's tokens, raw; see pixel_shuffle
  RowMatrix tokens;       // [n, t*w], only if asked for; else empty
};

// Rows and columns of the square grid that the patches of one picture form.
struct PatchWindow {
  int top = 0, left = 0, height = 0, width = 0;
  int count() const { return height * width; }
};

struct EncoderOptions {
  std::string device = "cpu";     // "cpu", "cuda", "cuda:N"
  std::string dtype = "float32";  // "float32" or "bfloat16": the towers' arithmetic
  // "fused": the graph rewritten for this CPU (fused_graph.h); "plain": as it was exported. The two
  // differ by rounding. CUDA knows only the second.
  std::string runtime = "fused";
  std::string layer;              // empty: the bundle's match layer
  bool include_prefix = false;    // pool CLS and registers too
  bool keep_tokens = false;       // fill ImageFeatures::tokens
  // Patches joined on each axis before pooling, as InternVL's pixel_shuffle does (its factor
  // 0.5 is 2 here): s*s tokens become one of width s*s*w, ordered (row, column, channel), and
  // so does the mean. REQUIRES a square grid of patches that s divides, and no prefix pooled.
  int pixel_shuffle = 1;
  int threads = 0;                // 0: all cores
  int batch_size = 8;             // the one fixed batch; smaller ones are padded
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual const EncoderSpec& spec() const = 0;
  virtual const LayerSpec& layer() const = 0;

  // `pixels`: count * 3 * s * s floats, normalised, image by image, channel first; at
  // most a batch. Each thread gets a share of them; with one thread (EncoderOptions), calls may be made side by side.
  // `windows`: the patches of each image that are pooled, none of them empty; without
  // windows all tokens are (less the prefix, unless it is included).
  // Throws Error(model) if the tower fails or its output has another shape than the
  // spec says. A row with NaN or infinity is returned as it is; callers flag it.
  virtual ImageFeatures encode_images(const float* pixels, int count,
                                      const std::vector<PatchWindow>& windows) = 0;

  // Raw embeddings [m, d] of `texts`. Texts with unknown tokens or cut at the context
  // length are reported once each through `warnings` (never null).
  // Throws Error(usage) if the bundle has no text tower.
  virtual RowMatrix encode_texts(const std::vector<std::string>& texts,
                                 std::vector<std::string>* warnings) = 0;
};

// What load_encoder runs on, e.g. "torchscript 2.13.0, fused". Known without loading it.
std::string runtime_name(const EncoderOptions& options);
// Version of LibTorch, e.g. "2.13.0".
std::string torch_version();

// Loads it and asks: "2.13.0, oneDNN, AVX2, 2 threads".
// Throws Error(io) if it cannot be loaded.
std::string check_runtime();

// Verifies the hashes, loads only the towers that are needed, and runs one dummy
// forward of each, so that a wrong export stops before data are read.
// Throws Error(model) in one sentence: path, cause, what to do.
struct TowerChoice {
  bool image = true;
  bool text = true;
};
std::unique_ptr<Encoder> load_encoder(const EncoderSpec& spec, const EncoderOptions& options,
                                      const TowerChoice& towers);

}  // namespace probe
