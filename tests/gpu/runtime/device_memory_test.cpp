// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/device_memory.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_context.hpp"
#include "gpu/runtime/device_fixture.hpp"
#include "gpu/runtime/stream.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::gpu {
namespace {

// Host memory stands for the device's: a buffer only passes it on.
class Counting final : public DeviceAllocator {
 public:
  void* allocate(std::size_t bytes, StreamView stream) override {
    if (fails) { throw Error(ErrorKind::device, "broken"); }
    ++asked;
    if (full) { throw Error(ErrorKind::limit, "none left"); }
    if (full_as_std) { throw std::bad_alloc(); }
    ++live;
    last_stream = stream;
    return std::malloc(bytes);
  }
  void deallocate(void* memory, std::size_t bytes, StreamView stream) noexcept override {
    --live;
    freed_bytes += bytes;
    last_stream = stream;
    std::free(memory);
  }
  int live = 0;
  std::size_t freed_bytes = 0;
  StreamView last_stream{};
  int asked = 0;
  bool fails = false, full = false, full_as_std = false;
};

// What is kept for later: the allocator has memory again when it is given back.
void give_back(DeviceAllocator& allocator) { dynamic_cast<Counting&>(allocator).full = false; }

class Shortage : public ::testing::Test {
 protected:
  void TearDown() override { on_shortage(nullptr); }
};

cudaStream_t stream_number(std::uintptr_t number) { return reinterpret_cast<cudaStream_t>(number); }

TEST(DeviceBuffer, GivesBackWhatItTookOnItsStream) {
  auto const allocator = std::make_shared<Counting>();
  {
    DeviceBuffer const buffer(allocator, 300, stream_number(7));
    EXPECT_EQ(allocator->live, 1);
    EXPECT_EQ(buffer.size_bytes(), 300u);
    EXPECT_EQ(buffer.allocator(), allocator.get());
    allocator->last_stream = nullptr;
  }
  EXPECT_EQ(allocator->live, 0);
  EXPECT_EQ(allocator->freed_bytes, 300u);
  EXPECT_EQ(allocator->last_stream.get(), stream_number(7));
}

TEST(DeviceBuffer, MovesWithoutFreeingTwice) {
  auto const allocator = std::make_shared<Counting>();
  {
    DeviceBuffer first(allocator, 10, stream_number(1));
    std::byte* const data = first.data();
    DeviceBuffer second(std::move(first));
    EXPECT_EQ(second.data(), data);
    DeviceBuffer third;
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(allocator->live, 1);
    third = DeviceBuffer(allocator, 20, stream_number(1));
    EXPECT_EQ(allocator->live, 1) << "what it held is gone";
    third = {};
    EXPECT_EQ(allocator->live, 0);
    EXPECT_EQ(third.allocator(), nullptr);
  }
  EXPECT_EQ(allocator->freed_bytes, 30u);
}

TEST(DeviceBuffer, KeepsItsAllocatorAlive) {
  auto allocator = std::make_shared<Counting>();
  std::weak_ptr<Counting> const seen = allocator;
  {
    DeviceBuffer buffer(std::move(allocator), 10, stream_number(1));
    EXPECT_FALSE(seen.expired());
    DeviceBuffer const moved(std::move(buffer));
    EXPECT_FALSE(seen.expired());
  }
  EXPECT_TRUE(seen.expired());
}

TEST(DeviceBuffer, PassesTheAllocatorsErrorOn) {
  auto const allocator = std::make_shared<Counting>();
  allocator->fails = true;
  try {
    DeviceBuffer const buffer(allocator, 1, stream_number(1));
    FAIL() << "nothing was thrown";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::device); }
}

TEST_F(Shortage, EndsWhenWhatIsKeptIsGivenBack) {
  on_shortage(&give_back);
  auto const allocator = std::make_shared<Counting>();
  allocator->full = true;
  {
    DeviceBuffer const buffer(allocator, 300, stream_number(1));
    EXPECT_EQ(buffer.size_bytes(), 300u);
    EXPECT_EQ(allocator->live, 1);
    EXPECT_EQ(allocator->asked, 2);
  }
  EXPECT_EQ(allocator->live, 0);
}

TEST_F(Shortage, IsALimitErrorThatNamesWhatAndHowMuch) {
  for (bool const as_std : {false, true}) {
    auto const allocator = std::make_shared<Counting>();
    (as_std ? allocator->full_as_std : allocator->full) = true;
    try {
      DeviceBuffer const buffer(allocator, 12345, stream_number(1), "rows of a test");
      FAIL() << "nothing was thrown";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::limit);
      EXPECT_NE(error.message().find("rows of a test: 12345 bytes"), std::string::npos) << error.message();
    }
    EXPECT_EQ(allocator->asked, 2) << "once more, and no further";
    EXPECT_EQ(allocator->live, 0);
  }
}

TEST(ScratchRoom, IsWhatIsWantedOrWhatIsFreeAndUnused) {
  EXPECT_EQ(scratch_room(100, 1600, 0), 100u);
  EXPECT_EQ(scratch_room(5000, 1600, 0), 1500u) << "a sixteenth is left";
  EXPECT_EQ(scratch_room(5000, 1600, 1000), 2500u);
  EXPECT_EQ(scratch_room(5000, 0, 1000), 1000u);
  EXPECT_EQ(scratch_room(5000, 0, 0), 0u);
}

TEST(ScratchRoom, IsNotJudgedForACallersAllocator) {
  auto const allocator = std::make_shared<Counting>();
  EXPECT_EQ(scratch_room(std::uint64_t{1} << 60, *allocator), std::uint64_t{1} << 60);
}

using MemoryOnDevice = test::OnDevice;

TEST_F(MemoryOnDevice, GivesMemoryThatCanBeWrittenAndIsAligned) {
  StreamHandle const stream = make_stream();
  DeviceBuffer const buffer(pool_allocator(), 1000, stream.get());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0u);
  check_cuda(cudaMemsetAsync(buffer.data(), 0x5A, 1000, stream.get()), "writing");
  std::vector<std::byte> back(1000);
  check_cuda(cudaMemcpyAsync(back.data(), buffer.data(), 1000, cudaMemcpyDeviceToHost, stream.get()), "reading");
  check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
  EXPECT_EQ(back, std::vector<std::byte>(1000, std::byte{0x5A}));
}

TEST_F(MemoryOnDevice, RefusesWhatTheGpuDoesNotHaveAsALimit) {
  StreamHandle const stream = make_stream();
  std::uint64_t const total = probe_device().total_bytes;
  EXPECT_LT(scratch_room(2 * total, *pool_allocator()), total);
  EXPECT_EQ(scratch_room(1000, *pool_allocator()), 1000u);
  try {
    DeviceBuffer const buffer(pool_allocator(), static_cast<std::size_t>(2 * total), stream.get());
    FAIL() << "nothing was thrown";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::limit) << error.message(); }
  DeviceBuffer const after(pool_allocator(), 1000, stream.get());
  EXPECT_NO_THROW(check_cuda(cudaStreamSynchronize(stream.get()), "waiting"));
}

}  // namespace
}  // namespace terrazzo::gpu
