#include "probe/store/half.h"

#include <Eigen/Core>
#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace probe {
namespace {

void halves_to_floats_plain(const std::uint16_t* in, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(std::bit_cast<Eigen::half>(in[i]));
  }
}

void floats_to_halves_plain(const float* in, std::uint16_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = std::bit_cast<std::uint16_t>(static_cast<Eigen::half>(in[i]));
  }
}

#if defined(__x86_64__)
__attribute__((target("f16c,avx"))) void halves_to_floats_f16c(const std::uint16_t* in,
                                                               float* out, std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
  }
  halves_to_floats_plain(in + i, out + i, count - i);
}

__attribute__((target("f16c,avx"))) void floats_to_halves_f16c(const float* in,
                                                               std::uint16_t* out,
                                                               std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves =
        _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), halves);
  }
  floats_to_halves_plain(in + i, out + i, count - i);
}

// Clang before 17 has no name for F16C here; every processor with AVX2 has it.
bool has_f16c() { return __builtin_cpu_supports("avx2"); }
#endif

}  // namespace

void halves_to_floats(const std::uint16_t* in, float* out, std::size_t count) {
#if defined(__x86_64__)
  if (has_f16c()) return halves_to_floats_f16c(in, out, count);
#endif
  halves_to_floats_plain(in, out, count);
}

void floats_to_halves(const float* in, std::uint16_t* out, std::size_t count) {
#if defined(__x86_64__)
  if (has_f16c()) return floats_to_halves_f16c(in, out, count);
#endif
  floats_to_halves_plain(in, out, count);
}

}  // namespace probe
