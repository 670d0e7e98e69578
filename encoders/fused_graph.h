// A tower's graph with larger steps. Private to the LibTorch runtime.
#pragma once

#include <torch/script.h>

namespace probe {

// Rewrites the graph of a frozen module for this CPU, in place:
//   linear, and an addition after it           one product: ours, oneDNN's with a packed weight, or MKL's
//   x sigmoid(1.702 x), GELU                    inside a product of ours; else in place (not GELU's exact form)
//   attention without a mask                    one pass, scores in the cache
//   layer norm, or a product, that our own      its rows are left in the order in which they are read (bfloat16
//   products alone read                         with AMX)
// `rows`: of the products' inputs, as a rule pictures times tokens; other counts give the same
// results. Returns how many products were rewritten; 0 leaves the graph as it was: on a CPU without
// the instructions, for a graph with branches or mutation, or without products.
int fuse_graph(torch::jit::Module& frozen, std::int64_t rows);

}  // namespace probe
