// SPDX-License-Identifier: Apache-2.0
#include "read/dlpack.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace terrazzo {
namespace {

// The layout is other people's: dlpack.h before version 1.0, on a machine of 64 bits.
static_assert(sizeof(DLDevice) == 8 && sizeof(DLDataType) == 4 && sizeof(DLTensor) == 48);
static_assert(offsetof(DLTensor, device) == 8 && offsetof(DLTensor, ndim) == 16 && offsetof(DLTensor, dtype) == 20);
static_assert(offsetof(DLTensor, shape) == 24 && offsetof(DLTensor, strides) == 32);
static_assert(offsetof(DLTensor, byte_offset) == 40);
static_assert(offsetof(DLManagedTensor, manager_ctx) == 48 && offsetof(DLManagedTensor, deleter) == 56);

// Memory that tells when it goes; nobody looks into it.
struct Memory {
  std::shared_ptr<void> owner;
  std::weak_ptr<void> seen;
  Memory() : owner(std::make_shared<int>(0)), seen(owner) {}
};

DeviceArray array_of(std::shared_ptr<void> memory, DType dtype, std::uint32_t bands = 3, std::uint32_t height = 5,
                     std::uint32_t width = 7, int device = 0) {
  auto const sample = static_cast<std::int64_t>(size_bytes(dtype));
  DeviceView const view{memory.get(), dtype, bands, height, width, sample * width * height, sample * width, sample};
  return {std::move(memory), view, device};
}

DeviceBatch batch_of(std::shared_ptr<void> memory, DType dtype, std::uint32_t count, int device = 0) {
  DeviceView const item = array_of(memory, dtype).view();
  return {std::move(memory), {item, count, 3 * item.band_stride_bytes}, device};
}

TEST(DeviceArray, KnowsItsShapeAndSize) {
  Memory memory;
  void* const data = memory.owner.get();
  DeviceArray const array = array_of(std::move(memory.owner), DType::cf64, 2, 70000, 70000, 3);
  EXPECT_EQ(array.data(), data);
  EXPECT_EQ(array.dtype(), DType::cf64);
  EXPECT_EQ(array.bands(), 2u);
  EXPECT_EQ(array.height(), 70000u);
  EXPECT_EQ(array.width(), 70000u);
  EXPECT_EQ(array.device(), 3);
  EXPECT_EQ(array.size_bytes(), std::uint64_t{2} * 70000 * 70000 * 16) << "more than 32 bits";
}

TEST(DeviceArray, FreesItsMemoryWithTheLastCopy) {
  Memory memory;
  {
    DeviceArray const one = array_of(std::move(memory.owner), DType::u8);
    { DeviceArray const two = one; }
    EXPECT_FALSE(memory.seen.expired());
  }
  EXPECT_TRUE(memory.seen.expired());
}

TEST(DeviceBatch, KnowsItsShapeAndSize) {
  Memory memory;
  void* const data = memory.owner.get();
  DeviceBatch const batch = batch_of(std::move(memory.owner), DType::f64, 4000000000u, 3);
  EXPECT_EQ(batch.data(), data);
  EXPECT_EQ(batch.dtype(), DType::f64);
  EXPECT_EQ(batch.count(), 4000000000u);
  EXPECT_EQ(batch.bands(), 3u);
  EXPECT_EQ(batch.height(), 5u);
  EXPECT_EQ(batch.width(), 7u);
  EXPECT_EQ(batch.device(), 3);
  EXPECT_EQ(batch.size_bytes(), std::uint64_t{4000000000u} * 3 * 5 * 7 * 8) << "more than 32 bits";
}

TEST(DeviceBatch, HasItemsThatShareItsMemory) {
  Memory memory;
  {
    auto const bytes = std::make_shared<std::vector<std::byte>>(8 * 3 * 5 * 7 * 2);
    memory.owner = std::shared_ptr<void>(bytes, bytes->data());
    memory.seen = memory.owner;
  }
  auto* const data = static_cast<std::byte*>(memory.owner.get());
  {
    DeviceArray const last = batch_of(std::move(memory.owner), DType::u16, 8, 2).item(7);
    EXPECT_EQ(last.data(), data + 7 * 3 * 5 * 7 * 2);
    EXPECT_EQ(last.dtype(), DType::u16);
    EXPECT_EQ(last.size_bytes(), 3u * 5 * 7 * 2);
    EXPECT_EQ(last.device(), 2);
    EXPECT_FALSE(memory.seen.expired()) << "the batch is gone, its item is not";
  }
  EXPECT_TRUE(memory.seen.expired());
}

TEST(DlPack, DescribesTheBatchAndKeepsItsMemory) {
  Memory memory;
  void* const data = memory.owner.get();
  DLManagedTensor* const managed = batch_of(std::move(memory.owner), DType::f32, 11, 2).to_dlpack();
  DLTensor const& tensor = managed->dl_tensor;
  EXPECT_EQ(tensor.data, data);
  EXPECT_EQ(tensor.device.device_type, kDLCUDA);
  EXPECT_EQ(tensor.device.device_id, 2);
  EXPECT_EQ(tensor.dtype.code, kDLFloat);
  EXPECT_EQ(tensor.dtype.bits, 32);
  EXPECT_EQ(tensor.byte_offset, 0u);
  ASSERT_EQ(tensor.ndim, 4);
  EXPECT_EQ(std::vector<std::int64_t>(tensor.shape, tensor.shape + 4), (std::vector<std::int64_t>{11, 3, 5, 7}));
  EXPECT_EQ(std::vector<std::int64_t>(tensor.strides, tensor.strides + 4), (std::vector<std::int64_t>{105, 35, 7, 1}))
      << "in elements";
  EXPECT_FALSE(memory.seen.expired()) << "the batch is gone, its tensor is not";
  managed->deleter(managed);
  EXPECT_TRUE(memory.seen.expired());
}

TEST(DlPack, DescribesTheArray) {
  Memory memory;
  DeviceArray const array = array_of(std::move(memory.owner), DType::f32, 3, 5, 7, 2);
  DLManagedTensor* const managed = array.to_dlpack();
  DLTensor const& tensor = managed->dl_tensor;
  EXPECT_EQ(tensor.data, array.data());
  EXPECT_EQ(tensor.device.device_type, kDLCUDA);
  EXPECT_EQ(tensor.device.device_id, 2);
  EXPECT_EQ(tensor.byte_offset, 0u);
  ASSERT_EQ(tensor.ndim, 3);
  EXPECT_EQ(std::vector<std::int64_t>(tensor.shape, tensor.shape + 3), (std::vector<std::int64_t>{3, 5, 7}));
  EXPECT_EQ(std::vector<std::int64_t>(tensor.strides, tensor.strides + 3), (std::vector<std::int64_t>{35, 7, 1}))
      << "in elements";
  managed->deleter(managed);
}

TEST(DlPack, KeepsTheMemoryUntilItsDeleterIsCalled) {
  Memory memory;
  DLManagedTensor* first = nullptr;
  DLManagedTensor* second = nullptr;
  {
    DeviceArray const array = array_of(std::move(memory.owner), DType::u16);
    first = array.to_dlpack();
    second = array.to_dlpack();
  }
  first->deleter(first);
  EXPECT_FALSE(memory.seen.expired()) << "the second tensor shares it";
  second->deleter(second);
  EXPECT_TRUE(memory.seen.expired());
}

TEST(DlPack, HasATypeForEveryRealTypeAndComplexFloats) {
  struct {
    DType dtype;
    int code, bits;
  } const cases[] = {{DType::u8, kDLUInt, 8},       {DType::u16, kDLUInt, 16},  {DType::u32, kDLUInt, 32},
                     {DType::u64, kDLUInt, 64},     {DType::i8, kDLInt, 8},     {DType::i16, kDLInt, 16},
                     {DType::i32, kDLInt, 32},      {DType::i64, kDLInt, 64},   {DType::f16, kDLFloat, 16},
                     {DType::f32, kDLFloat, 32},    {DType::f64, kDLFloat, 64}, {DType::cf32, kDLComplex, 64},
                     {DType::cf64, kDLComplex, 128}};
  for (auto const& c : cases) {
    Memory memory;
    DLManagedTensor* const managed = array_of(std::move(memory.owner), c.dtype).to_dlpack();
    EXPECT_EQ(managed->dl_tensor.dtype.code, c.code) << to_string(c.dtype);
    EXPECT_EQ(managed->dl_tensor.dtype.bits, c.bits) << to_string(c.dtype);
    EXPECT_EQ(managed->dl_tensor.dtype.lanes, 1) << to_string(c.dtype);
    managed->deleter(managed);
  }
}

TEST(DlPack, RefusesComplexIntegersAndHalvesAndLosesNothing) {
  for (DType const dtype : {DType::ci16, DType::ci32, DType::cf16}) {
    Memory memory;
    {
      DeviceArray const array = array_of(std::move(memory.owner), dtype);
      try {
        (void)array.to_dlpack();
        FAIL() << to_string(dtype);
      } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what(); }
    }
    EXPECT_TRUE(memory.seen.expired()) << to_string(dtype);
  }
}

}  // namespace
}  // namespace terrazzo
