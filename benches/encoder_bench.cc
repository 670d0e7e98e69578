// One tower of a bundle, as `probe embed` runs it: pixels in memory to embeddings. Batches of BATCH
// pictures on THREADS threads; one JSON line a repeat on stdout. REPEATS 0: one for each line of stdin,
// so that benches/run.py can let it and its peers take turns.
//     encoder_bench BUNDLE BATCH THREADS REPEATS [DTYPE [RUNTIME]]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "encoders/encoder.h"
#include "probe/core/error.h"

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: encoder_bench BUNDLE BATCH THREADS REPEATS [DTYPE [RUNTIME]]\n");
    return 2;
  }
  try {
    probe::EncoderOptions options;
    options.batch_size = std::atoi(argv[2]);
    options.threads = std::atoi(argv[3]);
    if (argc > 5) options.dtype = argv[5];
    if (argc > 6) options.runtime = argv[6];
    const probe::EncoderSpec spec = probe::read_spec(argv[1]);
    const auto encoder = probe::load_encoder(spec, options, {true, false});
    std::vector<float> pixels(std::size_t{3} * spec.image.size * spec.image.size *
                              options.batch_size);
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    for (float& value : pixels) value = normal(generator);
    const int repeats = std::atoi(argv[4]);
    std::string line;
    for (int repeat = -2; repeats == 0 || repeat < repeats; ++repeat) {  // two to warm up
      if (repeat >= 0 && repeats == 0 && !std::getline(std::cin, line)) break;
      const auto start = std::chrono::steady_clock::now();
      const probe::ImageFeatures features =
          encoder->encode_images(pixels.data(), options.batch_size, {});
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      if (repeat < 0) continue;
      std::printf("{\"seconds\": %.6f, \"sum\": %.6g}\n", took.count(),
                  static_cast<double>(features.mean_tokens.sum()));
      std::fflush(stdout);
    }
  } catch (const probe::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
