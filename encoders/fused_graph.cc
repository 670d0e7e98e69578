#include "encoders/fused_graph.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "encoders/fused_operators.h"
#include "encoders/tower_kernels.h"

namespace probe {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

bool is(const Node* node, const char* kind) {
  return node->kind() == c10::Symbol::fromQualString(kind);
}

std::optional<double> number(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  if (!constant || !(constant->isInt() || constant->isDouble())) return std::nullopt;
  return constant->isInt() ? static_cast<double>(constant->toInt()) : constant->toDouble();
}

bool is_none(const Value* value) { return value->type()->kind() == c10::TypeKind::NoneType; }

// The only node that uses `value`, if there is one alone.
Node* only_user(const Value* value) {
  return value->uses().size() == 1 ? value->uses().front().user : nullptr;
}

// Nodes run one after the other, and none changes what another has made.
bool is_plain_list(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    if (!node->blocks().empty()) return false;
    const c10::FunctionSchema* schema = node->maybeSchema();
    if (schema != nullptr && schema->is_mutable()) return false;
  }
  return true;
}

// A weight [n, k] that is known now.
std::optional<at::Tensor> weight_of(const Node* linear) {
  const auto constant = torch::jit::toIValue(linear->input(1));
  if (!constant || !constant->isTensor()) return std::nullopt;
  const at::Tensor weight = constant->toTensor();
  if (weight.dim() != 2 || !weight.device().is_cpu() || !can_pack(weight.scalar_type())) return std::nullopt;
  return weight;
}

class Fusion {
 public:
  Fusion(Graph& graph, std::int64_t rows) : graph_(graph), rows_(rows) {}

  int run() {
    std::vector<Node*> linears, attentions;
    for (Node* node : graph_.nodes()) {
      if (is(node, "aten::linear") && weight_of(node)) linears.push_back(node);
      if (is(node, "aten::scaled_dot_product_attention")) attentions.push_back(node);
    }
    if (linears.empty()) return 0;
    // Towers are of one type.
    const at::ScalarType type = weight_of(linears.front())->scalar_type();
    const bool own = has_products(type, rows_);
    if (has_kernels(type)) {
      if (!own) for (Node* linear : linears) fuse_activation(*linear);
      for (Node* attention : attentions) fuse_attention(*attention);
    }
    if (own) scratch_ = at::empty(largest(linears), at::TensorOptions(type));
    for (Node* linear : linears) fuse_linear(*linear, own && weight_of(linear)->scalar_type() == type);
    if (own && has_packed_rows(type)) pack_rows();
    torch::jit::EliminateDeadCode(graph_.block());
    return static_cast<int>(linears.size());
  }

 private:
  static std::int64_t largest(const std::vector<Node*>& linears) {
    std::int64_t most = 0;
    for (const Node* linear : linears) most = std::max(most, weight_of(linear)->numel());
    return most;
  }

  // A node before `place` that takes over from `output`.
  void take_over(const char* kind, const std::vector<Value*>& inputs, Node* place, Value* output) {
    const torch::jit::WithInsertPoint here(place);
    Node* const fused = graph_.create(c10::Symbol::fromQualString(kind), inputs, 1);
    graph_.insertNode(fused);
    fused->output()->setType(output->type());
    output->replaceAllUsesWith(fused->output());
  }

  // What is done to a product's result, by nodes of which the last one comes first.
  struct Gate {
    Activation activation = Activation::none;
    std::vector<Node*> nodes;
  };

  // gelu(y), or y sigmoid(1.702 y) as our exporter writes it, where nothing else needs y.
  Gate gate_of(Value* y) const {
    if (Node* const gelu = only_user(y); gelu != nullptr && is(gelu, "aten::gelu")) {
      const auto form = torch::jit::toIValue(gelu->input(1));
      if (!form || !form->isString()) return {};
      if (form->toStringRef() == "tanh") return {Activation::tanh_gelu, {gelu}};
      return form->toStringRef() == "none" ? Gate{Activation::gelu, {gelu}} : Gate();
    }
    if (y->uses().size() != 2) return {};
    for (const auto& use : y->uses()) {
      Node* const scaled = use.user;
      if (!is(scaled, "aten::mul") || scaled->input(0) != y) continue;
      const auto factor = number(scaled->input(1));
      Node* const sigmoid = only_user(scaled->output());
      if (!factor || std::abs(*factor - 1.702) > 1e-6 || !sigmoid || !is(sigmoid, "aten::sigmoid")) continue;
      Node* const product = only_user(sigmoid->output());
      if (product == nullptr || !is(product, "aten::mul")) continue;
      if (product->input(0) != y && product->input(1) != y) continue;
      return {Activation::quick_gelu, {product, sigmoid, scaled}};
    }
    return {};
  }

  void destroy(const std::vector<Node*>& nodes) {
    for (Node* node : nodes) node->destroy();
  }

  // In place, after LibTorch's product. Its GELU is not worse than one of ours.
  void fuse_activation(Node& linear) {
    Value* const y = linear.output();
    const Gate gate = gate_of(y);
    if (gate.activation == Activation::none || gate.activation == Activation::gelu) return;
    Node* const last = gate.nodes.front();
    take_over(gate.activation == Activation::tanh_gelu ? kFusedTanhGelu : kFusedQuickGelu, {y}, last, last->output());
    destroy(gate.nodes);
  }

