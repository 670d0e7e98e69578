// Rewritten graphs give what the graphs gave, and are rewritten where they should be.
#include "encoders/fused_graph.h"

#include <gtest/gtest.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/api/module.h>

#include <functional>

#include "encoders/fused_operators.h"

namespace probe {
namespace {

constexpr int kRows = 12;

// What a product becomes, and how many nodes an activation after it is.
const char* product_kind() { return has_products(at::kFloat, kRows) ? kFusedProduct : kFusedLinear; }
int activation_nodes() { return has_kernels(at::kFloat) && !has_products(at::kFloat, kRows) ? 1 : 0; }

// A module of this forward with weights up [24, 8], down [8, 24], square [8, 8] and biases.
torch::jit::Module module_of(const std::string& body, at::ScalarType type = at::kFloat) {
  torch::manual_seed(3);
  torch::jit::Module module("tower");
  for (const auto& [name, rows, columns] :
       {std::tuple{"up", 24, 8}, std::tuple{"down", 8, 24}, std::tuple{"square", 8, 8}}) {
    module.register_parameter(name, torch::randn({rows, columns}) * 0.3, false);
    module.register_parameter(std::string(name) + "_bias", torch::randn({rows}), false);
  }
  module.define("def forward(self, x):\n" + body);
  module.eval();
  module.to(type);
  return torch::jit::freeze(module);
}

int count(const torch::jit::Module& module, const char* kind) {
  int found = 0;
  for (const auto* node : module.get_method("forward").graph()->nodes()) {
    found += node->kind() == c10::Symbol::fromQualString(kind);
  }
  return found;
}

// The rewritten module; what it answers is what the module answered.
torch::jit::Module fused(const std::string& body, int products) {
  const c10::InferenceMode guard;
  torch::jit::Module plain = module_of(body), rewritten = module_of(body);
  EXPECT_EQ(fuse_graph(rewritten, kRows), products);
  for (const int pictures : {1, 3, 5}) {  // 4, 12 and 20 rows
    const at::Tensor x = torch::randn({pictures, 4, 8});
    for (int run = 0; run < 3; ++run) {  // the first runs of a graph are profiled
      const at::Tensor wanted = plain.forward({x}).toTensor(), got = rewritten.forward({x}).toTensor();
      EXPECT_EQ(got.sizes(), wanted.sizes());
      EXPECT_LT((got - wanted).abs().max().item<float>(), 1e-5f) << body;
    }
  }
  return rewritten;
}

const std::string kUp = "  y = torch.linear(x, self.up, self.up_bias)\n";
const std::string kDown = "torch.linear(y, self.down, self.down_bias)\n";

TEST(FusedGraph, ABlockOfClipBecomesThreeSteps) {
  const auto module =
      fused(kUp + "  y = y * torch.sigmoid(y * 1.702)\n  return x + " + kDown, 2);
  EXPECT_EQ(count(module, product_kind()), 2);
  EXPECT_EQ(count(module, "aten::add"), 0);
  EXPECT_EQ(count(module, kFusedQuickGelu), activation_nodes());
  EXPECT_EQ(count(module, "aten::sigmoid"), has_kernels(at::kFloat) ? 0 : 1);
}

TEST(FusedGraph, ABlockOfSiglipToo) {
  const auto module =
      fused(kUp + "  y = torch.gelu(y, approximate='tanh')\n  return " + kDown + "", 2);
  EXPECT_EQ(count(module, kFusedTanhGelu), activation_nodes());
  const auto exact = fused(kUp + "  y = torch.gelu(y)\n  return " + kDown, 2);
  EXPECT_EQ(count(exact, "aten::gelu"), has_products(at::kFloat, kRows) ? 0 : 1);
  EXPECT_EQ(count(exact, kFusedTanhGelu), 0);
}

TEST(FusedGraph, WhatSomethingElseNeedsIsNotWrittenOver) {
  const auto gelu = fused(kUp + "  z = torch.gelu(y, approximate='tanh')\n  return z + y\n", 1);
  EXPECT_EQ(count(gelu, kFusedTanhGelu), 0);
  const auto quick = fused(kUp + "  z = y * torch.sigmoid(y * 1.702)\n  return z + y\n", 1);
  EXPECT_EQ(count(quick, kFusedQuickGelu), 0);
  const auto other = fused(kUp + "  return y * torch.sigmoid(y * 1.7)\n", 1);
  EXPECT_EQ(count(other, kFusedQuickGelu), 0);
}

TEST(FusedGraph, AdditionsOfEveryKind) {
  const std::string square = "torch.linear(x, self.square, self.square_bias)";
  EXPECT_EQ(count(fused("  return " + square + " + x\n", 1), "aten::add"), 0);
  fused("  y = " + square + "\n  return y + y\n", 1);
  fused("  return " + square + " + self.square_bias\n", 1);          // spread over rows
  fused("  return " + square + " + x.unsqueeze(0)\n", 1);            // gives another rank
  fused("  return torch.add(x, " + square + ", alpha=2)\n", 1);
  fused("  return " + square + " + 1.5\n", 1);
  fused("  return torch.linear(x, self.square) + x\n", 1);           // no bias
  fused("  return torch.linear(x.transpose(0, 1), self.square) + x.transpose(0, 1)\n", 1);
}

TEST(FusedGraph, AttentionWithoutAMaskAlone) {
  const std::string attend =
      "  q = torch.linear(x, self.square).unflatten(-1, [2, 4]).transpose(1, 2)\n"
      "  return torch.scaled_dot_product_attention(q, q * 2, q + 1";
  const int kernels = has_kernels(at::kFloat) ? 1 : 0;
  EXPECT_EQ(count(fused(attend + ")\n", 1), kFusedAttention), kernels);
  EXPECT_EQ(count(fused(attend + ", scale=0.3)\n", 1), kFusedAttention), kernels);
  EXPECT_EQ(count(fused(attend + ", is_causal=True)\n", 1), kFusedAttention), 0);
  EXPECT_EQ(count(fused(attend + ", attn_mask=torch.zeros([4, 4]))\n", 1), kFusedAttention), 0);
  // Shapes that the kernel does not know go to LibTorch: fewer keys than values' rows cannot be, but
  // three dimensions can.
  fused("  q = torch.linear(x, self.square)\n  return torch.scaled_dot_product_attention(q, q, q)\n", 1);
}

// Products of ours are taken up to the rows where LibTorch's are faster, and then not.
TEST(FusedGraph, ManyRowsGoToLibTorch) {
  const c10::InferenceMode guard;
  constexpr int kMany = 100000;
  if (has_products(at::kFloat, kMany) || !has_products(at::kFloat, kRows)) GTEST_SKIP() << "one kind for all rows here";
  torch::jit::Module module = module_of(kUp + "  return y\n");
  EXPECT_EQ(fuse_graph(module, kMany), 1);
  EXPECT_EQ(count(module, kFusedLinear), 1);
}

// Weights that two products share are packed twice, not over each other.
TEST(FusedGraph, OneWeightForTwoProducts) {
  fused("  return torch.linear(torch.linear(x, self.square), self.square)\n", 2);
}

TEST(FusedGraph, AProductRefusesWhatItWasNotPackedFor) {
  if (!has_products(at::kFloat, kRows)) GTEST_SKIP() << "this CPU runs LibTorch's own";
  const auto product = c10::Dispatcher::singleton().findSchemaOrThrow(kFusedProduct, "").typed<at::Tensor(
      const at::Tensor&, const at::Tensor&, std::int64_t, const std::optional<at::Tensor>&,
      const std::optional<at::Tensor>&, std::int64_t, bool, bool)>();
  const at::Tensor packed = pack_for_product(torch::randn({24, 8}), nullptr), x = torch::randn({5, 8});
  EXPECT_EQ(product.call(x, packed, 24, {}, {}, 0, false, false).sizes(), at::IntArrayRef({5, 24}));
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { product.call(torch::randn({5, 9}), packed, 24, {}, {}, 0, false, false); },
           [&] { product.call(x, packed, 100, {}, {}, 0, false, false); },
           [&] { product.call(x, packed, 24, torch::randn({23}), {}, 0, false, false); },
           [&] { product.call(x, packed, 24, {}, {}, 9, false, false); },
           [&] { product.call(x.to(at::kDouble), packed, 24, {}, {}, 0, false, false); }}) {
    try {
      call();
      FAIL() << "was not refused";
    } catch (const c10::Error& error) {
      EXPECT_NE(std::string(error.what()).find("probe::product: "), std::string::npos) << error.what();
    }
  }
}

