// SPDX-License-Identifier: Apache-2.0
#include "read/device/engine.hpp"

#include "gpu/runtime/result_memory.hpp"
#include "gpu/runtime/stream.hpp"
#include "read/arrays/dlpack.hpp"
#include "read/device/device_fixture.hpp"
#include "read/images.hpp"
#include "support/counting_allocator.hpp"
#include "support/device_bytes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace terrazzo::reading {
namespace {

using terrazzo::testing::CountingAllocator;
using terrazzo::testing::DeviceBytes;

ImageSpec tiled(std::uint16_t compression = kPackBits) {
  return {.width = 300, .height = 200, .bands = 2, .tile_width = 16, .tile_height = 16, .compression = compression};
}

TEST(DeviceEngine, IsBuiltAndKnowsItsLibraries) {
  DeviceState const state = device_engine_state();
  EXPECT_TRUE(state.built);
  EXPECT_EQ(state.usable, state.reason.empty());
  for (char const* const purpose : {"reading deflate and zstd", "JPEG", "JPEG 2000"}) {
    EXPECT_EQ(std::ranges::count(state.libraries, purpose, &DeviceLibrary::purpose), 1) << purpose;
  }
}

TEST(DeviceEngine, WithoutAGpuThrowsDeviceAndNothingElse) {
  if (device_engine_state().usable) { GTEST_SKIP() << "there is a GPU"; }
  std::byte memory[4]{};
  ReadReport report;
  auto const kind = [](auto const& f) { return failure_of(f).kind(); };
  EXPECT_EQ(kind([&] { DeviceEngine({}, {}, nullptr).execute({}, report); }), ErrorKind::device);
  EXPECT_EQ(kind([&] { (void)allocate_result(4, {}); }), ErrorKind::device);
  EXPECT_EQ(kind([&] { (void)current_device(); }), ErrorKind::device);
  EXPECT_EQ(kind([&] { copy_to_host(memory, memory, 1, nullptr); }), ErrorKind::device);
  EXPECT_NO_THROW(release_engine_memory());
  DeviceAbilities const abilities = device_facts().abilities;
  EXPECT_FALSE(abilities.nvcomp || abilities.nvjpeg || abilities.nvjpeg2k) << "libraries alone are no ability";
}

using EngineOnDevice = test::OnDevice;

TEST_F(EngineOnDevice, FollowsTheStridesOfTheDestinationAndWritesNothingBetween) {
  Window const window{9, 11, 200, 150};
  struct Strides {
    char const* name;
    std::int64_t band, row, pixel, first;
  };
  constexpr std::int64_t kBand = 200 * 150 * 2;
  constexpr std::size_t kBytes = 512 * 150 * 2;
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    Opened const opened(image<std::uint16_t>(tiled(compression)));
    for (Engine const engine : {Engine::device, Engine::host}) {
      for (Strides const& s :
           {Strides{"band last", 2, 200 * 4, 4, 0}, Strides{"padded", 512 * 150, 512, 2, 0},
            Strides{"upside down", kBand, -400, 2, 400 * 149}, Strides{"mirrored", kBand, 400, -2, 398},
            Strides{"bands backwards", -kBand, 400, 2, kBand}, Strides{"at an odd address", kBand, 400, 2, 1}}) {
        SCOPED_TRACE(s.name);
        std::vector<std::byte> wanted(kBytes, std::byte{0xCD});
        read_into(*opened, {.window = window},
                  HostView{wanted.data() + s.first, DType::u16, 2, 150, 200, s.band, s.row, s.pixel});
        DeviceBytes const memory(kBytes);
        read_into(*opened, {.window = window, .engine = engine},
                  DeviceView{memory.data() + s.first, DType::u16, 2, 150, 200, s.band, s.row, s.pixel});
        EXPECT_TRUE(memory.back() == wanted);
      }
    }
  }
}

TEST_F(EngineOnDevice, AllocatesOncePerSlotAndThenOnlyTheResult) {
  Opened const opened(image<std::uint16_t>(tiled()));
  HostArray const wanted = read(*opened);
  release_device_memory();
  auto const allocator = std::make_shared<CountingAllocator>();
  ReadRequest const request{.engine = Engine::device, .device_allocator = allocator};
  constexpr int kSlots = 8, kConstants = 1, kResult = 1;
  {
    DeviceArray const first = read_device(*opened, request);
    EXPECT_LE(allocator->allocations, kSlots + kConstants + kResult);
    int const before = allocator->allocations;
    DeviceArray const second = read_device(*opened, request);
    EXPECT_EQ(allocator->allocations, before + kResult) << "a read like the last one allocates its result alone";
    EXPECT_TRUE(std::ranges::equal(first.to_host().bytes(), wanted.bytes()));
    EXPECT_TRUE(std::ranges::equal(second.to_host().bytes(), wanted.bytes()));
  }
  release_device_memory();
  EXPECT_EQ(allocator->live, 0) << "nothing is kept behind the caller's back";
}

