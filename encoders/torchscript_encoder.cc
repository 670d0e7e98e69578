// A frozen TorchScript module, as it was exported or fused (fused_graph.h), fixed batches,
// inference mode.
//
// A batch is cut into one part for each thread and the parts run side by side, each on
// one thread. Compared with threads inside every operator this needs no barrier after
// each of them. Seen once, on a busy machine of two cores, with the demo tower on 222
// photos in batches of 8: one thread 8.9 s of processor time, two threads inside the
// operators 47 s, two parts side by side 14 s. Not measured on an idle machine.
#include <ATen/Parallel.h>
#include <torch/cuda.h>
#include <torch/script.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <optional>
#include <thread>

#include "encoders/encoder.h"
#include "encoders/fused_graph.h"
#include "encoders/kept_blocks.h"
#include "encoders/torchscript_tower.h"
#include "encoders/vocabulary.h"
#include "probe/core/error.h"

namespace probe {
namespace {

// Texts encoded at a time, the last ones padded: large enough for a matrix product to be fast, small
// enough that the names of one question cost little. The same for every list of texts, so that a text's
// embedding does not depend on how many there are.
constexpr int kTextBatchCpu = 8, kTextBatchCuda = 64;

torch::Device parse_device(const std::string& name) {
  const bool cuda = name == "cuda" || name.starts_with("cuda:");
  if (name != "cpu" && !cuda) {
    throw Error(ErrorKind::usage, "--device: expected cpu, cuda or cuda:N, got \"" + name + "\"");
  }
  if (cuda && !torch::cuda::is_available()) {
    throw Error(ErrorKind::usage, "--device " + name +
                                      ": this LibTorch has no CUDA device; use --device cpu");
  }
  try {
    return torch::Device(name);
  } catch (const c10::Error&) {
    throw Error(ErrorKind::usage, "--device: expected cpu, cuda or cuda:N, got \"" + name + "\"");
  }
}

torch::ScalarType parse_dtype(const std::string& name) {
  if (name == "float32") return torch::kFloat;
  if (name == "bfloat16") return torch::kBFloat16;
  throw Error(ErrorKind::usage,
              "--dtype: expected float32 or bfloat16, got \"" + name + "\"");
}

std::string shape_text(const torch::Tensor& tensor) {
  std::string text;
  for (const auto size : tensor.sizes()) text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text.empty() ? "a scalar" : text + "]";
}

RowMatrix to_matrix(const torch::Tensor& tensor, int rows) {
  if (tensor.numel() == 0) return RowMatrix(rows, 0);
  const torch::Tensor flat =
      tensor.slice(0, 0, rows).to(torch::kCPU, torch::kFloat).reshape({rows, -1}).contiguous();
  return Eigen::Map<const RowMatrix>(flat.data_ptr<float>(), rows, flat.numel() / rows);
}

class TorchscriptEncoder final : public Encoder {
 public:
  TorchscriptEncoder(const EncoderSpec& spec, const EncoderOptions& options,
                     const TowerChoice& towers)
      : spec_(spec),
        options_(options),
        layer_(find_layer(spec_, options.layer)),
        device_(parse_device(options.device)),
        dtype_(parse_dtype(options.dtype)),
        text_batch_(device_.is_cuda() ? kTextBatchCuda : kTextBatchCpu) {
    const int threads = options.threads > 0
                            ? options.threads
                            : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    parts_ = std::min(threads, options.batch_size);
    part_size_ = (options.batch_size + parts_ - 1) / parts_;
    threads_per_part_ = threads / parts_;
    at::set_num_threads(threads_per_part_);
    verify_files(spec_);
    for (std::size_t i = 0; i < spec_.layers.size(); ++i) {
      if (spec_.layers[i].name == layer_.name) layer_output_ = i + 1;
    }
    if (towers.image) load_image_tower();
    if (towers.text && spec_.text) load_text_tower();
  }

  const EncoderSpec& spec() const override { return spec_; }
  const LayerSpec& layer() const override { return layer_; }

