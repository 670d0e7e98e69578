// Operators that fused_graph puts into a tower's graph. Private to the LibTorch runtime.
#pragma once

#include <ATen/ATen.h>

#include <string_view>

namespace probe {

// Symbols of the operators, registered with LibTorch when the runtime is loaded:
//   probe::linear(Tensor x, Tensor weight, Tensor? bias, Tensor? residual) -> Tensor
//     x [..., k] times a weight [n, k], packed or not, plus bias [n], plus residual [..., n]
//   probe::quick_gelu_(Tensor(a!) x), probe::tanh_gelu_(Tensor(a!) x) -> Tensor(a!)
//   probe::attention(Tensor q, Tensor k, Tensor v, float? scale) -> Tensor
//     softmax(scale q k^T) v of [b, h, t, d]; default scale 1 / sqrt(d)
//   probe::product(Tensor x, Tensor weight, int columns, Tensor? bias, Tensor? residual, int activation,
//                  bool x_packed, bool pack_out) -> Tensor
//     as linear, of a weight from pack_for_product, with an Activation before the residual. Packed tensors
//     have their usual sizes, but their values in the order in which a product reads them.
//   probe::layer_norm(Tensor x, Tensor weight, Tensor bias, float epsilon) -> Tensor
//     over the last dimension, packed
// The last five for types that have kernels here.
inline constexpr const char* kFusedLinear = "probe::linear";
inline constexpr const char* kFusedQuickGelu = "probe::quick_gelu_";
inline constexpr const char* kFusedTanhGelu = "probe::tanh_gelu_";
inline constexpr const char* kFusedProduct = "probe::product";
inline constexpr const char* kFusedLayerNorm = "probe::layer_norm";
inline constexpr const char* kFusedAttention = "probe::attention";

// True if this CPU has kernels of ours (tower_kernels.h) for this type.
bool has_kernels(at::ScalarType type);

// True if products of ours are there for this type on this CPU, and not slower than LibTorch's for inputs of
// `rows` rows.
bool has_products(at::ScalarType type, std::int64_t rows);

// True if products of ours read and leave packed rows of this type.
bool has_packed_rows(at::ScalarType type);

// The weight [n, k] for probe::product. With `scratch`, a vector of its type, where the weight is if it fits
// there: memory that is freed between others is too small for the next.
at::Tensor pack_for_product(const at::Tensor& weight, at::Tensor* scratch);

// True if oneDNN multiplies this type on this CPU (bfloat16 needs AVX-512).
bool can_pack(at::ScalarType type);

// False where LibTorch's product with the weight as it is is faster: float32 on Intel's CPUs, by MKL
// (1.1 times for the shapes of ViT-B/32 and L/14 on one with AVX-512; on AMD's packing wins twice).
bool packing_wins(at::ScalarType type);

// The weight [n, k] in the layout that oneDNN prefers for inputs of `rows` rows.
at::Tensor pack_weight(const at::Tensor& weight, std::int64_t rows);

}  // namespace probe
