#include "encoders/fused_operators.h"

#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "encoders/tower_kernels.h"
#include "probe/core/avx512.h"

namespace probe {
namespace {

using at::Tensor;

// LibTorch's oneDNN products are operators without a C++ header. Their names are private to
// LibTorch, so its version is pinned, and tests hold this path to the plain one.
template <typename Function>
c10::TypedOperatorHandle<Function> find_operator(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).template typed<Function>();
}

Tensor linear(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
              const std::optional<Tensor>& residual) {
  auto sizes = x.sizes().vec();
  sizes.back() = weight.size(0);
  if (residual && residual->sizes() != at::IntArrayRef(sizes)) {  // it is spread over more
    return at::add(linear(x, weight, bias, std::nullopt), *residual);
  }
  if (!weight.is_mkldnn()) {
    if (!residual) return at::linear(x, weight, bias);
    // The product is added to what is there: one pass over the result less than the other way round.
    const Tensor start = bias ? at::add(*residual, *bias) : residual->clone();
    Tensor out = start.contiguous().reshape({-1, weight.size(0)});
    return out.addmm_(x.reshape({-1, weight.size(1)}), weight.t()).view(sizes);
  }
  if (residual) {
    static const auto with_residual =
        find_operator<Tensor(const Tensor&, const Tensor&, const Tensor&,
                             const std::optional<Tensor>&, c10::string_view)>(
            "mkldnn::_linear_pointwise", "binary");
    return with_residual.call(x.contiguous(), residual->contiguous(), weight, bias, "add");
  }
  static const auto alone =
      find_operator<Tensor(const Tensor&, const Tensor&, const std::optional<Tensor>&,
                           c10::string_view, c10::List<std::optional<at::Scalar>>,
                           std::optional<c10::string_view>)>("mkldnn::_linear_pointwise", "");
  return alone.call(x.contiguous(), weight, bias, "none",
                    c10::List<std::optional<at::Scalar>>(), "");
}

// The best kernels of this CPU.
const TowerKernels& kernels() {
  static const TowerKernels best = [] {
    const std::vector<TowerKernels> sets = tower_kernels();
    return sets.empty() ? TowerKernels() : sets.front();
  }();
  return best;
}

template <typename T>
const KernelsFor<T>& kernels_for() {
  if constexpr (std::is_same_v<T, float>) return kernels().floats;
  else return kernels().halves;
}

template <typename T>
T* data_of(const Tensor& x) {
  return static_cast<T*>(x.data_ptr());
}

// Rows [.., depth] in the order in which a product reads them, as a tensor of their sizes in larger memory.
template <typename T>
Tensor empty_packed(at::IntArrayRef sizes, const Tensor& like) {
  const std::int64_t depth = sizes.back(), rows = c10::multiply_integers(sizes) / depth;
  return at::empty(kernels_for<T>().products.packed_rows(rows, depth), like.options()).as_strided(sizes, c10::contiguous_strides(sizes));
}

template <typename T>
bool is_large_enough(const Tensor& packed) {
  const std::int64_t depth = packed.size(-1), rows = packed.numel() / depth;
  const auto bytes = static_cast<std::size_t>(kernels_for<T>().products.packed_rows(rows, depth)) * sizeof(T);
  return packed.is_contiguous() && packed.storage_offset() == 0 && packed.storage().nbytes() >= bytes;
}

// The packed weight says how deep and how wide it is, so that no archive leads beyond it.
template <typename T>
void multiply(const Tensor& x, const Tensor& weight, const Tensor* bias, const Tensor* residual, Activation activation,
              bool x_packed, bool pack_out, Tensor& out) {
  const ProductKernels<T>& products = kernels_for<T>().products;
  Product<T> all;
  all.depth = x.size(-1), all.columns = out.size(-1), all.rows = out.numel() / all.columns;
  const std::int64_t panels = products.panels(all.columns);
  TORCH_CHECK(weight.is_contiguous() && weight.numel() == panels * products.panel * products.packed_depth(all.depth),
              "probe::product: a weight of another shape");
  all.x = data_of<T>(x), all.weight = data_of<T>(weight), all.out = data_of<T>(out);
  all.bias = bias == nullptr ? nullptr : data_of<T>(*bias);
  all.residual = residual == nullptr ? nullptr : data_of<T>(*residual);
  all.activation = activation, all.x_packed = x_packed, all.pack_out = pack_out;
  if (all.rows == 0) return;
  at::parallel_for(0, panels, 1, [&](std::int64_t begin, std::int64_t end) {
    Product<T> some = all;
    some.begin = begin * products.panel, some.end = std::min(all.columns, end * products.panel);
    products.multiply(some);
  });
}

Tensor product(const Tensor& x, const Tensor& weight, std::int64_t columns, const std::optional<Tensor>& bias,
               const std::optional<Tensor>& residual, std::int64_t activation, bool x_packed, bool pack_out) {
  const at::ScalarType type = x.scalar_type();
  TORCH_CHECK(has_products(type, 1) && weight.scalar_type() == type && columns > 0 && x.dim() > 0 && x.size(-1) > 0,
              "probe::product: expected float rows");
  TORCH_CHECK(!bias || (bias->scalar_type() == type && bias->numel() == columns), "probe::product: another bias");
  TORCH_CHECK(!(x_packed || pack_out) || has_packed_rows(type), "probe::product: no packed rows for this type");
  TORCH_CHECK(!x_packed || is_large_enough<Bfloat16>(x), "probe::product: rows that were not packed");
  TORCH_CHECK(!pack_out || !residual, "probe::product: a residual for packed rows");
  TORCH_CHECK(activation >= 0 && activation <= static_cast<int>(Activation::gelu), "probe::product: no such activation");
  auto sizes = x.sizes().vec();
  sizes.back() = columns;
  Tensor out = pack_out ? empty_packed<Bfloat16>(sizes, x) : at::empty(sizes, x.options());
  const bool alike = residual && residual->sizes() == out.sizes() && residual->scalar_type() == type;
  const Tensor rows = x.contiguous();
  const Tensor offset = bias ? bias->contiguous() : Tensor(), start = alike ? residual->contiguous() : Tensor();
  const auto run = type == at::kFloat ? multiply<float> : multiply<Bfloat16>;
  run(rows, weight, bias ? &offset : nullptr, alike ? &start : nullptr, static_cast<Activation>(activation), x_packed,
      pack_out, out);
  return residual && !alike ? at::add(out, *residual) : out;
}

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  const at::ScalarType type = x.scalar_type();
  TORCH_CHECK(has_packed_rows(type) && x.dim() > 0 && x.size(-1) > 0, "probe::layer_norm: expected bfloat16 rows");
  for (const Tensor& factor : {weight, bias}) {
    TORCH_CHECK(factor.scalar_type() == type && factor.numel() == x.size(-1), "probe::layer_norm: another weight or bias");
  }
  const KernelsFor<Bfloat16>& kernels = kernels_for<Bfloat16>();
  const Tensor rows = x.contiguous(), scale = weight.contiguous(), offset = bias.contiguous();
  const Tensor out = empty_packed<Bfloat16>(x.sizes(), x);
  LayerNorm<Bfloat16> all;
  all.x = data_of<Bfloat16>(rows), all.weight = data_of<Bfloat16>(scale), all.bias = data_of<Bfloat16>(offset);
  all.out = data_of<Bfloat16>(out);
  all.depth = x.size(-1), all.rows = x.numel() / all.depth, all.epsilon = static_cast<float>(epsilon);
  if (all.rows == 0) return out;
  const std::int64_t places = kernels.products.packed_rows(all.rows, all.depth) / kernels.products.packed_depth(all.depth);
  constexpr std::int64_t kGrain = 16;
  at::parallel_for(0, places, kGrain, [&](std::int64_t begin, std::int64_t end) {
    LayerNorm<Bfloat16> some = all;
    some.begin = begin, some.end = end;
    kernels.normalize(some);
  });
  return out;
}

