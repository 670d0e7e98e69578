// Opens the LibTorch runtime only when an encoder is really run: LibTorch costs several
// hundred milliseconds at start, and most commands need none.
#include <dlfcn.h>

#include <string>

#include "encoders/encoder.h"
#include "probe/core/error.h"

namespace probe {

std::string runtime_name() { return "torchscript " PROBE_TORCH_VERSION; }

std::unique_ptr<Encoder> load_encoder(const EncoderSpec& spec, const EncoderOptions& options,
                                      const TowerChoice& towers) {
  void* library = ::dlopen("libprobe_torchscript.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(ErrorKind::io, std::string("cannot load the LibTorch runtime: ") +
                                   first_line(::dlerror()));
  }
  using Loader = Encoder* (*)(const EncoderSpec*, const EncoderOptions*, const TowerChoice*);
  const auto load = reinterpret_cast<Loader>(::dlsym(library, "probe_load_torchscript_encoder"));
  if (load == nullptr) {
    throw Error(ErrorKind::io, "libprobe_torchscript.so: not the one built with this program");
  }
  // The library stays open for the life of the process: the encoder's code is in it.
  return std::unique_ptr<Encoder>(load(&spec, &options, &towers));
}

}  // namespace probe
