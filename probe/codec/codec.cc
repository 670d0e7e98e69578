#include "probe/codec/codec.h"

#include <dlfcn.h>

#include "probe/codec/codec_library.h"
#include "probe/core/error.h"

namespace probe {
namespace {

// Opened once and left open for the life of the process.
const CodecLibrary& library() {
  static const CodecLibrary* const loaded = [] {
    void* handle = ::dlopen("libprobe_codec.so", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      throw Error(ErrorKind::io,
                  std::string("cannot load the picture codecs: ") + first_line(::dlerror()));
    }
    const auto* found = static_cast<const CodecLibrary*>(::dlsym(handle, "probe_codec"));
    if (found == nullptr) {
      throw Error(ErrorKind::io, "libprobe_codec.so: not the one built with this program");
    }
    return found;
  }();
  return *loaded;
}

}  // namespace

RgbImage decode_picture(std::string_view bytes) { return library().decode(bytes); }

std::string encode_picture(const RgbImage& image, PictureFormat format, int quality) {
  return library().encode(image, format, quality);
}

std::string codec_version() { return library().version(); }

}  // namespace probe
