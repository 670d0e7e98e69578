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

// 2^x, at most one part in 13,000 off, of which bfloat16 shows nothing. The polynomial of degree three
// with the least relative error from -1/2 to 1/2 (Lawson's iteration).
PROBE_AVX512_INLINE __m512 power_of_two(__m512 x) {
  const __m512 rest = _mm512_reduce_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m512 sum = _mm512_set1_ps(0.0551716237f);
  sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(0.242611119f));
  sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(0.693260994f));
  sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(0.999928074f));
  return _mm512_scalef_ps(sum, _mm512_sub_ps(x, rest));
}

// 1 / x by an estimate of 14 bits and one step of Newton's.
PROBE_AVX512_INLINE __m512 reciprocal(__m512 x) {
  const __m512 guess = _mm512_rcp14_ps(x);
  return _mm512_fmadd_ps(guess, _mm512_fnmadd_ps(x, guess, _mm512_set1_ps(1.0f)), guess);
}

// e^x and 1 / x to float32's last places, or as exact as bfloat16 shows.
template <bool exact>
PROBE_AVX512_INLINE __m512 exponential(__m512 x) {
  if constexpr (exact) return exp_between(bounded(x));
  return power_of_two(_mm512_mul_ps(_mm512_min_ps(_mm512_set1_ps(87.0f), x), _mm512_set1_ps(1.44269504f)));
}
template <bool exact>
PROBE_AVX512_INLINE __m512 inverse(__m512 x) {
  if constexpr (exact) return reciprocal(x);
  return _mm512_rcp14_ps(x);
}

// GELU's error function by Abramowitz and Stegun, 7.1.26, at most 1.5e-7 off.
template <bool exact>
PROBE_AVX512_INLINE __m512 activate_to(__m512 x, Activation activation) {
  const __m512 one = _mm512_set1_ps(1.0f);
  if (activation == Activation::gelu) {
    const __m512 size = _mm512_abs_ps(x), z = _mm512_mul_ps(size, _mm512_set1_ps(0.70710678f));
    const __m512 t = inverse<exact>(_mm512_fmadd_ps(z, _mm512_set1_ps(0.3275911f), one));
    __m512 sum = _mm512_set1_ps(1.061405429f);
    sum = _mm512_fmadd_ps(sum, t, _mm512_set1_ps(-1.453152027f));
    sum = _mm512_fmadd_ps(sum, t, _mm512_set1_ps(1.421413741f));
    sum = _mm512_fmadd_ps(sum, t, _mm512_set1_ps(-0.284496736f));
    sum = _mm512_fmadd_ps(sum, t, _mm512_set1_ps(0.254829592f));
    // What lies beyond |x|: (1 - erf z) / 2, of which gelu(x) = max(x, 0) - |x| times that.
    const __m512 rest = exponential<exact>(_mm512_mul_ps(_mm512_mul_ps(z, z), _mm512_set1_ps(-1.0f)));
    const __m512 beyond = _mm512_mul_ps(_mm512_mul_ps(sum, t), _mm512_mul_ps(rest, _mm512_set1_ps(0.5f)));
    return _mm512_fnmadd_ps(size, beyond, _mm512_max_ps(_mm512_setzero_ps(), x));
  }
  // x / (1 + e^-g(x)): g(x) = 1.702 x, or 2 sqrt(2 / pi) (x + 0.044715 x^3).
  const __m512 cubic = _mm512_fmadd_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(0.044715f), one);
  const __m512 g = activation == Activation::tanh_gelu
                       ? _mm512_mul_ps(_mm512_mul_ps(x, _mm512_set1_ps(-1.5957691f)), cubic)
                       : _mm512_mul_ps(x, _mm512_set1_ps(-1.702f));
  return _mm512_mul_ps(x, inverse<exact>(_mm512_add_ps(one, exponential<exact>(g))));
}
PROBE_AVX512_INLINE __m512 activate(__m512 x, Activation activation) { return activate_to<true>(x, activation); }
PROBE_AVX512_INLINE __m512 activate_roughly(__m512 x, Activation activation) { return activate_to<false>(x, activation); }

}  // namespace probe
