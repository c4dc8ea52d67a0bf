// SPDX-License-Identifier: Apache-2.0
#include "gpu/reduce/reduce.hpp"

#include "gpu/reduce/reduce_on_device.hpp"
#include "gpu/runtime/device_context.hpp"
#include "support/counting_allocator.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace terrazzo::gpu {
namespace {

using terrazzo::testing::CountingAllocator;
using test::DeviceCopy;
using DeviceReductionOnDevice = test::ReduceOnDevice;

TEST(DeviceReduction, RefusesWhatTheHostRefuses) {
  auto const allocator = std::make_shared<CountingAllocator>();
  tile::ReductionSpec const larger{4, 4, 5, 2};
  EXPECT_THROW(DeviceReduction(larger, allocator, nullptr), Error);
  tile::ReductionSpec const complex{4, 4, 2, 2, DType::cf32, 1, Resampling::lanczos};
  EXPECT_THROW(DeviceReduction(complex, allocator, nullptr), Error);
  EXPECT_EQ(allocator->allocations, 0);
}

TEST(DeviceReduction, RefusesRowsThatAreNotAligned) {
  auto const allocator = std::make_shared<CountingAllocator>();
  DeviceReduction const reduction({4, 2, 2, 1, DType::f32}, allocator, nullptr);
  alignas(16) float pixels[16] = {};
  DeviceView const source{pixels, DType::f32, 1, 2, 4, 0, 16, 4};
  DeviceView const result{reinterpret_cast<std::byte*>(pixels + 8) + 2, DType::f32, 1, 1, 2, 0, 8, 4};
  EXPECT_THROW(reduction.reduce({0, source, {}}, {0, result, {}}, nullptr), Error);
}

TEST(DeviceReduction, NeedsTablesForKernelsOnly) {
  EXPECT_EQ(DeviceReduction::table_bytes({100, 100, 50, 50, DType::f32, 1, Resampling::average}), 0U);
  // 12 weights of two kinds, a first pixel and a count for each of 100 columns and rows.
  EXPECT_EQ(DeviceReduction::table_bytes({100, 100, 50, 50, DType::f32, 1, Resampling::lanczos}),
            100 * (2 * 12 * sizeof(double) + 8));
}

TEST_F(DeviceReductionOnDevice, TakesWhatItSaidForItsTables) {
  StreamHandle const stream = make_stream();
  for (Resampling const method :
       {Resampling::nearest, Resampling::bilinear, Resampling::cubic, Resampling::cubic_spline, Resampling::lanczos}) {
    auto const allocator = std::make_shared<CountingAllocator>();
    tile::ReductionSpec const spec{1025, 77, 513, 39, DType::f32, 1, method};
    DeviceReduction const reduction(spec, allocator, stream.get());
    EXPECT_EQ(allocator->live_bytes, DeviceReduction::table_bytes(spec));
  }
}

TEST_F(DeviceReductionOnDevice, MakesNothingOfNoRows) {
  StreamHandle const stream = make_stream();
  DeviceReduction const reduction({4, 2, 2, 1, DType::f32}, pool_allocator(), stream.get());
  reduction.reduce({}, {}, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "reducing nothing");
}

// The grid has 65535 blocks in its second dimension.
TEST_F(DeviceReductionOnDevice, MakesMoreRowsThanAGridHas) {
  tile::test::SceneMaker scenes(3);
  for (Resampling const method : {Resampling::nearest, Resampling::average, Resampling::bilinear}) {
    tile::test::ReduceScene scene;
    scene.spec = {6, 600'002, 3, 300'001, DType::u8, 1, method};
    scene.source = tile::test::make_level(tile::test::Layout::planar, 1, 1, 6, 0, 600'002);
    scene.result = tile::test::make_level(tile::test::Layout::planar, 1, 1, 3, 0, 300'001);
    for (std::byte& b : scene.source.bytes) { b = static_cast<std::byte>(scenes.below(256)); }
    test::expect_samples_of_the_host(scene);
  }
}

// Prints how fast each method halves 1 GiB: --gtest_also_run_disabled_tests --gtest_filter='*Speed*'.
TEST_F(DeviceReductionOnDevice, DISABLED_Speed) {
  struct Case {
    char const* name;
    DType dtype;
    std::uint32_t bands, width;
    double nodata;
  };
  constexpr std::uint32_t kHeight = 16'384;
  constexpr double kNone = -1;
  StreamHandle const stream = make_stream();
  DeviceBuffer const source(pool_allocator(), std::size_t{1} << 30, stream.get());
  DeviceBuffer const result(pool_allocator(), std::size_t{1} << 28, stream.get());
  check_cuda(cudaMemsetAsync(source.data(), 0x3C, source.size_bytes(), stream.get()), "filling");
  for (Case const& c :
       {Case{"float32", DType::f32, 1, 16'384, kNone}, Case{"float32 nodata", DType::f32, 1, 16'384, 7},
        Case{"uint16 x 4", DType::u16, 4, 8'192, kNone}, Case{"uint8 x 3", DType::u8, 3, 21'844, kNone}}) {
    for (int method = 0; method <= static_cast<int>(Resampling::rms); ++method) {
      for (std::uint32_t const odd : {0U, 1U}) {  // a column less: windows of three pixels
        std::uint32_t const width = c.width - odd;
        tile::ReductionSpec spec{
            width, kHeight, c.width / 2, kHeight / 2, c.dtype, c.bands, static_cast<Resampling>(method)};
        if (c.nodata != kNone) { spec.nodata = Nodata{.value = c.nodata}; }
        auto const sample = static_cast<std::int64_t>(size_bytes(c.dtype));
        std::int64_t const pixel = sample * c.bands;
        DeviceRows const from{0, {source.data(), c.dtype, c.bands, kHeight, width, sample, pixel * c.width, pixel}, {}};
        DeviceRows const to{
            0, {result.data(), c.dtype, c.bands, spec.height, spec.width, sample, pixel * spec.width, pixel}, {}};
        DeviceReduction const reduction(spec, pool_allocator(), stream.get());
        cudaEvent_t begin{}, end{};
        check_cuda(cudaEventCreate(&begin), "timing");
        check_cuda(cudaEventCreate(&end), "timing");
        constexpr int kTimes = 3;
        reduction.reduce(from, to, stream.get());
        check_cuda(cudaEventRecord(begin, stream.get()), "timing");
        for (int i = 0; i < kTimes; ++i) { reduction.reduce(from, to, stream.get()); }
        check_cuda(cudaEventRecord(end, stream.get()), "timing");
        check_cuda(cudaEventSynchronize(end), "timing");
        float ms = 0;
        check_cuda(cudaEventElapsedTime(&ms, begin, end), "timing");
        double const bytes = static_cast<double>(pixel) * width * kHeight * kTimes;
        std::printf("%-16s method %d, width %5u: %7.0f GB/s of input\n", c.name, method, width, bytes / ms / 1e6);
        (void)cudaEventDestroy(begin);
        (void)cudaEventDestroy(end);
      }
    }
  }
  check_cuda(cudaStreamSynchronize(stream.get()), "timing");
}

}  // namespace
}  // namespace terrazzo::gpu