  void fuse_attention(Node& attention) {
    const auto dropout = number(attention.input(4));
    const auto causal = torch::jit::toIValue(attention.input(5));
    const bool plain = is_none(attention.input(3)) && dropout == 0.0 && causal &&
                       causal->isBool() && !causal->toBool();
    if (!plain) return;
    take_over(kFusedAttention,
              {attention.input(0), attention.input(1), attention.input(2), attention.input(6)},
              &attention, attention.output());
    attention.destroy();
  }

  // The addition of a tensor to `y`, if that is all that y is for, and the tensor.
  std::pair<Node*, Value*> residual_of(const Value* y) const {
    Node* const add = only_user(y);
    if (add == nullptr || !is(add, "aten::add") || number(add->input(2)) != 1.0) return {};
    Value* const residual = add->input(add->input(0) == y ? 1 : 0);
    if (residual == y || !residual->type()->isSubtypeOf(*c10::TensorType::get())) return {};
    return {add, residual};
  }

  // How many constants of the graph lie in this tensor's memory.
  std::int64_t constants_of(const at::Tensor& tensor) const {
    std::int64_t found = 0;
    for (const Node* node : graph_.nodes()) {
      if (node->kind() != torch::jit::prim::Constant || node->outputs().size() != 1) continue;
      const auto constant = torch::jit::toIValue(node->output());
      found += constant && constant->isTensor() && constant->toTensor().has_storage() &&
               constant->toTensor().is_alias_of(tensor);
    }
    return found;
  }

  void fuse_linear(Node& linear, bool own) {
    const at::Tensor plain = *weight_of(&linear);
    const Gate gate = own ? gate_of(linear.output()) : Gate();
    std::vector<Node*> replaced = gate.nodes;
    Value* residual = nullptr;
    if (replaced.empty()) {
      const auto [add, other] = residual_of(linear.output());
      residual = other;
      if (add != nullptr) replaced.push_back(add);
    }
    replaced.push_back(&linear);
    Node* const last = replaced.front();
    const torch::jit::WithInsertPoint here(last);
    if (residual == nullptr) residual = graph_.insertConstant(c10::IValue());
    Node* const weight = linear.input(1)->node();
    if (own) {
      const bool alone = linear.input(1)->uses().size() == 1 && constants_of(plain) == 1;
      Value* const packed = graph_.insertConstant(pack_for_product(plain, alone ? &scratch_ : nullptr));
      Value* const columns = graph_.insertConstant(plain.size(0));
      Value* const activation = graph_.insertConstant(static_cast<std::int64_t>(gate.activation));
      Value* const plain_rows = graph_.insertConstant(false);
      take_over(kFusedProduct, {linear.input(0), packed, columns, linear.input(2), residual, activation, plain_rows, plain_rows},
                last, last->output());
    } else {
      Value* used = linear.input(1);
      if (packing_wins(plain.scalar_type())) {
        // Tensors in oneDNN's layout have no storage, which common constants must have.
        Node* const packed = graph_.create(torch::jit::prim::ConstantMKLDNNTensor);
        packed->t_(torch::jit::attr::value, pack_weight(plain, rows_));
        used = graph_.insertNode(packed)->output();
      }
      take_over(kFusedLinear, {linear.input(0), used, linear.input(2), residual}, last, last->output());
    }
    destroy(replaced);
    // At once, or all weights would be in memory twice.
    if (!weight->hasUses()) weight->destroy();
  }

  static constexpr int kXPacked = 6, kPackOut = 7;  // inputs of probe::product

  void set(Node& product, int input) {
    const torch::jit::WithInsertPoint here(&product);
    product.replaceInput(input, graph_.insertConstant(true));
  }

  // What products alone read as their rows is left in the order in which they read it.
  void pack_rows() {
    std::vector<Node*> nodes(graph_.nodes().begin(), graph_.nodes().end());
    for (Node* node : nodes) {
      if (node->outputs().size() != 1 || !node->output()->hasUses()) continue;
      const auto& uses = node->output()->uses();
      const bool for_products = std::all_of(uses.begin(), uses.end(), [](const auto& use) {
        return is(use.user, kFusedProduct) && use.offset == 0;
      });
      if (!for_products) continue;
      std::vector<Node*> readers;
      for (const auto& use : uses) readers.push_back(use.user);
      if (is(node, kFusedProduct) && is_none(node->input(4))) {
        set(*node, kPackOut);
      } else if (is_layer_norm(*node)) {
        take_over(kFusedLayerNorm, {node->input(0), node->input(2), node->input(3), node->input(4)}, node, node->output());
        node->destroy();
      } else {
        continue;
      }
      for (Node* reader : readers) set(*reader, kXPacked);
    }
  }

  // Over the last dimension, with a weight and a bias.
  static bool is_layer_norm(const Node& node) {
    if (!is(&node, "aten::layer_norm")) return false;
    const auto shape = torch::jit::toIValue(node.input(1));
    const auto weight = torch::jit::toIValue(node.input(2)), bias = torch::jit::toIValue(node.input(3));
    return shape && shape->isIntList() && shape->toIntVector().size() == 1 && weight && weight->isTensor() && bias &&
           bias->isTensor() && weight->toTensor().scalar_type() == at::kBFloat16 && bias->toTensor().scalar_type() == at::kBFloat16;
  }

  Graph& graph_;
  std::int64_t rows_;
  at::Tensor scratch_;
};

}  // namespace

int fuse_graph(torch::jit::Module& frozen, std::int64_t rows) {
  const auto graph = frozen.get_method("forward").graph();
  if (!is_plain_list(*graph)) return 0;
  return Fusion(*graph, rows).run();
}

}  // namespace probe
