// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/interleave.hpp"

#include "gpu/decode/decoder_batch.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::DeviceCopy;

struct Case {
  std::uint32_t width, height, samples, plane_bytes, output_bytes, count;
};

void expect_interleaved(Case const& c) {
  SCOPED_TRACE(::testing::Message() << c.width << " x " << c.height << " x " << c.samples << ", " << c.plane_bytes
                                    << " to " << c.output_bytes << " bytes, " << c.count << " tiles");
  constexpr std::byte kPoison{0xA5};
  std::uint64_t const pitch = c.width * c.plane_bytes + 6;
  std::uint64_t const plane = pitch * c.height + 10, tile = plane * c.samples + 14;
  std::uint64_t const out_pitch = std::uint64_t{c.width} * c.samples * c.output_bytes + 2;
  std::uint64_t const out_tile = out_pitch * c.height + 32;
  std::mt19937 engine(c.width);
  Bytes planes(tile * c.count);
  for (std::byte& b : planes) { b = static_cast<std::byte>(engine()); }
  std::vector<std::uint64_t> offsets;
  Bytes wanted(out_tile * c.count, kPoison);
  for (std::uint32_t t = 0; t < c.count; ++t) {
    bool const skipped = t % 3 == 1;
    offsets.push_back(skipped ? kSkipTile : out_tile * t);
    for (std::uint32_t y = 0; y < c.height && !skipped; ++y) {
      for (std::uint32_t x = 0; x < c.width; ++x) {
        for (std::uint32_t s = 0; s < c.samples; ++s) {
          for (std::uint32_t b = 0; b < c.output_bytes; ++b) {
            wanted[out_tile * t + out_pitch * y + (std::uint64_t{x} * c.samples + s) * c.output_bytes + b] =
                planes[tile * t + plane * s + pitch * y + std::uint64_t{x} * c.plane_bytes + b];
          }
        }
      }
    }
  }
  DeviceCopy const device_planes(planes);
  DeviceCopy const device_offsets(offsets);
  DeviceCopy const output(Bytes(wanted.size(), kPoison));
  StreamHandle const stream = make_stream();
  interleave_tiles({.planes = device_planes.get(),
                    .tile_stride_bytes = tile,
                    .plane_stride_bytes = plane,
                    .plane_pitch_bytes = pitch,
                    .plane_sample_bytes = c.plane_bytes,
                    .width_px = c.width,
                    .height_px = c.height,
                    .samples = c.samples,
                    .output = output.get(),
                    .output_offsets = device_offsets.get(),
                    .output_pitch_bytes = out_pitch,
                    .output_sample_bytes = c.output_bytes,
                    .count = c.count},
                   stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "interleaving");
  EXPECT_TRUE(output.back() == wanted);
}

class InterleaveOnDevice : public test::OnDevice {};

TEST_F(InterleaveOnDevice, PutsSamplesSideBySideAndSkipsWhatWasNotDecoded) {
  for (Case const& c : {Case{1, 1, 1, 1, 1, 1}, Case{31, 3, 3, 1, 1, 4}, Case{33, 65, 3, 2, 2, 7},
                        Case{256, 16, 4, 2, 1, 5}, Case{300, 2, 1, 2, 2, 2}}) {
    expect_interleaved(c);
  }
}

TEST_F(InterleaveOnDevice, TakesAnEmptyBatch) {
  StreamHandle const stream = make_stream();
  interleave_tiles({.width_px = 8, .height_px = 8}, stream.get());
  EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
}

}  // namespace
}  // namespace terrazzo::gpu