template <typename T>
void in_place(const Tensor& x, void (*kernel)(T*, std::int64_t)) {
  T* const values = data_of<T>(x);
  constexpr std::int64_t kGrain = 1 << 14;
  at::parallel_for(0, x.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    kernel(values + begin, end - begin);
  });
}

// `pick`: one kernel of a KernelsFor. These calls were put where has_kernels says so.
template <typename Pick>
Tensor& activate(Tensor& x, Pick pick) {
  if (x.scalar_type() == at::kFloat) in_place(x, pick(kernels().floats));
  else in_place(x, pick(kernels().halves));
  return x;
}
Tensor& quick_gelu(Tensor& x) {
  return activate(x, [](const auto& set) { return set.quick_gelu; });
}
Tensor& tanh_gelu(Tensor& x) {
  return activate(x, [](const auto& set) { return set.tanh_gelu; });
}

// Rows of one head: a view wherever its channels lie side by side.
Tensor with_dense_rows(const Tensor& x) { return x.stride(3) == 1 ? x : x.contiguous(); }

template <typename T>
Tensor attention_of(const Tensor& query, const Tensor& key, const Tensor& value, double scale) {
  const Tensor q = with_dense_rows(query), k = with_dense_rows(key), v = with_dense_rows(value);
  const std::int64_t batch = q.size(0), heads = q.size(1), rows = q.size(2), width = q.size(3);
  // Tokens outside, heads inside: the order in which the next product reads them.
  Tensor out = at::empty({batch, rows, heads, width}, q.options());
  const auto start_of = [](const Tensor& x, std::int64_t b, std::int64_t h) {
    return data_of<T>(x) + b * x.stride(0) + h * x.stride(1);
  };
  at::parallel_for(0, batch * heads, 1, [&](std::int64_t begin, std::int64_t end) {
    Scratch scratch;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t b = i / heads, h = i % heads;
      Head<T> head;
      head.q = start_of(q, b, h), head.q_stride = q.stride(2);
      head.k = start_of(k, b, h), head.k_stride = k.stride(2);
      head.v = start_of(v, b, h), head.v_stride = v.stride(2);
      head.out = data_of<T>(out) + (b * rows * heads + h) * width, head.out_stride = heads * width;
      head.rows = rows, head.keys = k.size(2), head.width = width;
      head.scale = static_cast<float>(scale);
      kernels_for<T>().attend(head, scratch);
    }
  });
  return out.transpose(1, 2);
}

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value,
                 std::optional<double> scale) {
  const at::ScalarType type = query.scalar_type();
  const auto alike = [&](const Tensor& x) {
    return x.dim() == 4 && x.scalar_type() == type && x.size(0) == query.size(0) &&
           x.size(1) == query.size(1) && x.size(3) == query.size(3) && x.numel() > 0;
  };
  const bool known = has_kernels(type) && scale.value_or(1.0) > 0.0;
  if (!known || !alike(query) || !alike(key) || !alike(value) || key.size(2) != value.size(2)) {
    return at::scaled_dot_product_attention(query, key, value, {}, 0.0, false, scale);
  }
  const double factor = scale.value_or(1.0 / std::sqrt(double(query.size(3))));
  return type == at::kFloat ? attention_of<float>(query, key, value, factor)
                            : attention_of<Bfloat16>(query, key, value, factor);
}