TEST_F(EngineOnDevice, IsWithinASmallerBudgetAfterALargerOne) {
  Opened const opened(image<std::uint16_t>(tiled()));
  HostArray const wanted = read(*opened);
  release_device_memory();
  auto const allocator = std::make_shared<CountingAllocator>();
  (void)read_device(*opened, {.engine = Engine::device, .device_allocator = allocator});
  constexpr std::uint64_t kBudget = 16 << 10, kConstants = 4096;
  ASSERT_GT(allocator->live_bytes, kBudget + kConstants) << "or nothing is shown";
  {
    DeviceArray const array =
        read_device(*opened, {.engine = Engine::device, .device_budget_bytes = kBudget, .device_allocator = allocator});
    EXPECT_LE(allocator->live_bytes, array.size_bytes() + kBudget + kConstants);
    EXPECT_TRUE(std::ranges::equal(array.to_host().bytes(), wanted.bytes()));
  }
  release_device_memory();
  EXPECT_EQ(allocator->live, 0);
}

TEST_F(EngineOnDevice, TakesOneCallersMemoryForOneCallerOnly) {
  Opened const opened(image<std::uint16_t>(tiled()));
  release_device_memory();
  auto const one = std::make_shared<CountingAllocator>(), other = std::make_shared<CountingAllocator>();
  (void)read_device(*opened, {.engine = Engine::device, .device_allocator = one});
  (void)read_device(*opened, {.engine = Engine::device, .device_allocator = other});
  EXPECT_GT(other->allocations, 1) << "it was not given the first one's";
  (void)read_device(*opened, {.engine = Engine::device});
  release_device_memory();
  EXPECT_EQ(one->live, 0);
  EXPECT_EQ(other->live, 0);
}

TEST_F(EngineOnDevice, KeepsTheAllocatorAliveForItsArraysAndScratch) {
  Opened const opened(image<std::uint16_t>(tiled()));
  release_device_memory();
  auto allocator = std::make_shared<CountingAllocator>();
  std::weak_ptr<CountingAllocator> const seen = allocator;
  {
    DeviceArray const array =
        read_device(*opened, {.engine = Engine::device, .device_allocator = std::move(allocator)});
    EXPECT_FALSE(seen.expired());
    release_device_memory();
    EXPECT_FALSE(seen.expired()) << "the array was made with it";
  }
  EXPECT_TRUE(seen.expired());
}

TEST_F(EngineOnDevice, LeavesATensorOfWindowsToWhoeverHoldsItLast) {
  Opened const opened(image<std::uint16_t>(tiled()));
  WindowOf const windows[] = {{*opened, {0, 0, 64, 32}}, {*opened, {100, 90, 64, 32}}, {*opened, {5, 6, 64, 32}}};
  auto const allocator = std::make_shared<CountingAllocator>();
  DLManagedTensor* const tensor =
      read_windows_device(windows, {.engine = Engine::device, .device_allocator = allocator}).to_dlpack();
  release_device_memory();
  EXPECT_EQ(allocator->live, 1);
  EXPECT_EQ(allocator->live_bytes, 3u * 2 * 32 * 64 * 2);
  tensor->deleter(tensor);
  EXPECT_EQ(allocator->live, 0);
}

struct Gate {
  std::atomic<bool> open{false};
};

TEST_F(EngineOnDevice, WaitsForTheCallersStream) {
  ImageSpec sparse = tiled();
  sparse.edit = [](std::uint64_t, std::vector<std::byte>& bytes) { bytes.clear(); };
  for (ImageSpec const& spec : {tiled(), tiled(kNone), sparse}) {
    Opened const opened(image<std::uint16_t>(spec));
    HostArray const wanted = read(*opened);
    for (Engine const engine : {Engine::device, Engine::host}) {
      DeviceBytes const memory(wanted.bytes().size());
      gpu::StreamHandle const stream = gpu::make_stream();
      Gate gate;
      gpu::check_cuda(cudaLaunchHostFunc(
                          stream.get(),
                          [](void* data) {
                            auto& g = *static_cast<Gate*>(data);
                            while (!g.open) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
                          },
                          &gate),
                      "launching");
      // Late: were it not waited for, it would write over the pixels.
      gpu::check_cuda(cudaMemsetAsync(memory.data(), 0x77, wanted.bytes().size(), stream.get()), "writing");
      std::thread opener([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        gate.open = true;
      });
      read_into(*opened, {.engine = engine},
                DeviceView{memory.data(), DType::u16, 2, 200, 300, 300 * 200 * 2, 300 * 2, 2}, stream.get());
      EXPECT_TRUE(gate.open);
      opener.join();
      gpu::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
      EXPECT_TRUE(std::ranges::equal(memory.back(), wanted.bytes()));
    }
  }
}

