// SPDX-License-Identifier: Apache-2.0
#include "read/device/upload_planes.hpp"

#include "gpu/runtime/device_context.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/stream.hpp"
#include "read/device/device_fixture.hpp"
#include "support/device_bytes.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace terrazzo::reading {
namespace {

using Bytes = std::vector<std::byte>;
using terrazzo::testing::DeviceBytes;

using TransfersOnDevice = test::OnDevice;

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
    std::int64_t const destinations[] = {kOffset + 2 * s.band, kOffset};
    upload_planes(pixels, destinations, result, 2, gpu::pool_allocator(), stream.get());
    gpu::check_cuda(cudaStreamSynchronize(stream.get()), "uploading");
    EXPECT_TRUE(memory.back() == wanted) << s.band << " " << s.row << " " << s.pixel;
  }
}

}  // namespace
}  // namespace terrazzo::reading
