// What the kernels for AVX-512 share: sixteen values of either type at a time, and e^x. Private to them.
#pragma once

#include <immintrin.h>

#include "encoders/tower_kernels.h"

#define PROBE_AVX512_TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma"
#define PROBE_AVX512 __attribute__((target(PROBE_AVX512_TARGET)))
#define PROBE_AVX512_INLINE __attribute__((target(PROBE_AVX512_TARGET), always_inline)) inline

namespace probe {

inline constexpr std::int64_t kLanes = 16;

// The first `count` of sixteen lanes, all of them from sixteen on.
PROBE_AVX512_INLINE __mmask16 first_lanes(std::int64_t count) {
  return count >= kLanes ? __mmask16(0xffff) : static_cast<__mmask16>((1u << count) - 1);
}

// Lanes outside the mask are 0, and their memory is not touched.
PROBE_AVX512_INLINE __m512 load(const float* from, __mmask16 lanes) {
  return _mm512_maskz_loadu_ps(lanes, from);
}
PROBE_AVX512_INLINE __m512 load(const Bfloat16* from, __mmask16 lanes) {
  const __m512i wide = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, from));
  return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}
PROBE_AVX512_INLINE void store(float* to, __mmask16 lanes, __m512 x) {
  _mm512_mask_storeu_ps(to, lanes, x);
}
PROBE_AVX512_INLINE void store(Bfloat16* to, __mmask16 lanes, __m512 x) {
  _mm256_mask_storeu_epi16(to, lanes, (__m256i)_mm512_cvtneps_pbh(x));
}

// x of -87 to 88, where e^x is a number. The order of operands keeps NaN.
PROBE_AVX512_INLINE __m512 bounded(__m512 x) {
  return _mm512_min_ps(_mm512_set1_ps(88.0f), _mm512_max_ps(_mm512_set1_ps(-87.0f), x));
}

// e^x for -87 <= x <= 88, to about one unit in the last place; NaN stays. The polynomial is that of
// Cephes' expf (Moshier), after ln 2 in two parts (Cody and Waite).
PROBE_AVX512_INLINE __m512 exp_between(__m512 x) {
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)),
                                        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), r);
  __m512 sum = _mm512_set1_ps(1.9875691500e-4f);
  sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(1.3981999507e-3f));
  sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(8.3334519073e-3f));
  sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(4.1665795894e-2f));
  sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(1.6666665459e-1f));
  sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(5.0000001201e-1f));
  sum = _mm512_fmadd_ps(sum, _mm512_mul_ps(r, r), _mm512_add_ps(r, _mm512_set1_ps(1.0f)));
  return _mm512_scalef_ps(sum, n);
}

}  // namespace probe
