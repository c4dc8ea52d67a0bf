// SPDX-License-Identifier: Apache-2.0
//
// LZMA2 in the .xz container (TIFF 34925, libtiff's).
#include "codec/registry/decoders.hpp"
#include "codec/registry/result.hpp"
#include "codec/registry/workspace.hpp"

#include <cstdint>

namespace terrazzo::codec {

#if TERRAZZO_HAVE_LZMA

namespace {

// The decoder allocates the dictionary that the stream declares. Preset 9, the largest that libtiff writes, needs 64
// MiB and some; more is refused, because a stream may declare up to 4 GiB.
constexpr std::uint64_t kMemoryLimitBytes = 80ull << 20;

tile::TileResult decode(BlockFormat const&, BlockShape, std::span<std::byte const> in, std::span<std::byte> out,
                        Workspace& workspace) noexcept {
  lzma_stream* const stream = workspace.impl().lzma();
  // Initialising a stream again keeps its memory.
  if (lzma_stream_decoder(stream, kMemoryLimitBytes, 0) != LZMA_OK) { return out_of_memory(); }
  stream->next_in = reinterpret_cast<std::uint8_t const*>(in.data());
  stream->avail_in = in.size();
  stream->next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream->avail_out = out.size();
  lzma_ret code = LZMA_OK;
  while (code == LZMA_OK && stream->avail_out != 0) { code = lzma_code(stream, LZMA_FINISH); }
  std::size_t const written = out.size() - stream->avail_out;
  if (code == LZMA_OK && stream->avail_out == 0) {
    // The stream's index and check follow the last byte; one byte of extra output distinguishes a longer stream from a
    // finished one.
    std::uint8_t beyond = 0;
    stream->next_out = &beyond;
    stream->avail_out = 1;
    while (code == LZMA_OK && stream->avail_out != 0) { code = lzma_code(stream, LZMA_FINISH); }
    if (stream->avail_out == 0 || code == LZMA_BUF_ERROR) { return done(written, stream->avail_out == 0); }
  }
  switch (code) {
    case LZMA_STREAM_END:
      if (written < out.size()) { return truncated(written, "the LZMA stream holds fewer bytes than the block"); }
      return done(written, stream->avail_in != 0);
    case LZMA_BUF_ERROR: return truncated(written, "the LZMA stream ends early");
    case LZMA_MEMLIMIT_ERROR: return unsupported("the LZMA dictionary is larger than 64 MiB");
    case LZMA_OPTIONS_ERROR: return unsupported("the LZMA stream uses a filter that liblzma does not know");
    case LZMA_MEM_ERROR: return out_of_memory();
    default: return corrupt("the LZMA stream is damaged", written);
  }
}

}  // namespace

Codec::Decode lzma_decoder() noexcept { return &each_block<&decode>; }

#else

Codec::Decode lzma_decoder() noexcept { return nullptr; }

#endif

}  // namespace terrazzo::codec