  ImageFeatures encode_images(const float* pixels, int count,
                              const std::vector<PatchWindow>& windows) override {
    const std::int64_t image_floats = std::int64_t{3} * spec_.image.size * spec_.image.size;
    struct Part {
      int begin = 0, count = 0;
      ImageFeatures features;
    };
    std::vector<Part> parts;
    for (int begin = 0; begin < count; begin += part_size_) parts.push_back({begin, std::min(part_size_, count - begin), {}});
    const auto work = [&](Part& part) {
      part.features = encode_part(pixels + part.begin * image_floats, part.count,
                                  windows.empty() ? nullptr : windows.data() + part.begin);
    };
    std::vector<std::future<void>> others;
    for (std::size_t i = 1; i < parts.size(); ++i) others.push_back(std::async(std::launch::async, work, std::ref(parts[i])));
    work(parts.front());
    for (auto& other : others) other.get();
    if (parts.size() == 1) return std::move(parts.front().features);
    ImageFeatures features;
    features.embedding.resize(count, spec_.embedding_dim);
    features.mean_tokens.resize(
        count, options_.pixel_shuffle * options_.pixel_shuffle * layer_.width);
    features.tokens.resize(count, options_.keep_tokens ? layer_.tokens * layer_.width : 0);
    for (const Part& part : parts) {
      features.embedding.middleRows(part.begin, part.count) = part.features.embedding;
      features.mean_tokens.middleRows(part.begin, part.count) = part.features.mean_tokens;
      if (options_.keep_tokens) features.tokens.middleRows(part.begin, part.count) = part.features.tokens;
    }
    return features;
  }

  RowMatrix encode_texts(const std::vector<std::string>& texts,
                         std::vector<std::string>* warnings) override {
    if (!spec_.text) {
      throw Error(ErrorKind::usage, "encoder " + spec_.name +
                                        " has no text tower: zero-shot scoring needs one");
    }
    const c10::InferenceMode guard;
    const std::int64_t c = spec_.text->context_length;
    RowMatrix embeddings(static_cast<Eigen::Index>(texts.size()), spec_.embedding_dim);
    for (std::size_t begin = 0; begin < texts.size(); begin += text_batch_) {
      const std::size_t count = std::min<std::size_t>(text_batch_, texts.size() - begin);
      torch::Tensor ids = torch::full({text_batch_, c}, spec_.text->tokenizer.pad_id, torch::kLong);
      for (std::size_t i = 0; i < count; ++i) {
        const std::vector<std::int64_t> row = vocabulary_->check(texts[begin + i], *warnings);
        std::copy(row.begin(), row.end(), ids[static_cast<std::int64_t>(i)].data_ptr<std::int64_t>());
      }
      embeddings.middleRows(begin, count) =
          to_matrix(run_text_tower(ids), static_cast<int>(count));
    }
    return embeddings;
  }

 private:
  // One part of a batch, padded to the fixed size, on this thread.
  ImageFeatures encode_part(const float* pixels, int count, const PatchWindow* windows) {
    const c10::InferenceMode guard;
    at::set_num_threads(threads_per_part_);  // the setting is each thread's own
    const std::int64_t size = spec_.image.size;
    const std::vector<std::int64_t> shape = {part_size_, 3, size, size};
    torch::Tensor batch;
    if (count == part_size_ && dtype_ != torch::kFloat) {
      // Only read: the tower gets a copy of its own type.
      batch = torch::from_blob(const_cast<float*>(pixels), shape);
    } else {
      batch = torch::zeros(shape);
      std::copy_n(pixels, std::int64_t{count} * 3 * size * size, batch.data_ptr<float>());
    }
    const auto outputs = run_image_tower(batch);
    ImageFeatures features;
    features.embedding = to_matrix(outputs[0], count);
    const torch::Tensor tokens = outputs[layer_output_].to(torch::kFloat);
    features.mean_tokens = pool(tokens, count, windows);
    if (options_.keep_tokens) features.tokens = to_matrix(tokens, count);
    return features;
  }

  // Means over the tokens [n, t, w] of the first `count` pictures; windows: null, or one each.
  RowMatrix pool(const torch::Tensor& tokens, int count, const PatchWindow* windows) const {
    const int first = options_.include_prefix ? 0 : layer_.prefix_tokens;
    const torch::Tensor pooled = tokens.slice(1, first);
    const std::int64_t s = options_.pixel_shuffle, n = tokens.size(0), w = layer_.width;
    if (windows == nullptr && s == 1) return to_matrix(pooled.mean(1), count);
    const std::int64_t side = std::llround(std::sqrt(pooled.size(1)));
    if (s > 1) {
      const torch::Tensor cells = pooled.reshape({n, side / s, s, side / s, s, w});
      return to_matrix(cells.mean(at::IntArrayRef{1, 3}), count);
    }
    const torch::Tensor patches = pooled.reshape({n, side, side, w});
    RowMatrix means(count, w);
    for (int i = 0; i < count; ++i) {
      const PatchWindow& window = windows[i];
      const torch::Tensor shown = patches[i]
                                      .slice(0, window.top, window.top + window.height)
                                      .slice(1, window.left, window.left + window.width);
      means.row(i) = to_matrix(shown.mean(at::IntArrayRef{0, 1}).unsqueeze(0), 1);
    }
    return means;
  }

