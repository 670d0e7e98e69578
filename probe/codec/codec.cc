#include "probe/codec/codec.h"

#include "probe/codec/codec_library.h"
#include "probe/core/late_library.h"

namespace probe {
namespace {

const CodecLibrary& library() {
  static const auto* const loaded = static_cast<const CodecLibrary*>(
      late_symbol("libprobe_codec.so", "probe_codec", "the picture codecs"));
  return *loaded;
}

}  // namespace

RgbImage decode_picture(std::string_view bytes) { return library().decode(bytes); }

std::string encode_picture(const RgbImage& image, PictureFormat format, int quality) {
  return library().encode(image, format, quality);
}

std::string codec_version() { return library().version(); }

}  // namespace probe