TEST(FusedGraph, BranchesAndMutationStayAsTheyAre) {
  const std::string branch = "  y = torch.linear(x, self.square)\n  if bool(y.sum() > 0):\n    y = y * 2\n  return y\n";
  EXPECT_EQ(count(fused(branch, 0), "aten::linear"), 1);
  const std::string mutation = "  y = torch.linear(x, self.square)\n  y.mul_(2)\n  return y\n";
  EXPECT_EQ(count(fused(mutation, 0), "aten::linear"), 1);
  fused("  return x * 2\n", 0);
}

// Where oneDNN has no bfloat16 for this CPU, the graph stays.
TEST(FusedGraph, OtherTypesAreRewrittenOnlyWhereTheyCanBe) {
  const c10::InferenceMode guard;
  for (const at::ScalarType type : {at::kBFloat16, at::kDouble}) {
    const std::string body = kUp + "  y = y * torch.sigmoid(y * 1.702)\n  return x + " + kDown;
    torch::jit::Module plain = module_of(body, type), rewritten = module_of(body, type);
    EXPECT_EQ(fuse_graph(rewritten, kRows), can_pack(type) ? 2 : 0);
    const at::Tensor x = torch::randn({3, 4, 8}).to(type);
    const at::Tensor wanted = plain.forward({x}).toTensor(), got = rewritten.forward({x}).toTensor();
    EXPECT_EQ(got.scalar_type(), type);
    EXPECT_LT((got - wanted).abs().max().item<float>(), 0.1f);
  }
}