  // `rows`: of the inputs of most products.
  void fuse(torch::jit::Module& tower, std::int64_t rows) const {
    if (options_.runtime == "fused" && device_.is_cpu()) fuse_graph(tower, rows);
  }

  void load_image_tower() {
    image_path_ = spec_.folder / spec_.image_file;
    image_ = load_tower(image_path_, device_, dtype_);
    fuse(*image_, std::int64_t{part_size_} * layer_.tokens);
    const c10::InferenceMode guard;
    const std::int64_t size = spec_.image.size;
    run_image_tower(torch::zeros({part_size_, 3, size, size}));
  }

  void load_text_tower() {
    text_path_ = spec_.folder / spec_.text->file;
    vocabulary_.emplace(spec_);
    text_ = load_tower(text_path_, device_, dtype_);
    fuse(*text_, std::int64_t{text_batch_} * spec_.text->context_length);
    const c10::InferenceMode guard;
    run_text_tower(torch::full({text_batch_, spec_.text->context_length},
                               spec_.text->tokenizer.end_id, torch::kLong));
  }

  // The tower's outputs, checked against the spec: embedding first, then the layers.
  std::vector<torch::Tensor> run_image_tower(const torch::Tensor& batch) {
    const KeepingBlocks keeping(blocks_);
    const torch::IValue value = run_tower(*image_, batch.to(device_, dtype_), image_path_);
    const std::size_t expected = 1 + spec_.layers.size();
    if (!value.isTuple() || value.toTuple()->elements().size() != expected) {
      throw Error(ErrorKind::model, image_path_.string() + ": expected a tuple of " +
                                        std::to_string(expected) + " tensors");
    }
    std::vector<torch::Tensor> outputs;
    for (const torch::IValue& element : value.toTuple()->elements()) {
      if (!element.isTensor()) {
        throw Error(ErrorKind::model, image_path_.string() + ": expected tensors");
      }
      outputs.push_back(element.toTensor());
    }
    const std::int64_t n = part_size_;
    check_shape(outputs[0], {n, spec_.embedding_dim}, image_path_, "embedding");
    for (std::size_t i = 0; i < spec_.layers.size(); ++i) {
      const LayerSpec& layer = spec_.layers[i];
      check_shape(outputs[i + 1], {n, layer.tokens, layer.width}, image_path_,
                  "tokens of layer " + layer.name);
    }
    return outputs;
  }

  torch::Tensor run_text_tower(const torch::Tensor& ids) {
    const KeepingBlocks keeping(blocks_);
    const torch::IValue value = run_tower(*text_, ids.to(device_), text_path_);
    if (!value.isTensor()) throw Error(ErrorKind::model, text_path_.string() + ": expected a tensor");
    check_shape(value.toTensor(), {text_batch_, spec_.embedding_dim}, text_path_, "embedding");
    return value.toTensor();
  }

  static void check_shape(const torch::Tensor& tensor, const std::vector<std::int64_t>& expected,
                          const std::filesystem::path& path, const std::string& what) {
    if (tensor.sizes() == at::IntArrayRef(expected)) return;
    throw Error(ErrorKind::model,
                path.string() + ": " + what + ": expected " +
                    shape_text(torch::empty(expected, torch::kMeta)) + " as encoder.json says, got " +
                    shape_text(tensor));
  }

  EncoderSpec spec_;
  EncoderOptions options_;
  LayerSpec layer_;
  std::size_t layer_output_ = 1;
  int parts_ = 1, part_size_ = 1, threads_per_part_ = 1;
  torch::Device device_;
  torch::ScalarType dtype_;
  int text_batch_;
  std::filesystem::path image_path_, text_path_;
  std::shared_ptr<KeptBlocks> blocks_ = make_kept_blocks();
  std::optional<torch::jit::Module> image_, text_;
  std::optional<Vocabulary> vocabulary_;
};

}  // namespace
}  // namespace probe

// The one entry point of libprobe_torchscript.so. Throws as load_encoder says.
extern "C" __attribute__((visibility("default"))) probe::Encoder* probe_load_torchscript_encoder(
    const probe::EncoderSpec* spec, const probe::EncoderOptions* options,
    const probe::TowerChoice* towers) {
  return new probe::TorchscriptEncoder(*spec, *options, *towers);
}

extern "C" __attribute__((visibility("default"))) void probe_describe_torchscript_runtime(
    std::string* description) {
  *description = std::string(TORCH_VERSION) + (at::hasMKLDNN() ? ", oneDNN" : ", no oneDNN") +
                 (at::hasMKL() ? ", MKL" : "") + ", " + at::get_cpu_capability() + ", " +
                 std::to_string(at::get_num_threads()) + " threads" +
                 (torch::cuda::is_available() ? ", CUDA" : ", no CUDA");
}
