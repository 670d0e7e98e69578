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

enum class Activation { none, quick_gelu, tanh_gelu, gelu };  // x sigmoid(1.702 x); GELU's tanh form; GELU

// out = activation(x weight^T + bias) + residual, for some of the columns. x [rows, depth], residual and out
// [rows, columns], all dense.
template <typename T>
struct Product {
  const T* x = nullptr;
  const T* weight = nullptr;  // packed
  const T* bias = nullptr;      // [columns]; null: zeros
  const T* residual = nullptr;  // null: none
  T* out = nullptr;
  std::int64_t rows = 0, depth = 0, columns = 0;  // above 0
  std::int64_t begin = 0, end = 0;                // columns to compute, from a panel's first on
  Activation activation = Activation::none;
  bool x_packed = false;  // x as ProductKernels::packed_rows has it
  bool pack_out = false;  // out too, to be x of another product; then no residual
};

// Products with a weight [columns, depth] that was packed before. Sums are float32; their order is the same
// for all rows.
template <typename T>
struct ProductKernels {
  std::int64_t panel = 0;  // columns
  std::int64_t (*packed_depth)(std::int64_t depth) = nullptr;
  // `out`: packed_depth(depth) for each column, columns rounded up to whole panels.
  void (*pack)(const T* weight, std::int64_t columns, std::int64_t depth, T* out) = nullptr;
  void (*multiply)(const Product<T>&) = nullptr;
  std::int64_t panels(std::int64_t columns) const { return (columns + panel - 1) / panel; }
  std::int64_t most_rows = 0;  // up to which LibTorch's own are not better
  // Elements that `rows` rows take in the order in which a product reads them; null: it reads them as they are.
  std::int64_t (*packed_rows)(std::int64_t rows, std::int64_t depth) = nullptr;
};

// out = (x - mean) / sqrt(variance + epsilon) weight + bias of rows [rows, depth], dense. out: in the order of
// ProductKernels::packed_rows, which has places beyond the last row.
template <typename T>
struct LayerNorm {
  const T *x = nullptr, *weight = nullptr, *bias = nullptr;  // weight and bias [depth]
  T* out = nullptr;
  std::int64_t rows = 0, depth = 0;  // above 0
  std::int64_t begin = 0, end = 0;  // places to compute, of packed_rows / packed_depth
  float epsilon = 0.0f;
};

// For one type. The scores of a few queries at a time stay in the cache (Dao et al., 2022, without
// its online softmax: at up to a few thousand keys a row of scores fits); sums are float32.
// NaN in the inputs gives NaN; infinite scores may.
template <typename T>
struct KernelsFor {
  void (*attend)(const Head<T>&, Scratch&) = nullptr;
  // In place: x sigmoid(1.702 x), and GELU's tanh form.
  void (*quick_gelu)(T* values, std::int64_t count) = nullptr;
  void (*tanh_gelu)(T* values, std::int64_t count) = nullptr;
  ProductKernels<T> products;
  void (*normalize)(const LayerNorm<T>&) = nullptr;  // where there are packed rows
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
