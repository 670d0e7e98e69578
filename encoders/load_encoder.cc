// Opens the LibTorch runtime only when an encoder is really run: LibTorch costs several
// hundred milliseconds at start, and most commands need none.
#include <dlfcn.h>

#include <string>

#include "encoders/encoder.h"
#include "probe/core/error.h"

namespace probe {
namespace {

// A function of libprobe_torchscript.so. The library stays open for the life of the process: the
// encoder's code is in it.
template <typename Function>
Function runtime_function(const char* name) {
  void* library = ::dlopen("libprobe_torchscript.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(ErrorKind::io, std::string("cannot load the LibTorch runtime: ") +
                                   first_line(::dlerror()));
  }
  const auto function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) {
    throw Error(ErrorKind::io, "libprobe_torchscript.so: not the one built with this program");
  }
  return function;
}

}  // namespace

std::string runtime_name() { return "torchscript " PROBE_TORCH_VERSION; }

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
