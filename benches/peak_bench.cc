// What the machine can do just now, to tell a busy one and to give shares of: fused multiply-adds on
// all cores (GFLOP/s) and reading memory (GB/s).
#include <benchmark/benchmark.h>
#include <immintrin.h>
#include <omp.h>

#include <vector>

namespace {

__attribute__((target("avx2,fma"))) float multiply_add(std::int64_t rounds) {
  constexpr int kChains = 12;
  __m256 sums[kChains];
  for (auto& sum : sums) sum = _mm256_set1_ps(0.1f);
  const __m256 factor = _mm256_set1_ps(0.99f);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = _mm256_fmadd_ps(sums[c], factor, factor);
  }
  float total = 0;
  for (const auto& sum : sums) total += _mm256_cvtss_f32(sum);
  return total;
}

void peak_fma(benchmark::State& state) {
  constexpr std::int64_t kRounds = 4'000'000;
  for (auto _ : state) {
    float total = 0;
#pragma omp parallel reduction(+ : total)
    total += multiply_add(kRounds);
    benchmark::DoNotOptimize(total);
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * omp_get_max_threads() * kRounds *
                             12 * 8 * 2 / 1e9,
                         benchmark::Counter::kIsRate);
}

void memory_read(benchmark::State& state) {
  const std::vector<std::int64_t> data(std::size_t{64} << 20, 1);  // 512 MiB
  for (auto _ : state) {
    std::int64_t total = 0;
#pragma omp parallel for reduction(+ : total) schedule(static)
    for (std::size_t i = 0; i < data.size(); ++i) total += data[i];
    benchmark::DoNotOptimize(total);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(data.size()) * 8);
}

BENCHMARK(peak_fma)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(memory_read)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
