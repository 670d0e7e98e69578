// Opens the LibTorch runtime only when an encoder is really run: LibTorch costs several
// hundred milliseconds at start, and most commands need none.
#include <string>

#include "encoders/encoder.h"
#include "probe/core/late_library.h"

namespace probe {
namespace {

// LibTorch's products call the BLAS that comes first under its names. OpenCV and FAISS bring another than LibTorch's own
// MKL, with which ViT-L/14 in float32 took 1.1 to 1.2 times as long.
template <typename Function>
Function runtime_function(const char* name) {
  return reinterpret_cast<Function>(
      late_symbol("libprobe_torchscript.so", name, "the LibTorch runtime", Names::its_own));
}

}  // namespace

std::string torch_version() { return PROBE_TORCH_VERSION; }

std::string runtime_name(const EncoderOptions& options) {
  const bool fused = options.runtime == "fused" && options.device == "cpu";
  return "torchscript " + torch_version() + (fused ? ", fused" : "");
}

std::unique_ptr<Encoder> load_encoder(const EncoderSpec& spec, const EncoderOptions& options,
                                      const TowerChoice& towers) {
  using Loader = Encoder* (*)(const EncoderSpec*, const EncoderOptions*, const TowerChoice*);
  const auto load = runtime_function<Loader>("probe_load_torchscript_encoder");
  return std::unique_ptr<Encoder>(load(&spec, &options, &towers));
}

std::string check_runtime() {
  std::string description;
  runtime_function<void (*)(std::string*)>("probe_describe_torchscript_runtime")(&description);
  return description;
}

}  // namespace probe
