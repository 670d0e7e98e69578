// What the machine can do just now, to tell a busy one and to give shares of: fused multiply-adds in
// float32 and AMX's products in bfloat16 on all cores (GFLOP/s), and reading memory (GB/s).
#include <benchmark/benchmark.h>
#include <immintrin.h>
#include <omp.h>

#include <vector>

#include "probe/core/amx.h"

namespace {

// Each of the three runs as many chains as hide the latency; its operations a round stand below it.
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
constexpr int kOperations = 12 * 8 * 2;

__attribute__((target("avx512f"))) float multiply_add_wide(std::int64_t rounds) {
  constexpr int kChains = 12;
  __m512 sums[kChains];
  for (auto& sum : sums) sum = _mm512_set1_ps(0.1f);
  const __m512 factor = _mm512_set1_ps(0.99f);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = _mm512_fmadd_ps(sums[c], factor, factor);
  }
  float total = 0;
  for (const auto& sum : sums) total += _mm512_cvtss_f32(sum);
  return total;
}
constexpr int kWideOperations = 12 * 16 * 2;

// Products of tiles of zeros: the time does not depend on the values.
__attribute__((target("amx-tile,amx-bf16"))) float multiply_tiles(std::int64_t rounds) {
  _tile_loadconfig(&probe::kWholeTiles);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (std::int64_t i = 0; i < rounds; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
  return 0.0f;
}
constexpr int kTileOperations = 4 * 16 * 16 * 32 * 2;

void on_all_cores(benchmark::State& state, float (*work)(std::int64_t), int operations) {
  constexpr std::int64_t kRounds = 1'000'000;
  for (auto _ : state) {
    float total = 0;
#pragma omp parallel reduction(+ : total)
    total += work(kRounds);
    benchmark::DoNotOptimize(total);
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * omp_get_max_threads() * kRounds *
                             operations / 1e9,
                         benchmark::Counter::kIsRate);
}

void peak_fma(benchmark::State& state) {
  if (__builtin_cpu_supports("avx512f")) on_all_cores(state, multiply_add_wide, kWideOperations);
  else on_all_cores(state, multiply_add, kOperations);
}

void peak_tiles(benchmark::State& state) {
  if (probe::can_use_amx()) on_all_cores(state, multiply_tiles, kTileOperations);
  else state.SkipWithError("no AMX");
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
BENCHMARK(peak_tiles)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(memory_read)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
