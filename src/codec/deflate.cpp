// SPDX-License-Identifier: Apache-2.0
//
// Deflate in its zlib frame (TIFF 8, and 32946 which is the same stream). Our own decoder takes two tiles at a time, of
// the kind that it is faster with. libdeflate decodes any other tile that is as long as it should be. It cannot say how
// far it came in any other, nor hand out the first bytes of a longer one (a match across the end is left out whole), so
// those are decoded again by zlib, which streams.
#include "codec/byte_stream.hpp"
#include "codec/decoders.hpp"
#include "codec/result.hpp"
#include "codec/workspace.hpp"
#include "tile/deflate_format.hpp"

#include <algorithm>
#include <limits>

namespace terrazzo::codec {

#if TERRAZZO_HAVE_ZLIB

namespace {

// zlib counts in 32 bits; longer spans are fed in pieces.
uInt piece(std::size_t bytes) noexcept {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

StreamResult inflate_streaming(std::span<std::byte const> in, std::span<std::byte> out, Workspace& workspace) noexcept {
  z_stream* const stream = workspace.impl().zlib();
  if (stream == nullptr) { return {out_of_memory()}; }
  stream->next_in = reinterpret_cast<Bytef const*>(in.data());
  stream->next_out = reinterpret_cast<Bytef*>(out.data());
  // inflate needs somewhere to point even when nothing is wanted.
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
    // Z_DATA_ERROR after the last byte is a wrong Adler-32: the bytes are not those that were written.
    if (state == Z_DATA_ERROR) { return {corrupt("the deflate stream is damaged", now_written)}; }
    if (state == Z_NEED_DICT) { return {corrupt("the deflate stream needs a preset dictionary")}; }
    if (state == Z_MEM_ERROR) { return {out_of_memory()}; }
    if (state != Z_OK && state != Z_BUF_ERROR) { return {failed("zlib failed")}; }
    // Full without the end in sight: a stream cut before its Adler-32, or one that holds more. Both are accepted.
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

tile::TileResult decode(BlockFormat const&, BlockShape, std::span<std::byte const> in, std::span<std::byte> out,
                        Workspace& workspace) noexcept {
  return inflate_zlib(in, out, workspace).result;
}

#if TERRAZZO_HAVE_LIBDEFLATE

// The stream inside a plain zlib frame (RFC 1950, 2.2), and the checksum behind it.
struct ZlibFrame {
  std::span<std::byte const> stream{};
  std::uint32_t adler = 0;

  [[nodiscard]] bool read(std::span<std::byte const> in) noexcept {
    if (in.size() <= tile::kZlibHeaderBytes + tile::kZlibTailBytes) { return false; }
    if (!tile::is_zlib_header(std::to_integer<unsigned>(in[0]), std::to_integer<unsigned>(in[1]))) { return false; }
    stream = in.first(in.size() - tile::kZlibTailBytes).subspan(tile::kZlibHeaderBytes);
    for (std::byte const byte : in.last(tile::kZlibTailBytes)) {
      adler = adler << 8 | std::to_integer<std::uint32_t>(byte);
    }
    return true;
  }
};

TwoBlocks decode_two(std::array<std::span<std::byte const>, 2> const& in,
                     std::array<std::span<std::byte>, 2> const& out, Workspace& workspace) noexcept {
  ZlibFrame first, second;
  if (!first.read(in[0]) || !DeflatePair::is_for(first.stream)) { return TwoBlocks::unsuited; }
  if (!second.read(in[1]) || !DeflatePair::is_for(second.stream)) { return TwoBlocks::unsuited; }
  DeflatePair* const decoder = workspace.impl().deflate_pair();
  if (decoder == nullptr) { return TwoBlocks::unsuited; }
  bool const are_good = decoder->decode({DeflateTile{first.stream, out[0]}, DeflateTile{second.stream, out[1]}}) &&
                        libdeflate_adler32(1, out[0].data(), out[0].size()) == first.adler &&
                        libdeflate_adler32(1, out[1].data(), out[1].size()) == second.adler;
  return are_good ? TwoBlocks::done : TwoBlocks::failed;
}

#endif

}  // namespace

Codec::Decode deflate_decoder() noexcept { return &decode; }

Codec::DecodeTwo deflate_pair_decoder() noexcept {
#if TERRAZZO_HAVE_LIBDEFLATE
  if (DeflatePair::is_fast_here()) { return &decode_two; }
#endif
  return nullptr;
}

#else

StreamResult inflate_zlib(std::span<std::byte const>, std::span<std::byte>, Workspace&) noexcept {
  return {unsupported("this build lacks zlib")};
}

Codec::Decode deflate_decoder() noexcept { return nullptr; }
Codec::DecodeTwo deflate_pair_decoder() noexcept { return nullptr; }

#endif

}  // namespace terrazzo::codec
