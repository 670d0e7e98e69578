// What libprobe_codec.so offers under the C name `probe_codec`. Private to probe/codec.
#pragma once

#include "probe/codec/codec.h"

namespace probe {

struct CodecLibrary {
  RgbImage (*decode)(std::string_view bytes);
  std::string (*encode)(const RgbImage& image, PictureFormat format, int quality);
  std::string (*version)();
};

}  // namespace probe
