#pragma once

#include <string>

#include "encoders/encoder.h"

namespace probe {

// What `--dtype auto` chose, and on what grounds.
struct DtypeChoice {
  std::string dtype;   // "float32" or "bfloat16"
  std::string reason;  // "55.0 ms an image, bfloat16 13.1"; one line for people
};

// Runs the image tower of `spec` in both types and takes the faster (DESIGN.md, ruling 11: on one
// machine bfloat16 instructions ran at half of float32's speed, so flags do not tell). A CPU without
// AVX-512 is not asked: LibTorch then multiplies bfloat16 without vector instructions.
// Costs two loads of the tower and six forwards. Throws as load_encoder.
DtypeChoice faster_dtype(const EncoderSpec& spec, const EncoderOptions& options);

}  // namespace probe
