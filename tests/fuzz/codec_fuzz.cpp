// SPDX-License-Identifier: Apache-2.0
//
// One host codec under arbitrary bytes. TERRAZZO_FUZZ_CODEC is its TIFF compression number.
//
// The first eight bytes choose the block (at most 64 x 64 pixels of 4 samples), the rest is the stream. Beyond what
// the sanitizers see, every block is decoded twice, into memory that held other bytes and with a workspace that has
// been used: the outcome may depend on neither. JPEG is decoded to planes besides, which must hold the same pixels.
#include "codec/jpeg/planes.hpp"
#include "codec/registry/codec.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

using namespace terrazzo;

constexpr std::size_t kHeaderBytes = 8;

void require(bool condition) {
  if (!condition) { std::abort(); }
}

struct Block {
  codec::BlockFormat format;
  codec::BlockShape shape;
  std::size_t out_bytes = 0;
  std::unique_ptr<std::byte[]> tables;  // of exactly their size, as the stream is
  std::unique_ptr<std::byte[]> stream;
  std::size_t stream_bytes = 0;
};

std::unique_ptr<std::byte[]> exact_copy(std::uint8_t const* data, std::size_t size) {
  auto copy = std::make_unique<std::byte[]>(size);
  std::transform(data, data + size, copy.get(), [](std::uint8_t value) { return std::byte{value}; });
  return copy;
}

Block block_of(std::uint8_t const* data, std::size_t size) {
  constexpr std::array<std::uint32_t, 8> kBits = {8, 16, 32, 64, 1, 12, 8, 8};
  constexpr std::array kFormats = {tiff::SampleFormat::uint, tiff::SampleFormat::int_, tiff::SampleFormat::ieee_float,
                                   tiff::SampleFormat::uint};
  constexpr std::array kPhotometrics = {tiff::Photometric::min_is_black, tiff::Photometric::rgb,
                                        tiff::Photometric::ycbcr, tiff::Photometric::separated};
  Block block;
  block.shape = {data[0] % 64u + 1, data[1] % 64u + 1};
  block.format.compression = static_cast<tiff::Compression>(TERRAZZO_FUZZ_CODEC);
  block.format.samples_per_pixel = data[2] % 4u + 1;
  block.format.bits_per_sample = kBits[data[3] % kBits.size()];
  block.format.sample_format = kFormats[data[4] % kFormats.size()];
  block.format.photometric = kPhotometrics[data[5] % kPhotometrics.size()];
  block.format.last_sample_is_alpha = (data[6] & 1) != 0;
  block.format.extra_samples = block.format.last_sample_is_alpha ? 1 : 0;
  block.format.convert_ycbcr_to_rgb = (data[6] & 2) != 0;
  block.format.lerc_additional_compression = data[6] >> 2 & 3u;
  std::size_t const row_bits =
      std::size_t{block.shape.width_px} * block.format.samples_per_pixel * block.format.bits_per_sample;
  block.out_bytes = (row_bits + 7) / 8 * block.shape.height_px;
  // Now and then an output that is not the block's size.
  if (data[7] % 8 == 1) { block.out_bytes = block.out_bytes / 2; }
  if (data[7] % 8 == 2) { block.out_bytes += data[7]; }
  data += kHeaderBytes;
  size -= kHeaderBytes;
  if ((data[-2] & 16) != 0 && size > 1) {
    std::size_t const tables_bytes = std::min<std::size_t>(size - 1, data[0] * 4u);
    block.tables = exact_copy(data + 1, tables_bytes);
    block.format.jpeg_tables = {block.tables.get(), tables_bytes};
    data += 1 + tables_bytes;
    size -= 1 + tables_bytes;
  }
  block.stream = exact_copy(data, size);
  block.stream_bytes = size;
  return block;
}

void compare_planes(Block const& block, std::span<std::byte const> stream, tile::TileResult const& usual,
                    std::span<std::byte const> pixels) {
  std::vector<std::byte> memory(block.out_bytes, std::byte{0xC3});
  codec::Workspace workspace;
  auto const planes = codec::decode_jpeg_planes(block.format, block.shape, stream, memory, workspace);
  if (!planes) { return; }
  std::size_t const width = block.shape.width_px;
  require(usual.reason == nullptr || usual.status == tile::TileStatus::truncated);  // an output beyond the block
  std::vector<std::byte> row(3 * width);
  for (std::uint32_t y = 0; y < block.shape.height_px; ++y) {
    tile::make_rgb_row(*planes, y, width, {row.data(), row.data() + width, row.data() + 2 * width});
    for (std::size_t i = 0; i < row.size(); ++i) { require(row[i] == pixels[(y * width + i % width) * 3 + i / width]); }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size < kHeaderBytes) { return 0; }
  codec::Codec const* const codec = codec::find_codec(static_cast<tiff::Compression>(TERRAZZO_FUZZ_CODEC));
  if (codec == nullptr || codec->decode == nullptr) { return 0; }
  Block const block = block_of(data, size);
  static codec::Workspace workspace;
  std::vector<std::byte> first(block.out_bytes, std::byte{0xA5});
  std::vector<std::byte> second(block.out_bytes, std::byte{0x5A});
  std::span<std::byte const> const stream{block.stream.get(), block.stream_bytes};
  auto const one = codec->decode_block(block.format, block.shape, stream, first, workspace);
  auto const two = codec->decode_block(block.format, block.shape, stream, second, workspace);
  require(one.status == two.status && one.bytes_written == two.bytes_written);
  require(one.bytes_written <= block.out_bytes);
  bool const ok = one.status == tile::TileStatus::ok;
  require(!ok || one.bytes_written == block.out_bytes);
  require(ok || one.reason != nullptr);
  if (ok || one.status == tile::TileStatus::truncated) {
    require(std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(one.bytes_written), second.begin()));
  }
  if (codec->compression == tiff::Compression::jpeg) { compare_planes(block, stream, one, first); }
  return 0;
}
