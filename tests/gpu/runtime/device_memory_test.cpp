// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/device_memory.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_fixture.hpp"
#include "gpu/runtime/stream.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>
#include <vector>

namespace terrazzo::gpu {
namespace {

// Host memory stands for the device's: a buffer only passes it on.
class Counting final : public DeviceAllocator {
 public:
  void* allocate(std::size_t bytes, void* stream) override {
    if (refuses) { throw Error(ErrorKind::device, "none left"); }
    ++live;
    last_stream = stream;
    return std::malloc(bytes);
  }
  void deallocate(void* memory, std::size_t bytes, void* stream) noexcept override {
    --live;
    freed_bytes += bytes;
    last_stream = stream;
    std::free(memory);
  }
  int live = 0;
  std::size_t freed_bytes = 0;
  void* last_stream = nullptr;
  bool refuses = false;
};

cudaStream_t stream_number(std::uintptr_t number) { return reinterpret_cast<cudaStream_t>(number); }

TEST(DeviceBuffer, GivesBackWhatItTookOnItsStream) {
  Counting allocator;
  {
    DeviceBuffer const buffer(allocator, 300, stream_number(7));
    EXPECT_EQ(allocator.live, 1);
    EXPECT_EQ(buffer.size_bytes(), 300u);
    EXPECT_EQ(buffer.allocator(), &allocator);
    allocator.last_stream = nullptr;
  }
  EXPECT_EQ(allocator.live, 0);
  EXPECT_EQ(allocator.freed_bytes, 300u);
  EXPECT_EQ(allocator.last_stream, stream_number(7));
}

TEST(DeviceBuffer, MovesWithoutFreeingTwice) {
  Counting allocator;
  {
    DeviceBuffer first(allocator, 10, stream_number(1));
    std::byte* const data = first.data();
    DeviceBuffer second(std::move(first));
    EXPECT_EQ(second.data(), data);
    DeviceBuffer third;
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(allocator.live, 1);
    third = DeviceBuffer(allocator, 20, stream_number(1));
    EXPECT_EQ(allocator.live, 1) << "what it held is gone";
    third = {};
    EXPECT_EQ(allocator.live, 0);
    EXPECT_EQ(third.allocator(), nullptr);
  }
  EXPECT_EQ(allocator.freed_bytes, 30u);
}

TEST(DeviceBuffer, PassesTheAllocatorsErrorOn) {
  Counting allocator;
  allocator.refuses = true;
  EXPECT_THROW(DeviceBuffer(allocator, 1, stream_number(1)), Error);
}

TEST(PoolAllocator, WithoutAGpuIsADeviceError) {
  if (probe_device().usable) { GTEST_SKIP() << "there is a GPU"; }
  EXPECT_THROW((void)pool_allocator(), Error);
  EXPECT_THROW(trim_pool(), Error);
}

using PoolOnDevice = test::OnDevice;

TEST_F(PoolOnDevice, GivesMemoryThatCanBeWrittenAndIsAligned) {
  StreamHandle const stream = make_stream();
  DeviceBuffer const buffer(pool_allocator(), 1000, stream.get());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0u);
  check_cuda(cudaMemsetAsync(buffer.data(), 0x5A, 1000, stream.get()), "writing");
  std::vector<std::byte> back(1000);
  check_cuda(cudaMemcpyAsync(back.data(), buffer.data(), 1000, cudaMemcpyDeviceToHost, stream.get()), "reading");
  check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
  EXPECT_EQ(back, std::vector<std::byte>(1000, std::byte{0x5A}));
}

TEST_F(PoolOnDevice, KeepsWhatIsFreedUntilItIsTrimmed) {
  StreamHandle const stream = make_stream();
  constexpr std::size_t kBytes = 64u << 20;
  { DeviceBuffer const buffer(pool_allocator(), kBytes, stream.get()); }
  check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
  EXPECT_GE(pool_unused_bytes(), kBytes);
  trim_pool();
  EXPECT_LT(pool_unused_bytes(), kBytes);
}

TEST_F(PoolOnDevice, CountsWhatIsTakenAndTheMostOfIt) {
  StreamHandle const stream = make_stream();
  constexpr std::size_t kBytes = 8u << 20;
  std::uint64_t const before = pool_use().used_bytes;
  reset_pool_peak();
  {
    DeviceBuffer const buffer(pool_allocator(), kBytes, stream.get());
    EXPECT_GE(pool_use().used_bytes, before + kBytes);
  }
  check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
  EXPECT_EQ(pool_use().used_bytes, before);
  EXPECT_GE(pool_use().peak_bytes, before + kBytes);
  reset_pool_peak();
  EXPECT_LT(pool_use().peak_bytes, before + kBytes);
}

}  // namespace
}  // namespace terrazzo::gpu
