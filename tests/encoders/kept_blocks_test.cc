// Memory of activations: used again by size, by any thread, and never while a tensor has it.
#include "encoders/kept_blocks.h"

#include <gtest/gtest.h>
#include <ATen/ATen.h>

#include <thread>

namespace probe {
namespace {

constexpr std::int64_t kFloats = 1 << 20;

TEST(KeptBlocks, ABlockIsUsedAgainForItsSizeAlone) {
  const auto blocks = make_kept_blocks();
  const KeepingBlocks keeping(blocks);
  at::Tensor first = at::empty({kFloats});
  const void* const place = first.data_ptr();
  const at::Tensor second = at::empty({kFloats});
  EXPECT_NE(second.data_ptr(), place);
  first = at::Tensor();
  EXPECT_NE(at::empty({kFloats + 1}).data_ptr(), place);
  EXPECT_EQ(at::empty({kFloats}).data_ptr(), place);
}

TEST(KeptBlocks, OnlyWhereTheyAreKept) {
  const auto blocks = make_kept_blocks(), others = make_kept_blocks();
  const void* place = nullptr;
  {
    const KeepingBlocks keeping(blocks);
    place = at::empty({kFloats}).data_ptr();
    const KeepingBlocks inner(others);
    EXPECT_NE(at::empty({kFloats}).data_ptr(), place);
  }
  EXPECT_NE(at::empty({kFloats}).data_ptr(), place);
  std::thread([&] { EXPECT_NE(at::empty({kFloats}).data_ptr(), place); }).join();
  const KeepingBlocks keeping(blocks);
  EXPECT_EQ(at::empty({kFloats}).data_ptr(), place);
}

TEST(KeptBlocks, AnotherThreadMayFree) {
  const auto blocks = make_kept_blocks();
  const KeepingBlocks keeping(blocks);
  at::Tensor tensor = at::empty({kFloats});
  const void* const place = tensor.data_ptr();
  std::thread([&] { tensor = at::Tensor(); }).join();
  EXPECT_EQ(at::empty({kFloats}).data_ptr(), place);
}

TEST(KeptBlocks, TensorsOutliveTheirOwner) {
  auto blocks = make_kept_blocks();
  at::Tensor tensor;
  {
    const KeepingBlocks keeping(blocks);
    tensor = at::full({kFloats}, 3.0F);
  }
  blocks.reset();
  EXPECT_EQ(tensor.sum().item<double>(), 3.0 * kFloats);
  tensor.resize_({2 * kFloats});  // elsewhere, with what was there
  EXPECT_EQ(tensor.narrow(0, 0, kFloats).sum().item<double>(), 3.0 * kFloats);
}

// As oneDNN's scratch memory is asked for: addresses alone, with or without keeping.
TEST(KeptBlocks, AddressesWithoutATensor) {
  c10::Allocator* const allocator = c10::GetAllocator(at::kCPU);
  const auto blocks = make_kept_blocks();
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{4} * kFloats}) {
    void* const plain = allocator->raw_allocate(bytes);
    void* kept = nullptr;
    {
      const KeepingBlocks keeping(blocks);
      kept = allocator->raw_allocate(bytes);
      EXPECT_NE(kept, plain);
      allocator->raw_deallocate(plain);
    }
    allocator->raw_deallocate(kept);
  }
  const KeepingBlocks keeping(blocks);
  EXPECT_TRUE(at::full({kFloats}, 1.0F).equal(at::ones({kFloats})));
}

}  // namespace
}  // namespace probe
