#include "encoders/torchscript_tower.h"

#include <caffe2/serialize/inline_container.h>

#include <fstream>

#include "encoders/torchscript_code.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& path, const std::string& message) {
  throw Error(ErrorKind::model, path.string() + ": " + message);
}

// What the file is when it is not TorchScript; empty if it may be.
std::string wrong_kind(const fs::path& path) {
  std::error_code code;
  if (!fs::exists(path, code)) return "no such file";
  if (!fs::is_regular_file(path, code)) return "expected a TorchScript file, got a folder";
  std::ifstream file(path, std::ios::binary);
  std::string start(64, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  if (start.starts_with("version https://git-lfs")) {
    return "Git LFS pointer, not the file itself: run git lfs pull";
  }
  if (start.size() > 9 && start[8] == '{') return "safetensors weights, not TorchScript: "
                                                  "export them with probe-export";
  if (!start.starts_with("PK")) return "expected a TorchScript archive, got another format";
  return "";
}

constexpr std::size_t kMostRecords = 200000;
constexpr std::size_t kMostCode = std::size_t{64} << 20;

// Code and pickles of an archive, before any of it is run (torchscript_code.h). Nothing is
// unpacked to disk, so that names of records cannot lead anywhere; odd ones are refused all the
// same.
void check_records(caffe2::serialize::PyTorchStreamReader& reader, const fs::path& path) {
  const std::vector<std::string> names = reader.getAllRecords();
  if (names.size() > kMostRecords) fail(path, "an archive of more than 200,000 records");
  std::size_t code = 0;
  for (const std::string& name : names) {
    if (name.starts_with('/') || name.find("..") != std::string::npos ||
        name.find('\\') != std::string::npos) {
      fail(path, "a record is called \"" + printable(name) + "\"");
    }
    const bool source = name.starts_with("code/") && name.ends_with(".py");
    if (!source && !name.ends_with("data.pkl") && !name.ends_with("constants.pkl")) continue;
    const auto [data, size] = reader.getRecord(name);
    const std::string_view text(static_cast<const char*>(data.get()), size);
    if (!source) {
      if (text.find("torch.classes") != std::string_view::npos) {
        fail(path, name + ": holds a custom class; an encoder has no need of one");
      }
      continue;
    }
    code += size;
    if (code > kMostCode) fail(path, "more than 64 MiB of code");
    check_torchscript_code(text, path.string() + ": " + printable(name));
  }
}

// The graphs hold what will run, whatever the code looked like.
void check_nodes(const torch::jit::Block& block, const fs::path& path) {
  for (const torch::jit::Node* node : block.nodes()) {
    const std::string kind = node->kind().toQualString();
    if (!is_encoder_operator(kind)) {
      fail(path, "uses the operator " + kind + ", which an encoder has no need of; it was not run");
    }
    for (const torch::jit::Block* inner : node->blocks()) check_nodes(*inner, path);
  }
}

void check_graphs(const torch::jit::Module& module, const fs::path& path) {
  for (const torch::jit::Module& part : module.modules()) {
    for (const torch::jit::Method& method : part.get_methods()) {
      check_nodes(*method.graph()->block(), path);
    }
  }
}

// A zip archive that torch.jit.save did not write: say what it is instead.
void check_archive(const fs::path& path) {
  try {
    caffe2::serialize::PyTorchStreamReader reader(path.string());
    if (!reader.hasRecord("constants.pkl")) {
      fail(path, reader.hasRecord("data.pkl")
                     ? "weights only (torch.save), not TorchScript: export with probe-export"
                     : "a zip archive without a TorchScript module");
    }
    check_records(reader, path);
  } catch (const c10::Error& error) {
    fail(path, "damaged or cut-off TorchScript archive: " +
                   first_line(error.what_without_backtrace()));
  }
}

// LibTorch's message for a device that was traced in: "found at least two devices" or a
// CUDA backend error.
bool names_device(const std::string& message) {
  return message.find("CUDA") != std::string::npos ||
         message.find("cuda") != std::string::npos ||
         message.find("two devices") != std::string::npos;
}

std::string load_reason(const std::string& message) {
  if (message.find("nknown builtin op") != std::string::npos) {
    return "uses an operator that is not in this build: " + first_line(message);
  }
  if (names_device(message)) {
    return "was exported for CUDA, which is not here; export it again on the CPU: " +
           first_line(message);
  }
  if (message.find("version") != std::string::npos) {
    return "was written by another LibTorch version: " + first_line(message);
  }
  return "cannot load: " + first_line(message);
}

}  // namespace

torch::jit::Module load_tower(const fs::path& path, torch::Device device,
                              torch::ScalarType dtype) {
  const std::string kind = wrong_kind(path);
  if (!kind.empty()) fail(path, kind);
  check_archive(path);
  try {
    torch::jit::Module module = torch::jit::load(path.string(), device);
    check_graphs(module, path);
    module.eval();
    module.to(dtype);
    return torch::jit::freeze(module);
  } catch (const Error&) {
    throw;
  } catch (const c10::Error& error) {
    fail(path, load_reason(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    fail(path, load_reason(error.what()));
  }
}

torch::IValue run_tower(torch::jit::Module& module, const torch::Tensor& input,
                        const fs::path& path) {
  try {
    return module.forward({input});
  } catch (const std::exception& error) {
    // A TorchScript trace back holds the cause in its last line that is not blank.
    std::string message = error.what();
    while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) {
      message.pop_back();
    }
    const std::string last = message.substr(message.rfind('\n') + 1);
    if (names_device(message)) {
      fail(path, "has a device baked in; export it again on this kind of device: " +
                     first_line(last));
    }
    fail(path, "the tower failed: " + first_line(last));
  }
}

}  // namespace probe
