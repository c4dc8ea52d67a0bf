// SPDX-License-Identifier: Apache-2.0
//
// What can be asked without streams; nvjpeg2k_device_test.cpp has them.
#include "gpu/vendor/nvjpeg2k.hpp"

#include "gpu/decode/decoder_batch.hpp"
#include "gpu/vendor/library.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace terrazzo::gpu {
namespace {

using test::Bytes;

TEST(Nvjpeg2k, IsAvailableOnlyWhenItWasFound) {
  if (nvjpeg2k_available()) { EXPECT_TRUE(vendor_module(Vendor::nvjpeg2k).library.found); }
}

TEST(Nvjpeg2k, IsRefusedWhereItOrTheGpuIsAbsent) {
  if (nvjpeg2k_available()) { GTEST_SKIP() << "nvJPEG2000 is there"; }
  try {
    Nvjpeg2kDecoder const decoder;
    FAIL() << "nothing was thrown";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), test::why_no_device() == nullptr ? ErrorKind::unsupported : ErrorKind::device)
        << error.what();
  }
}

TEST(Nvjpeg2kPool, HoldsThePlanesOfEveryTile) {
  Jpeg2000Format const format{.width_px = 100, .height_px = 50, .samples = 3, .bits_per_sample = 16};
  std::uint64_t const one = Nvjpeg2kDecoder::pool_bytes(format, 1);
  EXPECT_GE(one, 100u * 50 * 3 * 2);
  EXPECT_EQ(Nvjpeg2kDecoder::pool_bytes(format, 1000), one * 1000);
  EXPECT_EQ(Nvjpeg2kDecoder::pool_bytes(format, 0), 0u);
}

TEST(Nvjpeg2kPool, RefusesWhatCannotBeCounted) {
  Jpeg2000Format const format{.width_px = 65535, .height_px = 65535, .samples = 4, .bits_per_sample = 16};
  EXPECT_THROW((void)Nvjpeg2kDecoder::pool_bytes(format, std::numeric_limits<std::uint64_t>::max() / 8), Error);
}

class Nvjpeg2kOnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (char const* const reason = test::why_no_device()) { GTEST_SKIP() << "no GPU: " << reason; }
    if (!nvjpeg2k_available()) { GTEST_SKIP() << vendor_module(Vendor::nvjpeg2k).library.hint; }
  }
};

TEST_F(Nvjpeg2kOnDevice, LeavesWhatIsNoCodestreamAlone) {
  Nvjpeg2kDecoder decoder;
  StreamHandle const stream = make_stream();
  test::DeviceCopy const output(Bytes(2 * 256, std::byte{0xA5}));
  Bytes const garbage(500, std::byte{0x37});
  std::vector<Jpeg2000Tile> const tiles{{garbage.data(), garbage.size(), 0}, {garbage.data(), 1, 256}};
  std::vector<tile::TileStatus> statuses(2, tile::TileStatus::ok);
  Jpeg2000Format format;
  format.width_px = format.height_px = 16;
  decoder.decode(format, tiles, output.get(), 16, statuses, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "decoding");
  for (tile::TileStatus const status : statuses) { EXPECT_NE(status, tile::TileStatus::ok); }
  EXPECT_TRUE(output.back() == Bytes(2 * 256, std::byte{0xA5}));
}

}  // namespace
}  // namespace terrazzo::gpu
