// SPDX-License-Identifier: Apache-2.0
#include "read/device_transfer.hpp"

#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "gpu/runtime/stream.hpp"
#include "read/device_fixture.hpp"
#include "support/device_bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace terrazzo::reading {
namespace {

using Bytes = std::vector<std::byte>;
using terrazzo::testing::DeviceBytes;

Bytes pattern(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) { bytes[i] = static_cast<std::byte>(i * 7 + i / 4096); }
  return bytes;
}

TEST(Transfers, WithoutAGpuAreADeviceError) {
  if (device_state().usable) { GTEST_SKIP() << "there is a GPU"; }
  Bytes bytes(10);
  EXPECT_EQ(failure_of([&] { upload(bytes, bytes.data(), 1, nullptr); }).kind(), ErrorKind::device);
  EXPECT_EQ(failure_of([&] { download(bytes.data(), bytes, 1, nullptr); }).kind(), ErrorKind::device);
}

using TransfersOnDevice = test::OnDevice;

TEST_F(TransfersOnDevice, ComeBackAsTheyWent) {
  constexpr std::size_t kChunk = gpu::PinnedPool::kChunkBytes;
  gpu::StreamHandle const stream = gpu::make_stream();
  for (std::size_t const size : {std::size_t{0}, std::size_t{1}, kChunk - 1, kChunk, kChunk + 1, 5 * kChunk + 17}) {
    for (unsigned const threads : {1u, 4u}) {
      SCOPED_TRACE(size);
      Bytes sent = pattern(size);
      Bytes const copy = sent;
      DeviceBytes const memory(size + 64);
      upload(sent, memory.data() + 32, threads, stream.get());
      std::ranges::fill(sent, std::byte{0});  // it may be reused at once
      Bytes got(size);
      download(memory.data() + 32, got, threads, stream.get());
      EXPECT_TRUE(got == copy);
      Bytes const around = memory.back();
      EXPECT_TRUE(std::all_of(around.begin(), around.begin() + 32, [](std::byte b) { return b == std::byte{0xCD}; }));
      EXPECT_TRUE(std::all_of(around.end() - 32, around.end(), [](std::byte b) { return b == std::byte{0xCD}; }));
    }
  }
}

TEST_F(TransfersOnDevice, PutARectangleOfSomeBandsInItsPlace) {
  gpu::StreamHandle const stream = gpu::make_stream();
  HostArray pixels(DType::u16, 2, 7, 11);
  for (std::size_t i = 0; i < pixels.bytes().size(); ++i) { pixels.bytes()[i] = static_cast<std::byte>(i + 1); }
  struct Strides {
    std::int64_t band, row, pixel, first;
  };
  for (Strides const& s :
       {Strides{800, 40, 2, 0}, Strides{2, 120, 6, 0}, Strides{800, -40, 2, 800}, Strides{-800, 40, 2, 1600}}) {
    Bytes wanted(3000, std::byte{0xCD});
    std::size_t const bands[] = {2, 0};
    constexpr std::int64_t kOffset = 124;
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::int64_t r = 0; r < 7; ++r) {
        for (std::int64_t c = 0; c < 11; ++c) {
          std::memcpy(wanted.data() + s.first + kOffset + static_cast<std::int64_t>(bands[b]) * s.band + r * s.row +
                          c * s.pixel,
                      pixels.bytes().data() + (static_cast<std::int64_t>(b) * 77 + r * 11 + c) * 2, 2);
        }
      }
    }
    DeviceBytes const memory(3000);
    tile::ResultFormat result;
    result.data = memory.data() + s.first;
    result.dtype = DType::u16;
    result.sample_bytes = 2;
    result.bands = 3;
    result.separate_planes = true;  // of the file, which the rectangle has left behind
    result.band_stride_bytes = s.band;
    result.row_stride_bytes = s.row;
    result.pixel_stride_bytes = s.pixel;
    upload_rectangle(pixels, bands, result, kOffset, 2, gpu::pool_allocator(), stream.get());
    gpu::check_cuda(cudaStreamSynchronize(stream.get()), "uploading");
    EXPECT_TRUE(memory.back() == wanted) << s.band << " " << s.row << " " << s.pixel;
  }
}

}  // namespace
}  // namespace terrazzo::reading
