#include "encoders/kept_blocks.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <cstddef>
#include <mutex>
#include <unordered_map>

namespace probe {

class KeptBlocks {
 public:
  KeptBlocks() = default;
  KeptBlocks(const KeptBlocks&) = delete;
  KeptBlocks& operator=(const KeptBlocks&) = delete;
  ~KeptBlocks() {
    for (const auto& [bytes, block] : free_) c10::free_cpu(block);
  }

  void* take(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = free_.find(bytes);
      if (found != free_.end()) {
        void* const block = found->second;
        free_.erase(found);
        return block;
      }
    }
    return c10::alloc_cpu(bytes);
  }

  void give_back(void* block, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    free_.emplace(bytes, block);
  }

 private:
  std::mutex mutex_;
  std::unordered_multimap<std::size_t, void*> free_;
};

namespace {

constexpr std::size_t kSmallest = std::size_t{1} << 16;

// LibTorch tells its allocators nothing but a size, and frees by address alone.
thread_local const std::shared_ptr<KeptBlocks>* blocks_of_thread = nullptr;

struct Lent {
  std::shared_ptr<KeptBlocks> owner;
  std::size_t bytes = 0;
};

class LentBlocks {
 public:
  void add(void* block, Lent lent) {
    const std::lock_guard lock(mutex_);
    lent_.emplace(block, std::move(lent));
  }
  // No owner for what did not come from here.
  Lent remove(void* block) {
    const std::lock_guard lock(mutex_);
    auto found = lent_.extract(block);
    return found.empty() ? Lent() : std::move(found.mapped());
  }

 private:
  std::mutex mutex_;
  std::unordered_map<void*, Lent> lent_;
};

// Never destroyed: LibTorch frees some tensors later than that.
LentBlocks& lent_blocks() {
  static LentBlocks& blocks = *new LentBlocks;
  return blocks;
}

void release(void* block) {
  const Lent lent = lent_blocks().remove(block);
  if (lent.owner) lent.owner->give_back(block, lent.bytes);
  else c10::GetDefaultCPUAllocator()->raw_deallocate(block);
}

class Allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (blocks_of_thread == nullptr || bytes < kSmallest) return c10::GetDefaultCPUAllocator()->allocate(bytes);
    void* const block = (*blocks_of_thread)->take(bytes);
    lent_blocks().add(block, {*blocks_of_thread, bytes});
    return {block, block, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
};

}  // namespace

std::shared_ptr<KeptBlocks> make_kept_blocks() {
  static std::once_flag once;
  std::call_once(once, [] { c10::SetCPUAllocator(new Allocator, /*priority=*/1); });  // LibTorch's from here
  return std::make_shared<KeptBlocks>();
}

KeepingBlocks::KeepingBlocks(const std::shared_ptr<KeptBlocks>& blocks) : before_(blocks_of_thread) {
  blocks_of_thread = &blocks;
}
KeepingBlocks::~KeepingBlocks() { blocks_of_thread = before_; }

}  // namespace probe
