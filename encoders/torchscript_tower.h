// Loading one TorchScript file and explaining what is wrong with it. Private to the
// LibTorch runtime (libprobe_torchscript.so).
#pragma once

#include <torch/script.h>

#include <filesystem>
#include <string>

namespace probe {

// Loads `path` to `device`, in evaluation mode, converted to `dtype` and frozen.
// Throws Error(model) in one sentence: path, likely cause, what to do (BUGCASES 22, 23).
torch::jit::Module load_tower(const std::filesystem::path& path, torch::Device device,
                              torch::ScalarType dtype);

// Runs the module. LibTorch's exceptions become Error(model): path and first line.
torch::IValue run_tower(torch::jit::Module& module, const torch::Tensor& input,
                        const std::filesystem::path& path);

}  // namespace probe
