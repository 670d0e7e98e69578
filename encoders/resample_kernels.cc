#include "encoders/resample_kernels.h"

#include <algorithm>

#if defined(__x86_64__) && defined(__GNUC__)
#define PROBE_HAS_AVX2_PATH 1
#include <immintrin.h>
#endif

namespace probe::resample_kernels {
namespace {

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

std::uint8_t to_level(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp((sum + kHalf) >> kWeightBits, 0, 255));
}

void horizontal_portable(const std::uint8_t* row, const Weights& weights, std::uint8_t* out) {
  for (std::size_t i = 0; i < weights.first.size(); ++i) {
    const std::uint8_t* pixel = row + 3 * static_cast<std::size_t>(weights.first[i]);
    const std::int16_t* high = weights.high.data() + i * weights.taps;
    const std::int16_t* low = weights.low.data() + i * weights.taps;
    std::int32_t red = 0, green = 0, blue = 0;
    for (int t = 0; t < weights.used[i]; ++t, pixel += 3) {
      const std::int32_t weight = high[t] * (1 << kLowBits) + low[t];
      red += pixel[0] * weight;
      green += pixel[1] * weight;
      blue += pixel[2] * weight;
    }
    out[3 * i] = to_level(red);
    out[3 * i + 1] = to_level(green);
    out[3 * i + 2] = to_level(blue);
  }
}

void vertical_portable(const std::uint8_t* const* rows, const std::int16_t* high,
                       const std::int16_t* low, int count, int columns, std::int32_t* sums) {
  for (int t = 0; t < count; ++t) {
    const std::int32_t weight = high[t] * (1 << kLowBits) + low[t];
    const std::uint8_t* row = rows[t];
    for (int c = 0; c < columns; ++c) sums[c] += row[c] * weight;
  }
}

#ifdef PROBE_HAS_AVX2_PATH

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}

// Four taps a step: the low lane takes pixels 0 and 1, the high lane pixels 2 and 3, each
// as 16-bit pairs (r0 r1 g0 g1 b0 b1 - -), which the multiply-add sums with (w0 w1).
__attribute__((target("avx2"))) void horizontal_avx2(const std::uint8_t* row,
                                                     const Weights& weights,
                                                     std::uint8_t* out) {
  const __m256i pairs =
      _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1,  //
                       6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
  const __m256i spread = _mm256_setr_epi8(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,  //
                                          4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7);
  const __m128i half = _mm_set1_epi32(kHalf);
  const std::size_t positions = weights.first.size();
  for (std::size_t i = 0; i < positions; ++i) {
    const std::uint8_t* pixel = row + 3 * static_cast<std::size_t>(weights.first[i]);
    const std::int16_t* high = weights.high.data() + i * weights.taps;
    const std::int16_t* low = weights.low.data() + i * weights.taps;
    __m256i high_sum = _mm256_setzero_si256(), low_sum = _mm256_setzero_si256();
    for (int t = 0; t < weights.used[i]; t += 4) {
      const __m256i four = _mm256_shuffle_epi8(
          _mm256_broadcastsi128_si256(
              _mm_loadu_si128(reinterpret_cast<const __m128i*>(pixel + 3 * t))),
          pairs);
      const __m256i high_weights = _mm256_shuffle_epi8(
          _mm256_broadcastq_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(high + t))),
          spread);
      const __m256i low_weights = _mm256_shuffle_epi8(
          _mm256_broadcastq_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(low + t))),
          spread);
      high_sum = _mm256_add_epi32(high_sum, _mm256_madd_epi16(four, high_weights));
      low_sum = _mm256_add_epi32(low_sum, _mm256_madd_epi16(four, low_weights));
    }
    const __m256i both = _mm256_add_epi32(_mm256_slli_epi32(high_sum, kLowBits), low_sum);
    __m128i sum =
        _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    sum = _mm_srai_epi32(_mm_add_epi32(sum, half), kWeightBits);
    sum = _mm_packs_epi32(sum, sum);
    sum = _mm_packus_epi16(sum, sum);
    const std::uint32_t levels = static_cast<std::uint32_t>(_mm_cvtsi128_si32(sum));
    out[3 * i] = static_cast<std::uint8_t>(levels);
    out[3 * i + 1] = static_cast<std::uint8_t>(levels >> 8);
    out[3 * i + 2] = static_cast<std::uint8_t>(levels >> 16);
  }
}

// Two rows a step: their bytes are interleaved, widened and multiplied by (w0 w1).
__attribute__((target("avx2"))) void vertical_avx2(const std::uint8_t* const* rows,
                                                   const std::int16_t* high,
                                                   const std::int16_t* low, int count,
                                                   int columns, std::int32_t* sums) {
  for (int c = 0; c < columns; c += 32) {
    __m256i high_sums[4], low_sums[4];
    for (int j = 0; j < 4; ++j) high_sums[j] = low_sums[j] = _mm256_setzero_si256();
    for (int t = 0; t < count; t += 2) {
      std::int32_t pair = 0;
      __builtin_memcpy(&pair, high + t, sizeof(pair));
      const __m256i high_weights = _mm256_set1_epi32(pair);
      __builtin_memcpy(&pair, low + t, sizeof(pair));
      const __m256i low_weights = _mm256_set1_epi32(pair);
      for (int j = 0; j < 2; ++j) {
        const __m128i a =
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[t] + c + 16 * j));
        const __m128i b =
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[t + 1] + c + 16 * j));
        const __m256i first = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(a, b));
        const __m256i second = _mm256_cvtepu8_epi16(_mm_unpackhi_epi8(a, b));
        high_sums[2 * j] =
            _mm256_add_epi32(high_sums[2 * j], _mm256_madd_epi16(first, high_weights));
        low_sums[2 * j] =
            _mm256_add_epi32(low_sums[2 * j], _mm256_madd_epi16(first, low_weights));
        high_sums[2 * j + 1] =
            _mm256_add_epi32(high_sums[2 * j + 1], _mm256_madd_epi16(second, high_weights));
        low_sums[2 * j + 1] =
            _mm256_add_epi32(low_sums[2 * j + 1], _mm256_madd_epi16(second, low_weights));
      }
    }
    for (int j = 0; j < 4; ++j) {
      __m256i* at = reinterpret_cast<__m256i*>(sums + c + 8 * j);
      const __m256i sum =
          _mm256_add_epi32(_mm256_slli_epi32(high_sums[j], kLowBits), low_sums[j]);
      _mm256_storeu_si256(at, _mm256_add_epi32(_mm256_loadu_si256(at), sum));
    }
  }
}

#endif  // PROBE_HAS_AVX2_PATH

}  // namespace

void horizontal(const std::uint8_t* row, const Weights& weights, std::uint8_t* out, Path path) {
#ifdef PROBE_HAS_AVX2_PATH
  if (path == Path::automatic && has_avx2()) return horizontal_avx2(row, weights, out);
#endif
  (void)path;
  horizontal_portable(row, weights, out);
}

void vertical(const std::uint8_t* const* rows, const std::int16_t* high,
              const std::int16_t* low, int count, int columns, std::int32_t* sums, Path path) {
#ifdef PROBE_HAS_AVX2_PATH
  if (path == Path::automatic && has_avx2()) {
    return vertical_avx2(rows, high, low, count, columns, sums);
  }
#endif
  (void)path;
  vertical_portable(rows, high, low, count, columns, sums);
}

void finish(const std::int32_t* sums, int columns, std::uint8_t* out) {
  for (int c = 0; c < columns; ++c) out[c] = to_level(sums[c]);
}

}  // namespace probe::resample_kernels
