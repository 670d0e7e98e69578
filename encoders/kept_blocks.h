// Memory of activations, used again instead of given back. Private to the LibTorch runtime.
#pragma once

#include <memory>

namespace probe {

// Blocks by their size, in bytes. A tower asks for the same sizes for every batch, so that each is there from the second
// on, with its pages. A malloc between several threads joins and splits blocks instead: of ViT-L/14 in float32 up to 430
// MB were resident that way and nobody's, more or fewer by chance.
class KeptBlocks;
std::shared_ptr<KeptBlocks> make_kept_blocks();

// What LibTorch allocates on this thread, while this is there, comes from `blocks` and returns to them, whichever thread
// frees it. Small blocks are left to malloc. Freed with the last tensor and the last owner.
class KeepingBlocks {
 public:
  explicit KeepingBlocks(const std::shared_ptr<KeptBlocks>& blocks);
  ~KeepingBlocks();
  KeepingBlocks(const KeepingBlocks&) = delete;
  KeepingBlocks& operator=(const KeepingBlocks&) = delete;

 private:
  const std::shared_ptr<KeptBlocks>* before_;
};

}  // namespace probe
