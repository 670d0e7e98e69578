// Loops of a transformer block that LibTorch's operators leave time in, for CPUs with AVX2 and FMA
// in float32. No LibTorch here. Private to the LibTorch runtime.
#pragma once

#include <cstdint>
#include <vector>

namespace probe {

// True if this CPU runs them. With AVX-512 LibTorch's own are wider.
bool can_use_tower_kernels();

// Rows of floats: each row contiguous, `stride` floats from one to the next.
struct FloatRows {
  const float* data = nullptr;
  std::int64_t stride = 0;
};

// One head of attention: out = softmax(scale q k^T) v, with q, out [rows, width], k, v
// [keys, width]. The scores of six queries at a time stay in the cache (Dao et al., 2022, without
// its online softmax: at up to a few thousand keys a row of scores fits).
// NaN and infinity in the inputs give NaN. `scratch` is reused from call to call.
void attend(FloatRows q, FloatRows k, FloatRows v, float* out, std::int64_t out_stride,
            std::int64_t rows, std::int64_t keys, std::int64_t width, float scale,
            std::vector<float>& scratch);

// In place: x sigmoid(1.702 x), and GELU's tanh form.
void quick_gelu(float* values, std::int64_t count);
void tanh_gelu(float* values, std::int64_t count);

}  // namespace probe
