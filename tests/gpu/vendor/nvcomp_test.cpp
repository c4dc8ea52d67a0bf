// SPDX-License-Identifier: Apache-2.0
//
// Streams here are stored, not compressed: written by hand, and enough to see who is handed over and who is not.
// nvcomp_device_test.cpp has real ones.
#include "gpu/vendor/nvcomp.hpp"

#include "gpu/decode/decoder_batch.hpp"
#include "gpu/vendor/library.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace terrazzo::gpu {
namespace {

using test::BatchInput;
using test::Bytes;
using test::Decoded;
using tile::TileStatus;

TEST(Nvcomp, WantsADeflateStreamAlignedBehindItsHeader) {
  EXPECT_EQ((nvcomp_input_phase(NvcompCodec::deflate) + 2) % 16, 0u);
  EXPECT_EQ(nvcomp_input_phase(NvcompCodec::zstd), 0u);
}

TEST(Nvcomp, WantsNothingForAnEmptyBatch) {
  EXPECT_EQ(nvcomp_decode_scratch_bytes(NvcompCodec::zstd, 0, 0, 0), 0u);
  EXPECT_NO_THROW(nvcomp_decode(NvcompCodec::deflate, {}, 0, 0, nullptr, 0, nullptr));
}

TEST(Nvcomp, SaysWhatToInstallWhereItIsAbsent) {
  if (nvcomp_available()) { GTEST_SKIP() << "nvCOMP is there"; }
  try {
    (void)nvcomp_decode_scratch_bytes(NvcompCodec::deflate, 1, 100, 100);
    FAIL() << "nothing was thrown";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(error.message().find(vendor_module(Vendor::nvcomp).library.hint), std::string::npos) << error.message();
  }
}

// One stored block in a zlib frame; nvCOMP does not look at the checksum, so it has none worth the name.
Bytes stored_zlib(Bytes const& content) {
  auto const byte = [](std::size_t value) { return static_cast<std::byte>(value & 0xFF); };
  Bytes out{byte(0x78), byte(0x01), byte(1)};
  for (std::size_t const size : {content.size(), ~content.size()}) {
    out.push_back(byte(size));
    out.push_back(byte(size >> 8));
  }
  out.insert(out.end(), content.begin(), content.end());
  out.resize(out.size() + 4);
  return out;
}

// One raw block in a frame that knows its size.
Bytes raw_zstd(Bytes const& content) {
  auto const byte = [](std::size_t value) { return static_cast<std::byte>(value & 0xFF); };
  Bytes out{byte(0x28), byte(0xB5), byte(0x2F), byte(0xFD), byte(0xA0)};  // single segment, four bytes of size
  for (unsigned shift = 0; shift < 32; shift += 8) { out.push_back(byte(content.size() >> shift)); }
  std::size_t const header = 1 | content.size() << 3;
  for (unsigned shift = 0; shift < 24; shift += 8) { out.push_back(byte(header >> shift)); }
  out.insert(out.end(), content.begin(), content.end());
  return out;
}

class NvcompOnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (char const* const reason = test::why_no_device()) { GTEST_SKIP() << "no GPU: " << reason; }
    if (!nvcomp_available()) { GTEST_SKIP() << vendor_module(Vendor::nvcomp).library.hint; }
  }
};

TEST_F(NvcompOnDevice, DecodesGoodTilesAndKeepsBadOnesFromTheLibrary) {
  constexpr std::size_t kBytes = 4000;
  for (NvcompCodec const codec : {NvcompCodec::deflate, NvcompCodec::zstd}) {
    SCOPED_TRACE(codec == NvcompCodec::deflate ? "deflate" : "zstd");
    std::size_t const phase = nvcomp_input_phase(codec);
    BatchInput batch;
    std::vector<Bytes> contents;
    for (std::size_t i = 0; i < 9; ++i) {
      Bytes content(kBytes);
      for (std::size_t at = 0; at < kBytes; ++at) { content[at] = static_cast<std::byte>(at * (i + 3)); }
      contents.push_back(content);
      Bytes stream = codec == NvcompCodec::deflate ? stored_zlib(content) : raw_zstd(content);
      if (i % 3 == 1) { stream[0] ^= std::byte{0x0F}; }  // neither a zlib header nor a frame
      Bytes placed(phase);
      placed.insert(placed.end(), stream.begin(), stream.end());
      batch.add(std::move(placed), kBytes);
    }
    std::size_t const scratch_bytes = nvcomp_decode_scratch_bytes(codec, 9, kBytes, 9 * kBytes);
    test::DeviceCopy const scratch(Bytes(scratch_bytes, std::byte{0xC3}));
    Decoded const decoded = test::run_batch(batch, [&](tile::DeviceTiles tiles, cudaStream_t stream) {
      // The streams lie `phase` bytes into their places.
      std::vector<std::uint64_t> offsets(9), sizes(9);
      check_cuda(cudaMemcpy(offsets.data(), tiles.input_offsets, 72, cudaMemcpyDeviceToHost), "reading");
      for (std::size_t i = 0; i < 9; ++i) {
        offsets[i] += phase;
        sizes[i] = batch.streams[i].size() - phase;
      }
      test::DeviceCopy const moved(offsets), shorter(sizes);
      tiles.input_offsets = moved.get();
      tiles.input_sizes = shorter.get();
      nvcomp_decode(codec, tiles, kBytes, 9 * kBytes, scratch.get(), scratch_bytes, stream);
      check_cuda(cudaStreamSynchronize(stream), "decoding");
    });
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_EQ(decoded.statuses[i] == TileStatus::ok, i % 3 != 1) << i;
      if (decoded.statuses[i] == TileStatus::ok) { EXPECT_TRUE(decoded.outputs[i] == contents[i]) << i; }
    }
  }
}

TEST_F(NvcompOnDevice, RefusesScratchThatIsTooSmall) {
  test::DeviceCopy const one(Bytes(256));
  tile::DeviceTiles tiles;
  tiles.count = 1;
  StreamHandle const stream = make_stream();
  EXPECT_THROW(nvcomp_decode(NvcompCodec::zstd, tiles, 1000, 1000, one.get(), 256, stream.get()), Error);
}

}  // namespace
}  // namespace terrazzo::gpu
