#include <algorithm>
#include <cmath>

#include "encoders/tower_kernel_sets.h"

#ifdef PROBE_HAS_X86_KERNELS

#include "encoders/amx_tiles.h"

namespace probe {
namespace {

struct Floats {
  __m512 low, high;
};

// Which of 32 values from `i` on are there.
struct Masks {
  __mmask16 low, high;
};
PROBE_AVX512_INLINE Masks masks_at(std::int64_t i, std::int64_t depth) {
  return {first_lanes(depth - i), first_lanes(std::max<std::int64_t>(0, depth - i - kLanes))};
}

PROBE_AVX512_INLINE Floats load_step(const Bfloat16* from, Masks masks) {
  return {load(from, masks.low), load(from + kLanes, masks.high)};
}

// Mean and then mean square of the distance from it: two passes over a row, which stays in the first cache.
PROBE_AVX512 void normalize_row(const LayerNorm<Bfloat16>& norm, const Bfloat16* row, std::int64_t step_stride,
                                Bfloat16* out) {
  const std::int64_t depth = norm.depth;
  const float share = 1.0f / static_cast<float>(depth);
  __m512 sum = _mm512_setzero_ps(), other = sum;
  for (std::int64_t i = 0; i < depth; i += kDepth) {
    const Floats x = load_step(row + i, masks_at(i, depth));
    sum = _mm512_add_ps(sum, x.low);
    other = _mm512_add_ps(other, x.high);
  }
  const __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(_mm512_add_ps(sum, other)) * share);
  sum = other = _mm512_setzero_ps();
  for (std::int64_t i = 0; i < depth; i += kDepth) {
    const Masks masks = masks_at(i, depth);
    const Floats x = load_step(row + i, masks);
    const __m512 low = _mm512_maskz_sub_ps(masks.low, x.low, mean);
    const __m512 high = _mm512_maskz_sub_ps(masks.high, x.high, mean);
    sum = _mm512_fmadd_ps(low, low, sum);
    other = _mm512_fmadd_ps(high, high, other);
  }
  const float variance = _mm512_reduce_add_ps(_mm512_add_ps(sum, other)) * share;
  const __m512 scale = _mm512_set1_ps(1.0f / std::sqrt(variance + norm.epsilon));
  for (std::int64_t i = 0; i < depth; i += kDepth, out += step_stride) {
    const Masks masks = masks_at(i, depth);
    const Floats x = load_step(row + i, masks), weight = load_step(norm.weight + i, masks);
    const Floats bias = load_step(norm.bias + i, masks);
    const __m512 low = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_sub_ps(x.low, mean), scale), weight.low, bias.low);
    const __m512 high = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_sub_ps(x.high, mean), scale), weight.high, bias.high);
    _mm512_storeu_si512(out, (__m512i)_mm512_cvtne2ps_pbh(high, low));
  }
}

}  // namespace

PROBE_AVX512 void amx_layer_norm(const LayerNorm<Bfloat16>& norm) {
  const PairedRows rows = paired(norm.rows, norm.depth);
  const std::int64_t a_pair = 2 * rows.height;
  for (std::int64_t place = norm.begin; place < norm.end; ++place) {
    const std::int64_t row = std::min(place, norm.rows - 1);
    normalize_row(norm, norm.x + row * norm.depth, rows.a_step(),
                  norm.out + place / a_pair * rows.a_pair() + place % a_pair * kDepth);
  }
}

}  // namespace probe

#endif