// Rows are left in the products' own order where products alone read them.
TEST(FusedGraph, RowsStayPackedBetweenProducts) {
  if (!has_packed_rows(at::kBFloat16)) GTEST_SKIP() << "this CPU has no packed rows";
  const c10::InferenceMode guard;
  const std::string norm = "  n = torch.layer_norm(x, [8], self.square_bias, self.down_bias, 1e-5)\n";
  const std::string up = "  y = torch.gelu(torch.linear(n, self.up, self.up_bias))\n";
  struct Case {
    std::string body;
    int norms, packed;
  };
  for (const auto& [body, norms, packed] :
       {Case{norm + up + "  return x + " + kDown, 1, 2}, Case{norm + up + "  return n + " + kDown, 0, 1},
        Case{norm + up + "  return torch.cat([y, torch.linear(n, self.square), " + kDown.substr(0, kDown.size() - 1) + "], 2)\n", 1, 2},
        Case{"  n = torch.layer_norm(x, [4, 8], None, None, 1e-5)\n" + up + "  return " + kDown, 0, 1}}) {
    torch::jit::Module plain = module_of(body), rewritten = module_of(body, at::kBFloat16);
    ASSERT_GT(fuse_graph(rewritten, kRows), 1);
    EXPECT_EQ(count(rewritten, kFusedLayerNorm), norms) << body;
    int found = 0;
    for (const auto* node : rewritten.get_method("forward").graph()->nodes()) {
      if (node->kind() != c10::Symbol::fromQualString(kFusedProduct)) continue;
      found += torch::jit::toIValue(node->input(6))->toBool();
    }
    EXPECT_EQ(found, packed) << body;
    for (const int pictures : {1, 3, 30}) {
      const at::Tensor x = torch::randn({pictures, 4, 8});
      const at::Tensor wanted = plain.forward({x}).toTensor(), got = rewritten.forward({x.to(at::kBFloat16)}).toTensor();
      EXPECT_EQ(got.sizes(), wanted.sizes());
      EXPECT_LT((got.to(at::kFloat) - wanted).abs().max().item<float>(), 0.1f) << body;
    }
  }
}

