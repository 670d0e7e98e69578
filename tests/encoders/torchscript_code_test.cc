#include "encoders/torchscript_code.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace probe {
namespace {

// As torch.jit.save writes a traced layer.
constexpr const char* kTraced =
    "class Mlp(Module):\n"
    "  __parameters__ = []\n"
    "  fc1 : __torch__.torch.nn.modules.linear.Linear\n"
    "  def forward(self: __torch__.timm.Mlp,\n"
    "    x: Tensor) -> Tensor:\n"
    "    fc1 = self.fc1\n"
    "    _0 = ops.prim.NumToTensor(torch.size(x, 0))\n"
    "    y = torch.gelu((fc1).forward(x, ), approximate=\"print(tanh)\")\n"
    "    z = torch.view(y, [int(_0), -1])\n"
    "    return torch.add(z, CONSTANTS.c0, alpha=1)\n";

void check(const std::string& line) {
  check_torchscript_code("class A(Module):\n  def forward(self, x: Tensor) -> Tensor:\n    " + line +
                             "\n    return x\n",
                         "a.py");
}

TEST(TorchscriptCode, WhatATracedTowerCallsIsLetIn) {
  EXPECT_NO_THROW(check_torchscript_code(kTraced, "a.py"));
}

TEST(TorchscriptCode, AllElseIsRefusedWithItsLine) {
  for (const char* line :
       {"y = torch.from_file(\"/etc/passwd\")", "y = ops.aten.from_file(\"x\")",
        "torch.save(x, \"f\")", "print(x)", "y = ops.image.read_file(\"x\")",
        "y = (\"/etc/passwd\").from_file(False, 9)", 
        "y = torch.from_file\\\n  (\"x\")", "y = [torch.from_file # c\n (\"x\")]",
        "y = __torch__.torch.classes.quantized.Conv2dPackedParamsBase.unpack(x)",
        "y = torch.nn.functional.linear(x)", "y = torch.rand([2])", "y = self.helper(x)",
        "y = open(\"x\")", "y = exec(\"x\")"}) {
    EXPECT_PROBE_ERROR(check(line), ErrorKind::model, "a.py:3: calls \"");
  }
  EXPECT_PROBE_ERROR(check("y = torch . from_file(\"x\")"), ErrorKind::model,
                     "a.py:3: names \"torch\" without calling it");
  EXPECT_PROBE_ERROR(check("int = torch.from_file"), ErrorKind::model,
                     "a.py:3: names \"torch.from_file\" without calling it");
  EXPECT_PROBE_ERROR(check_torchscript_code("def __setstate__(self):\n", "a.py"), ErrorKind::model,
                     "a.py:1: defines the method \"__setstate__\"; only forward is expected");
  EXPECT_PROBE_ERROR(check("y = " + std::string(300, '(')), ErrorKind::model,
                     "a.py:3: brackets nested more than 200 deep");
  EXPECT_PROBE_ERROR(check("y = \"open"), ErrorKind::model, "a.py:3: a string does not end");
}

TEST(TorchscriptCode, NodesGoByTheSameList) {
  EXPECT_TRUE(is_encoder_operator("aten::scaled_dot_product_attention"));
  EXPECT_TRUE(is_encoder_operator("prim::GetAttr"));
  for (const char* kind : {"aten::from_file", "aten::save", "prim::Print", "prim::CallFunction",
                           "image::read_file", "linear", "aten::rand"}) {
    EXPECT_FALSE(is_encoder_operator(kind)) << kind;
  }
}

}  // namespace
}  // namespace probe
