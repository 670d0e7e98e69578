// From JPEG bytes to the tower's pixels, step by step, on a demo photo. Columns: side of
// the tower's input.
#include <benchmark/benchmark.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "encoders/preprocess.h"
#include "probe/data/image_file.h"

namespace {

std::string photo_bytes() {
  std::ifstream file(PROBE_SOURCE_DIR "/demo/originals/kiwi/kiwi-01.jpg", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

probe::ImageSpec clip_like(int size) {
  probe::ImageSpec spec;
  spec.size = size;
  spec.resize_to = size;
  spec.mean = {0.48145466f, 0.4578275f, 0.40821073f};
  spec.std = {0.26862954f, 0.26130258f, 0.27577711f};
  return spec;
}

void decode_jpeg(benchmark::State& state) {
  const std::string bytes = photo_bytes();
  for (auto _ : state) benchmark::DoNotOptimize(probe::decode_image(bytes));
}

void fit_to_tower(benchmark::State& state) {
  const probe::RgbImage image = probe::decode_image(photo_bytes());
  const probe::ImageSpec spec = clip_like(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(probe::fit_to_tower(image, spec));
}

void normalize_pixels(benchmark::State& state) {
  const probe::ImageSpec spec = clip_like(static_cast<int>(state.range(0)));
  const probe::RgbImage fitted =
      probe::fit_to_tower(probe::decode_image(photo_bytes()), spec);
  std::vector<float> out(std::size_t{3} * spec.size * spec.size);
  for (auto _ : state) {
    probe::normalize_pixels(fitted, spec, out.data());
    benchmark::DoNotOptimize(out.data());
  }
}

BENCHMARK(decode_jpeg)->Unit(benchmark::kMicrosecond);
BENCHMARK(fit_to_tower)->Arg(224)->Arg(336)->Arg(384)->Unit(benchmark::kMicrosecond);
BENCHMARK(normalize_pixels)->Arg(224)->Arg(336)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
