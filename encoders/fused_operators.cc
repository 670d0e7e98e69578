#include "encoders/fused_operators.h"

#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <cmath>

#include "encoders/tower_kernels.h"

namespace probe {
namespace {

using at::Tensor;

// LibTorch's oneDNN products are operators without a C++ header. Their names are private to
// LibTorch, so its version is pinned, and tests hold this path to the plain one.
template <typename Function>
c10::TypedOperatorHandle<Function> find_operator(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).template typed<Function>();
}

Tensor linear(const Tensor& x, const Tensor& packed, const std::optional<Tensor>& bias,
              const std::optional<Tensor>& residual) {
  auto sizes = x.sizes().vec();
  sizes.back() = packed.size(0);
  if (residual && residual->sizes() != at::IntArrayRef(sizes)) {  // it is spread over more
    return at::add(linear(x, packed, bias, std::nullopt), *residual);
  }
  if (residual) {
    static const auto with_residual =
        find_operator<Tensor(const Tensor&, const Tensor&, const Tensor&,
                             const std::optional<Tensor>&, c10::string_view)>(
            "mkldnn::_linear_pointwise", "binary");
    return with_residual.call(x.contiguous(), residual->contiguous(), packed, bias, "add");
  }
  static const auto alone =
      find_operator<Tensor(const Tensor&, const Tensor&, const std::optional<Tensor>&,
                           c10::string_view, c10::List<std::optional<at::Scalar>>,
                           std::optional<c10::string_view>)>("mkldnn::_linear_pointwise", "");
  return alone.call(x.contiguous(), packed, bias, "none",
                    c10::List<std::optional<at::Scalar>>(), "");
}

template <void (*kernel)(float*, std::int64_t)>
Tensor& in_place(Tensor& x) {
  float* const values = x.data_ptr<float>();
  constexpr std::int64_t kGrain = 1 << 14;
  at::parallel_for(0, x.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    kernel(values + begin, end - begin);
  });
  return x;
}

// Rows of one head: a view wherever its channels lie side by side.
Tensor with_dense_rows(const Tensor& x) { return x.stride(3) == 1 ? x : x.contiguous(); }

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value,
                 std::optional<double> scale) {
  const auto alike = [&](const Tensor& x) {
    return x.dim() == 4 && x.scalar_type() == at::kFloat && x.size(0) == query.size(0) &&
           x.size(1) == query.size(1) && x.size(3) == query.size(3) && x.numel() > 0;
  };
  if (!alike(query) || !alike(key) || !alike(value) || key.size(2) != value.size(2)) {
    return at::scaled_dot_product_attention(query, key, value, {}, 0.0, false, scale);
  }
  const Tensor q = with_dense_rows(query), k = with_dense_rows(key), v = with_dense_rows(value);
  const std::int64_t batch = q.size(0), heads = q.size(1), rows = q.size(2), width = q.size(3);
  // Tokens outside, heads inside: the order in which the next product reads them.
  Tensor out = at::empty({batch, rows, heads, width}, q.options());
  const auto factor = static_cast<float>(scale.value_or(1.0 / std::sqrt(double(width))));
  const auto head_of = [](const Tensor& x, std::int64_t b, std::int64_t h) {
    return FloatRows{x.data_ptr<float>() + b * x.stride(0) + h * x.stride(1), x.stride(2)};
  };
  at::parallel_for(0, batch * heads, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> scratch;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t b = i / heads, h = i % heads;
      attend(head_of(q, b, h), head_of(k, b, h), head_of(v, b, h),
             out.data_ptr<float>() + (b * rows * heads + h) * width, heads * width, rows,
             k.size(2), width, factor, scratch);
    }
  });
  return out.transpose(1, 2);
}

}  // namespace

bool can_pack(at::ScalarType type) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (!at::hasMKLDNN()) return false;
  if (type == at::kFloat) return true;
  return type == at::kBFloat16 && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

Tensor pack_weight(const Tensor& weight, std::int64_t rows) {
  static const auto pack =
      find_operator<Tensor(const Tensor&, std::optional<c10::SymInt>)>(
          "mkldnn::_reorder_linear_weight", "");
  return pack.call(weight.contiguous(), c10::SymInt(rows));
}

}  // namespace probe

TORCH_LIBRARY(probe, library) {
  library.def("linear(Tensor x, Tensor packed, Tensor? bias, Tensor? residual) -> Tensor",
              &probe::linear);
  library.def("quick_gelu_(Tensor(a!) x) -> Tensor(a!)", &probe::in_place<probe::quick_gelu>);
  library.def("tanh_gelu_(Tensor(a!) x) -> Tensor(a!)", &probe::in_place<probe::tanh_gelu>);
  library.def("attention(Tensor q, Tensor k, Tensor v, float? scale) -> Tensor",
              &probe::attention);
}