TEST_F(EngineOnDevice, LeavesADroppedArrayToTheStreamThatWasRecorded) {
  Opened const opened(image<std::uint16_t>(tiled()));
  HostArray const wanted = read(*opened);
  std::size_t const bytes = wanted.bytes().size();
  for (bool const as_tensor : {false, true}) {
    gpu::StreamHandle const stream = gpu::make_stream();
    Gate gate;
    void* first = nullptr;
    {
      DeviceArray const array = read_device(*opened, {.engine = Engine::device});
      first = array.data();
      gpu::check_cuda(cudaLaunchHostFunc(
                          stream.get(),
                          [](void* data) {
                            auto& g = *static_cast<Gate*>(data);
                            while (!g.open) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
                          },
                          &gate),
                      "launching");
      if (as_tensor) {
        DLManagedTensor* const tensor = array.to_dlpack(stream.get());
        tensor->deleter(tensor);
      } else {
        array.record_stream(stream.get());
      }
      // Late: memory that the next read got would be written over.
      gpu::check_cuda(cudaMemsetAsync(first, 0x77, bytes, stream.get()), "writing");
    }
    DeviceArray const next = read_device(*opened, {.engine = Engine::device});
    EXPECT_NE(next.data(), first);
    gate.open = true;
    gpu::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
    EXPECT_TRUE(std::ranges::equal(next.to_host().bytes(), wanted.bytes()));
    release_device_memory();
    EXPECT_EQ(gpu::pending_result_bytes(), 0u);
  }
}

TEST_F(EngineOnDevice, ReadsOnSeveralThreadsAtOnce) {
  Opened const stored(image<std::uint16_t>(tiled(kNone))), packed(image<std::uint16_t>(tiled()));
  HostArray const wanted = read(*stored);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0}, thrown{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      try {
        for (int i = 0; i < 10; ++i) {
          ReadRequest request;
          request.engine = (t + i) % 3 == 2 ? Engine::host : Engine::device;
          HostArray const got = read_device(t % 2 == 0 ? *stored : *packed, request).to_host();
          wrong += !std::ranges::equal(got.bytes(), wanted.bytes());
        }
      } catch (...) { ++thrown; }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(thrown, 0);
}

TEST_F(EngineOnDevice, AppliesMasksAndAlphaAsTheHostDoes) {
  // The second band is alpha; its zeros are invalid pixels of the first.
  testing::TiffBuilder builder = image<std::uint8_t>(tiled(), [](std::uint32_t b, std::uint32_t r, std::uint32_t c) {
    return static_cast<std::uint8_t>(b == 0 ? value_at<std::uint8_t>(b, r, c) : (r + c) % 3 == 0 ? 0 : 255);
  });
  builder.shorts(338, {2});
  Opened const opened(builder);
  test::expect_same_read(*opened, {.masked = true});
  test::expect_same_read(*opened,
                         {.window = Window{3, 5, 100, 70}, .bands = {2, 1, 1}, .masked = true, .dtype = DType::f32});
  test::expect_same_read(*opened, {.target_size = TargetSize{77, 33}, .masked = true, .dtype = DType::u16});
}

TEST_F(EngineOnDevice, FillsSparseTilesOfEveryKind) {
  for (bool const separate : {false, true}) {
    ImageSpec spec = tiled();
    spec.separate = separate;
    spec.edit = [](std::uint64_t block, std::vector<std::byte>& bytes) {
      if (block % 3 == 0) { bytes.clear(); }
    };
    testing::TiffBuilder builder = image<std::int16_t>(spec);
    builder.ascii(42113, "-5");
    Opened const opened(builder);
    for (ReadRequest const& request : {ReadRequest{}, ReadRequest{.masked = true}, ReadRequest{.dtype = DType::cf64},
                                       ReadRequest{.target_size = TargetSize{50, 60}}}) {
      test::expect_same_read(*opened, request);
    }
  }
}

TEST_F(EngineOnDevice, RefusesAResultThatDoesNotFitTheDevice) {
  EXPECT_EQ(failure_of([] { (void)allocate_result(std::uint64_t{1} << 50, {}); }).kind(), ErrorKind::limit);
}

}  // namespace
}  // namespace terrazzo::reading
