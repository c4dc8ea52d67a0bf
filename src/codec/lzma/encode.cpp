// SPDX-License-Identifier: Apache-2.0
//
// LZMA2 in the .xz container (TIFF 34925), after a delta filter and without a check, as in libtiff. The stream names
// its filters, so decoders need no configuration. The delta's distance is a pixel, so that each band is compared with
// itself.
#include "codec/registry/encoders.hpp"
#include "codec/registry/workspace.hpp"

#include <algorithm>
#include <cstdint>

namespace terrazzo::codec {
namespace {

constexpr int kLowestLevel = 0;
constexpr int kHighestLevel = 9;
constexpr int kDefaultLevel = 6;

#if TERRAZZO_HAVE_LZMA

tile::TileResult encode(EncodeFormat const& format, BlockShape, std::span<std::byte const> in, EncodedBlock& out,
                        Workspace& workspace) {
  lzma_options_lzma lzma{};
  if (lzma_lzma_preset(&lzma, static_cast<std::uint32_t>(format.level)) != 0) { return failed("liblzma failed"); }
  // A dictionary larger than the block is useless, and both sides would allocate it.
  lzma.dict_size = static_cast<std::uint32_t>(std::clamp<std::size_t>(
      in.size(), LZMA_DICT_SIZE_MIN, std::max<std::size_t>(lzma.dict_size, LZMA_DICT_SIZE_MIN)));
  std::uint64_t const pixel_bits = std::uint64_t{format.block.samples_per_pixel} * format.block.bits_per_sample;
  bool const whole_pixels = pixel_bits % 8 == 0 && pixel_bits / 8 <= LZMA_DELTA_DIST_MAX;
  lzma_options_delta delta{};
  delta.type = LZMA_DELTA_TYPE_BYTE;
  delta.dist = whole_pixels ? static_cast<std::uint32_t>(pixel_bits / 8)
                            : std::max<std::uint32_t>(1, format.block.bits_per_sample / 8);
  lzma_filter const filters[] = {{LZMA_FILTER_DELTA, &delta}, {LZMA_FILTER_LZMA2, &lzma}, {LZMA_VLI_UNKNOWN, nullptr}};

  lzma_stream* const stream = workspace.impl().lzma_encoder();
  // Initialising a stream again keeps its memory.
  if (lzma_stream_encoder(stream, filters, LZMA_CHECK_NONE) != LZMA_OK) { return out_of_memory(); }
  std::span<std::byte> const memory = out.memory.get(lzma_stream_buffer_bound(in.size()));
  stream->next_in = reinterpret_cast<std::uint8_t const*>(in.data());
  stream->avail_in = in.size();
  stream->next_out = reinterpret_cast<std::uint8_t*>(memory.data());
  stream->avail_out = memory.size();
  lzma_ret code = LZMA_OK;
  while (code == LZMA_OK) { code = lzma_code(stream, LZMA_FINISH); }
  if (code != LZMA_STREAM_END) { return failed("liblzma failed, probably for lack of memory"); }
  return encoded(out, memory, memory.size() - stream->avail_out);
}

#endif

std::string refuse(EncodeFormat const& format) {
  return refuse_level("LZMA", format.level, kLowestLevel, kHighestLevel);
}

// LZMA2 stores incompressible data in chunks of 64 KiB with a header of 3 bytes; the container adds some 100.
std::uint64_t bound(EncodeFormat const& format, BlockShape shape) noexcept {
  std::uint64_t const bytes = raw_bytes(format, shape);
  return bytes + bytes / 1024 + 1024;
}

}  // namespace

Encoder lzma_encoder() noexcept {
  return {
    .compression = tiff::Compression::lzma, .library = "liblzma",
#if TERRAZZO_HAVE_LZMA
    .encode = &guarded_encode<&encode>,
#endif
    .refuse = &refuse, .bound = &bound, .lowest_level = kLowestLevel, .highest_level = kHighestLevel,
    .default_level = kDefaultLevel
  };
}

}  // namespace terrazzo::codec
