// SPDX-License-Identifier: Apache-2.0
//
// What the encoder files share: one function per file for the table in encoder.cpp, the byte streams that LERC wraps
// its blobs in, and the wall that keeps exceptions inside.
#pragma once

#include "codec/encoder.hpp"
#include "codec/result.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>

namespace terrazzo::codec {

// The codec's entry in the table; `encode` is null where the build lacks the library.
[[nodiscard]] Encoder none_encoder() noexcept;
[[nodiscard]] Encoder packbits_encoder() noexcept;
[[nodiscard]] Encoder lzw_encoder() noexcept;
[[nodiscard]] Encoder deflate_encoder() noexcept;
[[nodiscard]] Encoder zstd_encoder() noexcept;
[[nodiscard]] Encoder lzma_encoder() noexcept;
[[nodiscard]] Encoder lz4_frame_encoder() noexcept;
[[nodiscard]] Encoder lerc_encoder() noexcept;
[[nodiscard]] Encoder jpeg_encoder() noexcept;
[[nodiscard]] Encoder jpeg2000_encoder() noexcept;
[[nodiscard]] Encoder webp_encoder() noexcept;

inline constexpr int kDeflateLevels[2] = {1, 12};
inline constexpr int kDefaultDeflateLevel = 6;
inline constexpr int kZstdLevels[2] = {1, 22};
inline constexpr int kDefaultZstdLevel = 9;

// One stream of `in`, its size in it; the levels are those above. May throw bad_alloc; unsupported where the build
// lacks the library.
[[nodiscard]] tile::TileResult deflate_zlib(std::span<std::byte const> in, int level, EncodedBlock& out, Workspace&);
[[nodiscard]] tile::TileResult compress_zstd(std::span<std::byte const> in, int level, EncodedBlock& out, Workspace&);
[[nodiscard]] std::uint64_t deflate_zlib_bound(std::uint64_t in_bytes) noexcept;
[[nodiscard]] std::uint64_t compress_zstd_bound(std::uint64_t in_bytes) noexcept;

// "DEFLATE levels are 1 to 12", or nothing when the level is one of them.
[[nodiscard]] std::string refuse_level(char const* codec, int level, int lowest, int highest);

// The first `size` bytes of out.memory are the encoded block.
[[nodiscard]] inline tile::TileResult encoded(EncodedBlock& out, std::span<std::byte> memory,
                                              std::size_t size) noexcept {
  out.bytes = memory.first(size);
  return done(size);
}

// Bytes of one block of samples, for bounds; a shape that cannot be is as large as can be.
[[nodiscard]] inline std::uint64_t raw_bytes(EncodeFormat const& format, BlockShape shape) noexcept {
  auto const bytes = block_bytes(format.block, shape);
  return bytes ? std::uint64_t{*bytes} : std::uint64_t{1} << 62;
}

// As `guarded` for decoders; and an input that is not the block's size is refused before the codec sees it.
template <auto Encode>
tile::TileResult guarded_encode(EncodeFormat const& format, BlockShape shape, std::span<std::byte const> in,
                                EncodedBlock& out, Workspace& workspace) noexcept {
  out.bytes = {};
  if (auto const expected = block_bytes(format.block, shape); !expected || *expected == 0 || in.size() != *expected) {
    return failed("the samples are not as many as the block's");
  }
  try {
    return Encode(format, shape, in, out, workspace);
  } catch (std::bad_alloc const&) { return failed("out of memory"); } catch (...) {
    return failed("the codec library threw an exception");
  }
}

}  // namespace terrazzo::codec
