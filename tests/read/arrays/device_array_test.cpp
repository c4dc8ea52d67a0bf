// SPDX-License-Identifier: Apache-2.0
#include "read/arrays/dlpack.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace terrazzo {
namespace {

// Memory of a test, in host memory: nobody looks into it.
class TestMemory final : public DeviceMemory {
 public:
  explicit TestMemory(std::size_t bytes = 1) : bytes_(bytes) {}
  [[nodiscard]] void* data() const noexcept override { return bytes_.data(); }
  void record_stream(StreamView stream) override { recorded.push_back(stream); }

  std::vector<StreamView> recorded;

 private:
  mutable std::vector<std::byte> bytes_;
};

struct Memory {
  std::shared_ptr<TestMemory> owner;
  std::weak_ptr<TestMemory> seen;
  explicit Memory(std::size_t bytes = 1) : owner(std::make_shared<TestMemory>(bytes)), seen(owner) {}
};

DeviceArray array_of(std::shared_ptr<DeviceMemory> memory, DType dtype, std::uint32_t bands = 3,
                     std::uint32_t height = 5, std::uint32_t width = 7, int device = 0) {
  auto const sample = static_cast<std::int64_t>(size_bytes(dtype));
  DeviceView const view{memory->data(), dtype, bands, height, width, sample * width * height, sample * width, sample};
  return {std::move(memory), view, device};
}

DeviceBatch batch_of(std::shared_ptr<DeviceMemory> memory, DType dtype, std::uint32_t count, int device = 0) {
  DeviceView const item = array_of(memory, dtype).view();
  return {std::move(memory), {item, count, 3 * item.band_stride_bytes}, device};
}

TEST(DeviceArray, KnowsItsShapeAndSize) {
  Memory memory;
  void* const data = memory.owner->data();
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

TEST(DeviceArray, RecordsStreamsWithItsMemory) {
  Memory memory;
  TestMemory const& seen = *memory.owner;
  StreamView const one = StreamView::from_address(64), two = StreamView::from_address(128);
  DeviceArray const array = array_of(memory.owner, DType::u8);
  array.record_stream(one);
  DeviceArray const copy = array;
  copy.record_stream(two);
  EXPECT_EQ(seen.recorded, (std::vector{one, two})) << "copies share the memory";
  batch_of(memory.owner, DType::u8, 2).record_stream(one);
  EXPECT_EQ(seen.recorded, (std::vector{one, two, one}));
}

TEST(DeviceBatch, KnowsItsShapeAndSize) {
  Memory memory;
  void* const data = memory.owner->data();
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
  Memory memory(8 * 3 * 5 * 7 * 2);
  auto* const data = static_cast<std::byte*>(memory.owner->data());
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
  void* const data = memory.owner->data();
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

TEST(DlPack, RecordsTheConsumersStream) {
  Memory memory;
  TestMemory const& seen = *memory.owner;
  StreamView const consumer = StreamView::from_address(64);
  DeviceArray const array = array_of(memory.owner, DType::f32);
  DeviceBatch const batch = batch_of(memory.owner, DType::f32, 2);
  auto const drop = [](auto* managed) { managed->deleter(managed); };
  drop(array.to_dlpack());
  drop(array.to_dlpack_versioned());
  EXPECT_TRUE(seen.recorded.empty()) << "no consumer was named";
  drop(array.to_dlpack(consumer));
  drop(array.to_dlpack_versioned(consumer));
  drop(batch.to_dlpack(consumer));
  drop(batch.to_dlpack_versioned(consumer));
  EXPECT_EQ(seen.recorded, std::vector(4, consumer));
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

TEST(DlPack, DescribesTheArrayInVersionOneToo) {
  Memory memory;
  {
    DeviceArray const array = array_of(std::move(memory.owner), DType::f32, 3, 5, 7, 2);
    DLManagedTensorVersioned* const managed = array.to_dlpack_versioned({}, {.read_only = true});
    EXPECT_EQ(managed->version.major, 1u);
    EXPECT_EQ(managed->flags, reading::kDlpackReadOnly);
    EXPECT_EQ(managed->dl_tensor.data, array.data());
    EXPECT_EQ(managed->dl_tensor.device.device_type, kDLCUDA);
    EXPECT_EQ(managed->dl_tensor.device.device_id, 2);
    ASSERT_EQ(managed->dl_tensor.ndim, 3);
    EXPECT_EQ(managed->dl_tensor.shape[2], 7);
    managed->deleter(managed);
    EXPECT_FALSE(memory.seen.expired()) << "the array has it still";
  }
  EXPECT_TRUE(memory.seen.expired());
}

TEST(StreamView, IsNullOrNamesAStream) {
  EXPECT_FALSE(StreamView());
  EXPECT_FALSE(StreamView(nullptr));
  EXPECT_EQ(StreamView::from_address(0), StreamView());
  CUstream_st* const stream = StreamView::from_address(64).get();
  EXPECT_TRUE(StreamView(stream));
  EXPECT_EQ(StreamView(stream).get(), stream);
  EXPECT_NE(StreamView::legacy_default(), StreamView::per_thread_default());
  static_assert(!std::is_constructible_v<StreamView, void*> && !std::is_constructible_v<StreamView, int>);
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
