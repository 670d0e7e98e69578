#include "encoders/faster_dtype.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

namespace probe {
namespace {

bool worth_asking(const EncoderOptions& options) {
  return options.device != "cpu" || __builtin_cpu_supports("avx512f");
}

// The fastest of three batches, seconds an image.
double seconds_per_image(const EncoderSpec& spec, EncoderOptions options, const char* dtype) {
  options.dtype = dtype;
  const auto encoder = load_encoder(spec, options, {true, false});
  const std::vector<float> pixels(std::size_t{3} * spec.image.size * spec.image.size *
                                  options.batch_size);
  double fastest = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < 3; ++turn) {
    const auto start = std::chrono::steady_clock::now();
    encoder->encode_images(pixels.data(), options.batch_size, {});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    fastest = std::min(fastest, took.count() / options.batch_size);
  }
  return fastest;
}

}  // namespace

DtypeChoice faster_dtype(const EncoderSpec& spec, const EncoderOptions& options) {
  if (!worth_asking(options)) {
    return {"float32", "this CPU has no AVX-512, without which bfloat16 is slow"};
  }
  const double full = seconds_per_image(spec, options, "float32");
  const double half = seconds_per_image(spec, options, "bfloat16");
  return {half < full ? "bfloat16" : "float32",
          fmt::format("an image takes {:.1f} ms in float32, {:.1f} ms in bfloat16", 1e3 * full,
                      1e3 * half)};
}

}  // namespace probe
