// SPDX-License-Identifier: Apache-2.0
//
// Code shared by the encoder files: one function per file for the table in codec.cpp, the byte streams that wrap
// LERC's blobs, and the wrapper that catches exceptions.
#pragma once

#include "codec/registry/encoder.hpp"
#include "codec/registry/result.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>

namespace terrazzo::codec {

// The codec's entry in the table; `encode` is null if the build lacks the library.
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

// Encodes `in` to one stream that contains its size; levels as above. May throw bad_alloc; returns unsupported if the
// build lacks the library.
[[nodiscard]] tile::TileResult deflate_zlib(std::span<std::byte const> in, int level, EncodedBlock& out, Workspace&);
[[nodiscard]] tile::TileResult compress_zstd(std::span<std::byte const> in, int level, EncodedBlock& out, Workspace&);
[[nodiscard]] std::uint64_t deflate_zlib_bound(std::uint64_t in_bytes) noexcept;
[[nodiscard]] std::uint64_t compress_zstd_bound(std::uint64_t in_bytes) noexcept;

// An error text that gives the codec's range of levels; empty if the level is valid.
[[nodiscard]] std::string refuse_level(char const* codec, int level, int lowest, int highest);

// The first `size` bytes of out.memory are the encoded block.
[[nodiscard]] inline tile::TileResult encoded(EncodedBlock& out, std::span<std::byte> memory,
                                              std::size_t size) noexcept {
  out.bytes = memory.first(size);
  return done(size);
}

// Bytes of one block of samples, for bounds; 2^62 for an impossible shape.
[[nodiscard]] inline std::uint64_t raw_bytes(EncodeFormat const& format, BlockShape shape) noexcept {
  auto const bytes = block_bytes(format.block, shape);
  return bytes ? std::uint64_t{*bytes} : std::uint64_t{1} << 62;
}

// Like `guarded` for decoders; also refuses an input whose size differs from the block's.
template <auto Encode>
tile::TileResult guarded_encode(EncodeFormat const& format, BlockShape shape, std::span<std::byte const> in,
                                EncodedBlock& out, Workspace& workspace) noexcept {
  out.bytes = {};
  if (auto const expected = block_bytes(format.block, shape); !expected || *expected == 0 || in.size() != *expected) {
    return failed("the samples are not as many as the block's");
  }
  try {
    return Encode(format, shape, in, out, workspace);
  } catch (std::bad_alloc const&) { return out_of_memory(); } catch (...) {
    return failed("the codec library threw an exception");
  }
}

}  // namespace terrazzo::codec
