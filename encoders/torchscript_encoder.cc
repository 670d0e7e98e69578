// The plain runtime: a frozen TorchScript module, one fixed batch, inference mode.
#include <ATen/Parallel.h>
#include <torch/cuda.h>
#include <torch/script.h>

#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <unordered_set>

#include "encoders/encoder.h"
#include "encoders/tokenizer.h"
#include "encoders/torchscript_tower.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

constexpr int kTextBatch = 64;

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
        dtype_(parse_dtype(options.dtype)) {
    const int threads = options.threads > 0
                            ? options.threads
                            : static_cast<int>(std::thread::hardware_concurrency());
    at::set_num_threads(threads);
    verify_files(spec_);
    for (std::size_t i = 0; i < spec_.layers.size(); ++i) {
      if (spec_.layers[i].name == layer_.name) layer_output_ = i + 1;
    }
    if (towers.image) load_image_tower();
    if (towers.text && spec_.text) load_text_tower();
  }

  const EncoderSpec& spec() const override { return spec_; }
  const LayerSpec& layer() const override { return layer_; }

  ImageFeatures encode_images(const float* pixels, int count) override {
    const c10::InferenceMode guard;
    const std::int64_t size = spec_.image.size;
    torch::Tensor batch = torch::zeros({options_.batch_size, 3, size, size});
    std::copy_n(pixels, std::int64_t{count} * 3 * size * size, batch.data_ptr<float>());
    const auto outputs = run_image_tower(batch);
    ImageFeatures features;
    features.embedding = to_matrix(outputs[0], count);
    if (spec_.embedding_dim == 0) features.embedding.resize(count, 0);
    const torch::Tensor tokens = outputs[layer_output_].to(torch::kFloat);
    const int first = options_.include_prefix ? 0 : layer_.prefix_tokens;
    features.mean_tokens = to_matrix(tokens.slice(1, first).mean(1), count);
    if (options_.keep_tokens) features.tokens = to_matrix(tokens, count);
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
    for (std::size_t begin = 0; begin < texts.size(); begin += kTextBatch) {
      const std::size_t count = std::min<std::size_t>(kTextBatch, texts.size() - begin);
      torch::Tensor ids = torch::full({kTextBatch, c}, spec_.text->tokenizer.pad_id, torch::kLong);
      for (std::size_t i = 0; i < count; ++i) {
        const std::vector<std::int64_t> row = tokenize(texts[begin + i], warnings);
        std::copy(row.begin(), row.end(), ids[static_cast<std::int64_t>(i)].data_ptr<std::int64_t>());
      }
      embeddings.middleRows(begin, count) =
          to_matrix(run_text_tower(ids), static_cast<int>(count));
    }
    return embeddings;
  }

 private:
  void load_image_tower() {
    image_path_ = spec_.folder / spec_.image_file;
    image_ = load_tower(image_path_, device_, dtype_);
    const c10::InferenceMode guard;
    const std::int64_t size = spec_.image.size;
    run_image_tower(torch::zeros({options_.batch_size, 3, size, size}));
  }

  void load_text_tower() {
    text_path_ = spec_.folder / spec_.text->file;
    tokenizer_ = load_tokenizer(spec_.folder, spec_.text->tokenizer);
    read_known_ids();
    text_ = load_tower(text_path_, device_, dtype_);
    const c10::InferenceMode guard;
    run_text_tower(torch::full({kTextBatch, spec_.text->context_length},
                               spec_.text->tokenizer.end_id, torch::kLong));
  }

  void read_known_ids() {
    if (spec_.text->known_ids_file.empty()) return;
    const std::filesystem::path path = spec_.folder / spec_.text->known_ids_file;
    try {
      const auto ids = nlohmann::json::parse(read_file(path, 64 << 20))
                           .get<std::vector<std::int64_t>>();
      known_ids_.insert(ids.begin(), ids.end());
    } catch (const nlohmann::json::exception&) {
      throw Error(ErrorKind::model, path.string() + ": expected a JSON list of token ids");
    }
  }

  // The tower's outputs, checked against the spec: embedding first, then the layers.
  std::vector<torch::Tensor> run_image_tower(const torch::Tensor& batch) {
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
    const std::int64_t n = options_.batch_size;
    check_shape(outputs[0], {n, spec_.embedding_dim}, image_path_, "embedding");
    for (std::size_t i = 0; i < spec_.layers.size(); ++i) {
      const LayerSpec& layer = spec_.layers[i];
      check_shape(outputs[i + 1], {n, layer.tokens, layer.width}, image_path_,
                  "tokens of layer " + layer.name);
    }
    return outputs;
  }

  torch::Tensor run_text_tower(const torch::Tensor& ids) {
    const torch::IValue value = run_tower(*text_, ids.to(device_), text_path_);
    if (!value.isTensor()) throw Error(ErrorKind::model, text_path_.string() + ": expected a tensor");
    check_shape(value.toTensor(), {kTextBatch, spec_.embedding_dim}, text_path_, "embedding");
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

  std::vector<std::int64_t> tokenize(const std::string& text, std::vector<std::string>* warnings) {
    std::vector<std::int64_t> ids = tokenizer_->encode(text);
    const bool unknown =
        !known_ids_.empty() && std::any_of(ids.begin(), ids.end(), [&](std::int64_t id) {
          return !known_ids_.contains(id);
        });
    bool was_cut = false;
    ids = fit_to_context(std::move(ids), spec_.text->tokenizer, spec_.text->context_length,
                         &was_cut);
    if ((unknown || was_cut) && warned_.insert(text).second) {
      const std::string quoted = "text \"" + printable(text) + "\": ";
      if (unknown) {
        warnings->push_back(quoted + "has words that the text tower of encoder " + spec_.name +
                            " never learnt; its vector means nothing");
      }
      if (was_cut) {
        warnings->push_back(quoted + "longer than " +
                            std::to_string(spec_.text->context_length) + " tokens; cut");
      }
    }
    return ids;
  }

  EncoderSpec spec_;
  EncoderOptions options_;
  LayerSpec layer_;
  std::size_t layer_output_ = 1;
  torch::Device device_;
  torch::ScalarType dtype_;
  std::filesystem::path image_path_, text_path_;
  std::optional<torch::jit::Module> image_, text_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unordered_set<std::int64_t> known_ids_;  // empty: every id is known
  std::set<std::string> warned_;
};

}  // namespace
}  // namespace probe

// The one entry point of libprobe_torchscript.so. Throws as load_encoder says.
extern "C" __attribute__((visibility("default"))) probe::Encoder* probe_load_torchscript_encoder(
    const probe::EncoderSpec* spec, const probe::EncoderOptions* options,
    const probe::TowerChoice* towers) {
  return new probe::TorchscriptEncoder(*spec, *options, *towers);
}
