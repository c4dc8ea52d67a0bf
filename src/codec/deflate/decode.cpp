// SPDX-License-Identifier: Apache-2.0
//
// Deflate in its zlib frame (TIFF 8, and 32946, which is the same stream). Our own decoder takes two tiles at a time,
// of the kind that it decodes faster. libdeflate decodes all other tiles that have the expected size. For streams of
// another size, libdeflate reports no progress and delivers no first bytes (it omits a match across the end
// completely), so zlib, which streams, decodes those again.
#include "codec/deflate/zlib_pair_decoder.hpp"
#include "codec/registry/byte_stream.hpp"
#include "codec/registry/decoders.hpp"
#include "codec/registry/result.hpp"
#include "codec/registry/workspace.hpp"

#include <algorithm>
#include <limits>

namespace terrazzo::codec {

#if TERRAZZO_HAVE_ZLIB

namespace {

// zlib counts in 32 bits; longer spans are passed in pieces.
uInt piece(std::size_t bytes) noexcept {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

StreamResult inflate_streaming(std::span<std::byte const> in, std::span<std::byte> out, Workspace& workspace) noexcept {
  z_stream* const stream = workspace.impl().zlib();
  if (stream == nullptr) { return {out_of_memory()}; }
  stream->next_in = reinterpret_cast<Bytef const*>(in.data());
  stream->next_out = reinterpret_cast<Bytef*>(out.data());
  // inflate needs a valid pointer even if no output is requested.
  Bytef nowhere = 0;
  if (out.empty()) { stream->next_out = &nowhere; }
  for (;;) {
    std::size_t const in_left =
        in.size() - static_cast<std::size_t>(stream->next_in - reinterpret_cast<Bytef const*>(in.data()));
    std::size_t const written =
        out.empty() ? 0 : static_cast<std::size_t>(stream->next_out - reinterpret_cast<Bytef*>(out.data()));
    stream->avail_in = piece(in_left);
    stream->avail_out = piece(out.size() - written);
    uInt const in_before = stream->avail_in;
    uInt const out_before = stream->avail_out;
    int const state = inflate(stream, Z_NO_FLUSH);
    std::size_t const now_written = written + (out_before - stream->avail_out);
    std::size_t const now_left = in_left - (in_before - stream->avail_in);
    bool const full = now_written == out.size();
    if (state == Z_STREAM_END) {
      if (full) { return {done(now_written, now_left != 0), true}; }
      return {truncated(now_written, "the deflate stream holds fewer bytes than the block"), true};
    }
    // Z_DATA_ERROR after the last byte is a wrong Adler-32: the bytes differ from those that were written.
    if (state == Z_DATA_ERROR) { return {corrupt("the deflate stream is damaged", now_written)}; }
    if (state == Z_NEED_DICT) { return {corrupt("the deflate stream needs a preset dictionary")}; }
    if (state == Z_MEM_ERROR) { return {out_of_memory()}; }
    if (state != Z_OK && state != Z_BUF_ERROR) { return {failed("zlib failed")}; }
    // The output is full before the end of the stream: the Adler-32 is missing, or the stream holds more. Both are
    // accepted.
    if (full) { return {done(now_written, now_left != 0)}; }
    bool const progress = stream->avail_in != in_before || stream->avail_out != out_before;
    if (now_left == 0 || !progress) { return {truncated(now_written, "the deflate stream ends early")}; }
  }
}

}  // namespace

StreamResult inflate_zlib(std::span<std::byte const> in, std::span<std::byte> out, Workspace& workspace) noexcept {
#if TERRAZZO_HAVE_LIBDEFLATE
  if (libdeflate_decompressor* const decompressor = workspace.impl().libdeflate(); decompressor != nullptr) {
    std::size_t consumed = 0;
    std::size_t written = 0;
    libdeflate_result const code =
        libdeflate_zlib_decompress_ex(decompressor, in.data(), in.size(), out.data(), out.size(), &consumed, &written);
    if (code == LIBDEFLATE_SUCCESS) {
      if (written == out.size()) { return {done(written, consumed < in.size()), true}; }
      return {truncated(written, "the deflate stream holds fewer bytes than the block"), true};
    }
  }
#endif
  return inflate_streaming(in, out, workspace);
}

namespace {

// Two at a time if that is faster. A failure takes as long as decoding both, and one failure predicts more, so the next
// pairs are decoded one by one.
constexpr unsigned kPairsSkippedAfterFailure = 16;

bool decode_pair(Block& first, Block& second, Workspace& workspace) noexcept {
  if (first.out.size() < kLeastPairBytes || second.out.size() < kLeastPairBytes) { return false; }
  if (unsigned& skipped = workspace.impl().deflate_pairs_to_skip; skipped > 0) {
    --skipped;
    return false;
  }
  ZlibPair const pair = inflate_two({first.in, second.in}, {first.out, second.out}, workspace);
  if (pair == ZlibPair::failed) { workspace.impl().deflate_pairs_to_skip = kPairsSkippedAfterFailure; }
  if (pair != ZlibPair::done) { return false; }
  first.result = done(first.out.size());
  second.result = done(second.out.size());
  return true;
}

void decode(BlockFormat const&, std::span<Block> blocks, Workspace& workspace) noexcept {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i + 1 < blocks.size() && decode_pair(blocks[i], blocks[i + 1], workspace)) {
      ++i;
      continue;
    }
    blocks[i].result = inflate_zlib(blocks[i].in, blocks[i].out, workspace).result;
  }
}

}  // namespace

Codec::Decode deflate_decoder() noexcept { return &decode; }

std::uint32_t deflate_blocks_at_once() noexcept { return can_inflate_two() ? 2 : 1; }

#else

StreamResult inflate_zlib(std::span<std::byte const>, std::span<std::byte>, Workspace&) noexcept {
  return {unsupported("this build lacks zlib")};
}

Codec::Decode deflate_decoder() noexcept { return nullptr; }
std::uint32_t deflate_blocks_at_once() noexcept { return 1; }

#endif

}  // namespace terrazzo::codec