template <typename T>
Tensor pack_as(const Tensor& weight, Tensor* scratch) {
  const ProductKernels<T>& products = kernels_for<T>().products;
  const std::int64_t columns = weight.size(0), depth = weight.size(1);
  const std::vector<std::int64_t> sizes = {products.panels(columns) * products.panel, products.packed_depth(depth)};
  const bool in_place = scratch != nullptr && weight.sizes() == at::IntArrayRef(sizes) && scratch->numel() >= weight.numel();
  const Tensor packed = in_place ? scratch->narrow(0, 0, weight.numel()).view(sizes) : at::empty(sizes, weight.options());
  products.pack(data_of<T>(weight), columns, depth, data_of<T>(packed));
  return in_place ? weight.copy_(packed) : packed;
}

}  // namespace

bool has_kernels(at::ScalarType type) {
  if (type == at::kFloat) return kernels().floats.attend != nullptr;
  return type == at::kBFloat16 && kernels().halves.attend != nullptr;
}

bool has_products(at::ScalarType type, std::int64_t rows) {
  if (type == at::kFloat) return rows <= kernels().floats.products.most_rows;
  return type == at::kBFloat16 && rows <= kernels().halves.products.most_rows;
}

bool has_packed_rows(at::ScalarType type) {
  return type == at::kBFloat16 && kernels().halves.normalize != nullptr;
}

Tensor pack_for_product(const Tensor& weight, Tensor* scratch) {
  const Tensor dense = weight.contiguous();
  if (!dense.is_same(weight)) scratch = nullptr;
  return dense.scalar_type() == at::kFloat ? pack_as<float>(dense, scratch) : pack_as<Bfloat16>(dense, scratch);
}

bool can_pack(at::ScalarType type) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (!at::hasMKLDNN()) return false;
  if (type == at::kFloat) return true;
  return type == at::kBFloat16 && can_use_avx512();
#else
  return false;
#endif
}

bool packing_wins(at::ScalarType type) {
#if defined(__x86_64__) && defined(__GNUC__)
  return type != at::kFloat || !at::hasMKL() || !__builtin_cpu_is("intel");
#else
  return true;
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
  library.def("linear(Tensor x, Tensor weight, Tensor? bias, Tensor? residual) -> Tensor",
              &probe::linear);
  library.def("product(Tensor x, Tensor weight, int columns, Tensor? bias, Tensor? residual, int activation, "
              "bool x_packed, bool pack_out) -> Tensor", &probe::product);
  library.def("layer_norm(Tensor x, Tensor weight, Tensor bias, float epsilon) -> Tensor", &probe::layer_norm);
  library.def("quick_gelu_(Tensor(a!) x) -> Tensor(a!)", &probe::quick_gelu);
  library.def("tanh_gelu_(Tensor(a!) x) -> Tensor(a!)", &probe::tanh_gelu);
  library.def("attention(Tensor q, Tensor k, Tensor v, float? scale) -> Tensor",
              &probe::attention);
}
