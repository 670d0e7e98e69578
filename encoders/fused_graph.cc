#include "encoders/fused_graph.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <cmath>
#include <optional>
#include <vector>

#include "encoders/fused_operators.h"

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
    if (has_kernels(weight_of(linears.front())->scalar_type())) {
      for (Node* linear : linears) fuse_activation(*linear);
      for (Node* attention : attentions) fuse_attention(*attention);
    }
    for (Node* linear : linears) fuse_linear(*linear);
    torch::jit::EliminateDeadCode(graph_.block());
    return static_cast<int>(linears.size());
  }

 private:
  // A node before `place` that takes over from `output`.
  void take_over(const char* kind, const std::vector<Value*>& inputs, Node* place, Value* output) {
    const torch::jit::WithInsertPoint here(place);
    Node* const fused = graph_.create(c10::Symbol::fromQualString(kind), inputs, 1);
    graph_.insertNode(fused);
    fused->output()->setType(output->type());
    output->replaceAllUsesWith(fused->output());
  }

  // y sigmoid(1.702 y) as our exporter writes it, or gelu(y, "tanh"), where nothing else needs y.
  void fuse_activation(Node& linear) {
    Value* const y = linear.output();
    if (Node* const gelu = only_user(y); gelu != nullptr && is(gelu, "aten::gelu")) {
      const auto form = torch::jit::toIValue(gelu->input(1));
      if (form && form->isString() && form->toStringRef() == "tanh") {
        take_over(kFusedTanhGelu, {y}, gelu, gelu->output());
        gelu->destroy();
      }
      return;
    }
    if (y->uses().size() != 2) return;
    for (const auto& use : y->uses()) {
      Node* const scaled = use.user;
      if (!is(scaled, "aten::mul") || scaled->input(0) != y) continue;
      const auto factor = number(scaled->input(1));
      Node* const sigmoid = only_user(scaled->output());
      if (!factor || std::abs(*factor - 1.702) > 1e-6 || !sigmoid || !is(sigmoid, "aten::sigmoid")) continue;
      Node* const product = only_user(sigmoid->output());
      if (product == nullptr || !is(product, "aten::mul")) continue;
      if (product->input(0) != y && product->input(1) != y) continue;
      take_over(kFusedQuickGelu, {y}, product, product->output());
      product->destroy();
      sigmoid->destroy();
      scaled->destroy();
      return;
    }
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

  void fuse_linear(Node& linear) {
    Node* add = only_user(linear.output());
    Value* residual = nullptr;
    if (add != nullptr && is(add, "aten::add") && number(add->input(2)) == 1.0) {
      residual = add->input(add->input(0) == linear.output() ? 1 : 0);
    }
    if (residual == nullptr || residual == linear.output() ||
        !residual->type()->isSubtypeOf(*c10::TensorType::get())) {
      residual = nullptr;
      add = nullptr;
    }
    Node* const last = add == nullptr ? &linear : add;
    const torch::jit::WithInsertPoint here(last);
    if (residual == nullptr) residual = graph_.insertConstant(c10::IValue());
    Value* used = linear.input(1);
    if (const at::Tensor plain = *weight_of(&linear); packing_wins(plain.scalar_type())) {
      // Tensors in oneDNN's layout have no storage, which common constants must have.
      Node* const packed = graph_.create(torch::jit::prim::ConstantMKLDNNTensor);
      packed->t_(torch::jit::attr::value, pack_weight(plain, rows_));
      used = graph_.insertNode(packed)->output();
    }
    take_over(kFusedLinear, {linear.input(0), used, linear.input(2), residual}, last, last->output());
    Node* const weight = linear.input(1)->node();
    if (add != nullptr) add->destroy();
    linear.destroy();
    // At once, or all weights would be in memory twice.
    if (!weight->hasUses()) weight->destroy();
  }

  Graph& graph_;
  std::int64_t rows_;
};

}  // namespace

int fuse_graph(torch::jit::Module& frozen, std::int64_t rows) {
  const auto graph = frozen.get_method("forward").graph();
  if (!is_plain_list(*graph)) return 0;
  return Fusion(*graph, rows).run();
}

}  // namespace probe
