// SPDX-License-Identifier: Apache-2.0
#include "read/arrays/dlpack.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace terrazzo::reading {
namespace {

// The layout is other people's: dlpack.h before version 1.0 and since, on a machine of 64 bits.
static_assert(sizeof(DLDevice) == 8 && sizeof(DLDataType) == 4 && sizeof(DLTensor) == 48);
static_assert(offsetof(DLTensor, device) == 8 && offsetof(DLTensor, ndim) == 16 && offsetof(DLTensor, dtype) == 20);
static_assert(offsetof(DLTensor, shape) == 24 && offsetof(DLTensor, strides) == 32);
static_assert(offsetof(DLTensor, byte_offset) == 40);
static_assert(offsetof(DLManagedTensor, manager_ctx) == 48 && offsetof(DLManagedTensor, deleter) == 56);
static_assert(sizeof(DLPackVersion) == 8 && sizeof(DLManagedTensorVersioned) == 80);
static_assert(offsetof(DLManagedTensorVersioned, manager_ctx) == 8 &&
              offsetof(DLManagedTensorVersioned, deleter) == 16);
static_assert(offsetof(DLManagedTensorVersioned, flags) == 24 && offsetof(DLManagedTensorVersioned, dl_tensor) == 32);

DlpackSource source_of(std::shared_ptr<int> memory) {
  return {memory, memory.get(), DType::i32, {kDLCPU, 0}, {2, 3, 4}};
}

TEST(ExportDlpack, HasStridesInElementsAndCOrder) {
  DLManagedTensor* const managed = export_dlpack(source_of(std::make_shared<int>(0)));
  DLTensor const& tensor = managed->dl_tensor;
  ASSERT_EQ(tensor.ndim, 3);
  EXPECT_EQ(std::vector(tensor.shape, tensor.shape + 3), (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(std::vector(tensor.strides, tensor.strides + 3), (std::vector<std::int64_t>{12, 4, 1}));
  EXPECT_EQ(tensor.byte_offset, 0u);
  managed->deleter(managed);
}

TEST(ExportDlpack, KeepsTheMemoryUntilTheDeleterIsCalled) {
  auto memory = std::make_shared<int>(0);
  std::weak_ptr<int> const seen = memory;
  DLManagedTensorVersioned* const managed = export_dlpack_versioned(source_of(std::move(memory)), {});
  EXPECT_FALSE(seen.expired());
  managed->deleter(managed);
  EXPECT_TRUE(seen.expired());
}

TEST(ExportDlpack, SaysTheVersionAndTheFlags) {
  auto const memory = std::make_shared<int>(0);
  struct {
    DlpackFlags flags;
    std::uint64_t wanted;
  } const cases[] = {
      {{}, 0}, {{.read_only = true}, 1}, {{.copied = true}, 2}, {{.read_only = true, .copied = true}, 3}};
  for (auto const& c : cases) {
    DLManagedTensorVersioned* const managed = export_dlpack_versioned(source_of(memory), c.flags);
    EXPECT_EQ(managed->version.major, 1u);
    EXPECT_EQ(managed->version.minor, 0u);
    EXPECT_EQ(managed->flags, c.wanted);
    managed->deleter(managed);
  }
}

TEST(ExportDlpack, RefusesComplexIntegersInBothVersions) {
  auto const memory = std::make_shared<int>(0);
  DlpackSource source = source_of(memory);
  source.dtype = DType::ci32;
  EXPECT_THROW((void)export_dlpack(source), Error);
  EXPECT_THROW((void)export_dlpack_versioned(source, {}), Error);
}

}  // namespace
}  // namespace terrazzo::reading
