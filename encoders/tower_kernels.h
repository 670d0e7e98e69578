// Loops of a transformer block that LibTorch's operators leave time in. No LibTorch here. Private to
// the LibTorch runtime.
#pragma once

#include <cstdint>
#include <vector>

namespace probe {

enum class Bfloat16 : std::uint16_t {};

// One head of attention: out = softmax(scale q k^T) v, with q and out [rows, width], k and v [keys,
// width]. Each row is contiguous; strides in elements from one row to the next.
template <typename T>
struct Head {
  const T *q = nullptr, *k = nullptr, *v = nullptr;
  std::int64_t q_stride = 0, k_stride = 0, v_stride = 0;
  T* out = nullptr;
  std::int64_t out_stride = 0;
  std::int64_t rows = 0, keys = 0, width = 0;
  float scale = 1.0f;  // above 0
};

using Scratch = std::vector<float>;  // reused from call to call

// For one type. The scores of a few queries at a time stay in the cache (Dao et al., 2022, without
// its online softmax: at up to a few thousand keys a row of scores fits); sums are float32.
// NaN in the inputs gives NaN; infinite scores may.
template <typename T>
struct KernelsFor {
  void (*attend)(const Head<T>&, Scratch&) = nullptr;
  // In place: x sigmoid(1.702 x), and GELU's tanh form.
  void (*quick_gelu)(T* values, std::int64_t count) = nullptr;
  void (*tanh_gelu)(T* values, std::int64_t count) = nullptr;
};

// What one set of instructions has. Members without functions: LibTorch's own are better there.
struct TowerKernels {
  const char* name = "none";
  KernelsFor<float> floats;
  KernelsFor<Bfloat16> halves;
};

// Those that this CPU runs, the best first.
std::vector<TowerKernels> tower_kernels();

}  // namespace probe
