// SPDX-License-Identifier: Apache-2.0
#include "read/device/decoders.hpp"

#include "gpu/decode/decoder_batch.hpp"
#include "gpu/decode/lzw.hpp"
#include "gpu/vendor/nvcomp.hpp"
#include "read/device/device_fixture.hpp"
#include "read/images.hpp"
#include "support/counting_allocator.hpp"

#include <gtest/gtest.h>

namespace terrazzo::reading {
namespace {

using gpu::test::BatchInput;
using gpu::test::Bytes;
using tile::TileStatus;

TEST(DeviceDecoders, OfImagesTakeTheirInputFromTheHost) {
  for (DeviceMethod const method : {DeviceMethod::jpeg, DeviceMethod::jpeg2000}) {
    EXPECT_TRUE(takes_host_input(method));
  }
  for (DeviceMethod const method :
       {DeviceMethod::raw, DeviceMethod::lzw, DeviceMethod::packbits, DeviceMethod::deflate, DeviceMethod::zstd}) {
    EXPECT_FALSE(takes_host_input(method)) << to_string(method);
  }
}

TEST(DeviceDecoders, SayWhatScratchTheyNeed) {
  DecodeLoad const load{.tiles = 100,
                        .input_bytes = 1 << 20,
                        .max_input_bytes = 20000,
                        .output_bytes = 4 << 20,
                        .max_output_bytes = 65536};
  for (DeviceMethod const method :
       {DeviceMethod::raw, DeviceMethod::packbits, DeviceMethod::jpeg, DeviceMethod::jpeg2000}) {
    EXPECT_EQ(decode_scratch_bytes(method, load), 0u) << to_string(method);
  }
  EXPECT_EQ(decode_scratch_bytes(DeviceMethod::lzw, load), gpu::lzw_scratch_bytes(100, 1 << 20));
  EXPECT_GT(decode_scratch_bytes(DeviceMethod::lzw, load), 0u);
  if (!gpu::nvcomp_available()) {
    EXPECT_EQ(failure_of([&] { (void)decode_scratch_bytes(DeviceMethod::zstd, load); }).kind(), ErrorKind::unsupported);
  }
}

TEST(DeviceDecoders, AreAbleToDoWhatTheLibrariesAre) {
  DeviceAbilities const abilities = device_abilities();
  EXPECT_EQ(abilities.nvcomp, gpu::nvcomp_available());
  EXPECT_EQ(abilities.nvjpeg, gpu::nvjpeg_available());
  EXPECT_EQ(abilities.nvjpeg2k, gpu::nvjpeg2k_available());
}

using DecodersOnDevice = test::OnDevice;

TEST_F(DecodersOnDevice, OfImagesHoldNothingUntilTheyDecode) {
  auto const allocator = std::make_shared<testing::CountingAllocator>();
  HostInputDecoders const decoders(allocator);
  EXPECT_EQ(allocator->allocations, 0);
}

TEST_F(DecodersOnDevice, DecodeABatchByItsMethod) {
  Bytes content(4000);
  for (std::size_t i = 0; i < content.size(); ++i) { content[i] = static_cast<std::byte>(i * 11); }
  BatchInput batch;
  for (int i = 0; i < 20; ++i) { batch.add(i == 7 ? Bytes(5, std::byte{0x7F}) : packbits(content), content.size()); }
  DecodeLoad const load{.tiles = 20,
                        .input_bytes = batch.stream_bytes(),
                        .max_input_bytes = batch.longest_stream(),
                        .output_bytes = 20 * 4000,
                        .max_output_bytes = 4000};
  auto const decoded = gpu::test::run_batch(batch, [&](tile::DeviceTiles const& tiles, cudaStream_t stream) {
    decode_on_device(DeviceMethod::packbits, tiles, load, nullptr, 0, stream);
  });
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(decoded.statuses[i] == TileStatus::ok, i != 7) << i;
    if (i != 7) { EXPECT_TRUE(decoded.outputs[i] == content) << i; }
  }
}

}  // namespace
}  // namespace terrazzo::reading
