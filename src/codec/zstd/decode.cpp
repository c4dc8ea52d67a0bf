// SPDX-License-Identifier: Apache-2.0
//
// Zstandard. Our own decoder takes the frames that it decodes faster; one call of libzstd decodes all others that have
// the expected size. The rest is decoded again piece by piece, so that the good bytes of a short stream and the first
// bytes of a long one are delivered, as in libtiff.
#include "codec/registry/byte_stream.hpp"
#include "codec/registry/decoders.hpp"
#include "codec/registry/result.hpp"
#include "codec/registry/workspace.hpp"

#include <algorithm>
#include <bit>
#include <memory>

namespace terrazzo::codec {

#if TERRAZZO_HAVE_ZSTD

namespace {

// The streaming decoder allocates the window that the frame declares. A match cannot reach back further than the size
// of the block, so the limit is the block's size, but at least level 19's window of 8 MiB (libtiff writes frames
// without their size, hence with the level's full window).
constexpr int kSmallestWindowLog = 23;
constexpr int kLargestWindowLog = 30;

StreamResult decompress_streaming(std::span<std::byte const> in, std::span<std::byte> out) noexcept {
  int const needed_log = static_cast<int>(std::bit_width(out.size()));
  // A separate context: after damaged streams, a context counts calls without progress across resets, and its result
  // for the next stream depends on them.
  struct Free {
    void operator()(ZSTD_DCtx* c) const noexcept { ZSTD_freeDCtx(c); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> const fresh(ZSTD_createDCtx());
  if (!fresh) { return {out_of_memory()}; }
  ZSTD_DCtx* const context = fresh.get();
  ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, std::clamp(needed_log, kSmallestWindowLog, kLargestWindowLog));
  ZSTD_inBuffer source{in.data(), in.size(), 0};
  ZSTD_outBuffer target{out.data(), out.size(), 0};
  for (;;) {
    std::size_t const in_before = source.pos;
    std::size_t const out_before = target.pos;
    std::size_t const code = ZSTD_decompressStream(context, &target, &source);
    if (ZSTD_isError(code) != 0) {
      // The checksum comes after the last byte: a wrong one means that the bytes differ from those that were written.
      return {corrupt("the zstd stream is damaged", target.pos)};
    }
    bool const full = target.pos == target.size;
    if (code == 0) {  // the end of a frame; later bytes are not the block's (libtiff reads one frame)
      if (full) { return {done(target.pos, source.pos < source.size), true}; }
      return {truncated(target.pos, "the zstd stream holds fewer bytes than the block"), true};
    }
    if (full && target.pos == out_before) { return {done(target.pos, source.pos < source.size)}; }
    bool const progress = source.pos != in_before || target.pos != out_before;
    if (!full && (source.pos == source.size || !progress)) {
      return {truncated(target.pos, "the zstd stream ends early")};
    }
  }
}

}  // namespace

StreamResult decompress_zstd(std::span<std::byte const> in, std::span<std::byte> out, Workspace& workspace) noexcept {
  if (ZstdDecoder::is_for(in, out.size())) {
    ZstdDecoder* const decoder = workspace.impl().zstd_decoder();
    if (decoder != nullptr && decoder->decode(in, out)) { return {done(out.size()), true}; }
  }
  ZSTD_DCtx* const context = workspace.impl().zstd();
  if (context == nullptr) { return {out_of_memory()}; }
  std::size_t const written = ZSTD_decompressDCtx(context, out.data(), out.size(), in.data(), in.size());
  if (ZSTD_isError(written) == 0 && !in.empty()) {
    if (written == out.size()) { return {done(written), true}; }
    return {truncated(written, "the zstd stream holds fewer bytes than the block"), true};
  }
  return decompress_streaming(in, out);
}

namespace {

tile::TileResult decode(BlockFormat const&, BlockShape, std::span<std::byte const> in, std::span<std::byte> out,
                        Workspace& workspace) noexcept {
  return decompress_zstd(in, out, workspace).result;
}

}  // namespace

Codec::Decode zstd_decoder() noexcept { return &each_block<&decode>; }

#else

StreamResult decompress_zstd(std::span<std::byte const>, std::span<std::byte>, Workspace&) noexcept {
  return {unsupported("this build lacks libzstd")};
}

Codec::Decode zstd_decoder() noexcept { return nullptr; }

#endif

}  // namespace terrazzo::codec
