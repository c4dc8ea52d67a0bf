// SPDX-License-Identifier: Apache-2.0
//
// What can be asked without streams; nvjpeg_device_test.cpp has them.
#include "gpu/vendor/nvjpeg.hpp"

#include "gpu/decode/decoder_batch.hpp"
#include "gpu/vendor/library.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace terrazzo::gpu {
namespace {

using test::Bytes;

TEST(Nvjpeg, IsAvailableOnlyWhenItWasFound) {
  if (nvjpeg_available()) { EXPECT_TRUE(vendor_module(Vendor::nvjpeg).library.found); }
}

TEST(Nvjpeg, IsRefusedWhereItOrTheGpuIsAbsent) {
  if (nvjpeg_available()) { GTEST_SKIP() << "nvJPEG is there"; }
  try {
    NvjpegDecoder const decoder;
    FAIL() << "nothing was thrown";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), test::why_no_device() == nullptr ? ErrorKind::unsupported : ErrorKind::device)
        << error.what();
  }
}

// A start marker, one quantisation table, an end marker: as JPEGTables are.
Bytes one_table() {
  Bytes tables{std::byte{0xFF}, std::byte{0xD8}, std::byte{0xFF}, std::byte{0xDB},
               std::byte{0},    std::byte{67},   std::byte{0}};
  tables.resize(tables.size() + 64, std::byte{1});
  tables.push_back(std::byte{0xFF});
  tables.push_back(std::byte{0xD9});
  return tables;
}

TEST(NvjpegHeadroom, HoldsTheTablesAndIsNoneWithoutUsableOnes) {
  JpegFormat format;
  Bytes const tables = one_table();
  format.tables = tables;
  EXPECT_GE(NvjpegDecoder::headroom_bytes(format), tables.size() - 4);
  Bytes const damaged(tables.begin(), tables.begin() + 20);
  format.tables = damaged;
  EXPECT_EQ(NvjpegDecoder::headroom_bytes(format), 0u);
}

class NvjpegOnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (char const* const reason = test::why_no_device()) { GTEST_SKIP() << "no GPU: " << reason; }
    if (!nvjpeg_available()) { GTEST_SKIP() << vendor_module(Vendor::nvjpeg).library.hint; }
  }
};

TEST_F(NvjpegOnDevice, LeavesWhatIsNoJpegAlone) {
  NvjpegDecoder decoder;
  StreamHandle const stream = make_stream();
  test::DeviceCopy const output(Bytes(3 * 16 * 16, std::byte{0xA5}));
  Bytes garbage(500, std::byte{0x37});
  std::vector<JpegTile> const tiles{{garbage.data(), garbage.size(), 0, 0}, {garbage.data(), 1, 0, 256}};
  std::vector<tile::TileStatus> statuses(2, tile::TileStatus::ok);
  JpegFormat format;
  format.width_px = format.height_px = 16;
  decoder.decode(format, tiles, output.get(), 16, statuses, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "decoding");
  for (tile::TileStatus const status : statuses) { EXPECT_NE(status, tile::TileStatus::ok); }
  EXPECT_TRUE(output.back() == Bytes(3 * 16 * 16, std::byte{0xA5}));
}

TEST_F(NvjpegOnDevice, RefusesABatchWithoutAStatusForEachTile) {
  NvjpegDecoder decoder;
  StreamHandle const stream = make_stream();
  Bytes garbage(10);
  std::vector<JpegTile> const tiles{{garbage.data(), garbage.size(), 0, 0}};
  JpegFormat format;
  format.width_px = format.height_px = 8;
  EXPECT_THROW(decoder.decode(format, tiles, nullptr, 8, {}, stream.get()), Error);
}

}  // namespace
}  // namespace terrazzo::gpu