TEST(FusedGraph, PackedRowsAreRefusedWhereTheyCannotBe) {
  if (!has_packed_rows(at::kBFloat16)) GTEST_SKIP() << "this CPU has no packed rows";
  const auto product = c10::Dispatcher::singleton().findSchemaOrThrow(kFusedProduct, "").typed<at::Tensor(
      const at::Tensor&, const at::Tensor&, std::int64_t, const std::optional<at::Tensor>&,
      const std::optional<at::Tensor>&, std::int64_t, bool, bool)>();
  const auto norm = c10::Dispatcher::singleton().findSchemaOrThrow(kFusedLayerNorm, "").typed<at::Tensor(
      const at::Tensor&, const at::Tensor&, const at::Tensor&, double)>();
  const at::Tensor x = torch::randn({5, 8}).to(at::kBFloat16), out = torch::randn({5, 24}).to(at::kBFloat16);
  const at::Tensor packed = pack_for_product(torch::randn({24, 8}).to(at::kBFloat16), nullptr), one = torch::ones({8}).to(at::kBFloat16);
  const at::Tensor rows = norm.call(x, one, one, 1e-5);
  EXPECT_EQ(product.call(rows, packed, 24, {}, {}, 0, true, false).sizes(), at::IntArrayRef({5, 24}));
  for (const auto& [call, message] : std::vector<std::pair<std::function<void()>, std::string>>{
           {[&] { product.call(x, packed, 24, {}, {}, 0, true, false); }, "probe::product: rows that were not packed"},
           {[&] { product.call(rows.slice(0, 1), packed, 24, {}, {}, 0, true, false); }, "rows that were not packed"},
           {[&] { product.call(rows, packed, 24, {}, out, 0, true, true); }, "probe::product: a residual for packed rows"},
           {[&] { norm.call(x, one.slice(0, 1), one, 1e-5); }, "probe::layer_norm: another weight or bias"},
           {[&] { norm.call(x.to(at::kFloat), one, one, 1e-5); }, "probe::layer_norm: expected bfloat16 rows"}}) {
    try {
      call();
      ADD_FAILURE() << "was not refused: " << message;
    } catch (const c10::Error& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
}

TEST(FusedGraph, AttentionInBfloat16) {
  if (!can_pack(at::kBFloat16)) GTEST_SKIP() << "this CPU has no bfloat16";
  const c10::InferenceMode guard;
  const std::string body =
      "  q = torch.linear(x, self.square).unflatten(-1, [2, 4]).transpose(1, 2)\n"
      "  return torch.scaled_dot_product_attention(q, q * 2, q + 1).transpose(1, 2).flatten(2)\n";
  torch::jit::Module plain = module_of(body), rewritten = module_of(body, at::kBFloat16);
  EXPECT_EQ(fuse_graph(rewritten, kRows), 1);
  EXPECT_EQ(count(rewritten, kFusedAttention), has_kernels(at::kBFloat16) ? 1 : 0);
  const at::Tensor x = torch::randn({3, 40, 8});
  const at::Tensor got = rewritten.forward({x.to(at::kBFloat16)}).toTensor();
  EXPECT_EQ(got.scalar_type(), at::kBFloat16);
  EXPECT_LT((got.to(at::kFloat) - plain.forward({x}).toTensor()).abs().max().item<float>(), 0.05f);
}

}  // namespace
}  // namespace probe
