// SPDX-License-Identifier: Apache-2.0
//
// Deflate and zstd as plain streams of bytes, for their own codecs and for LERC, which wraps its blobs in them.
#pragma once

#include "codec/registry/codec.hpp"

#include <cstddef>
#include <span>

namespace terrazzo::codec {

// `result` is for callers that need `out` filled. Callers with spare room check `ended`: the stream ended, with a good
// checksum, after result.bytes_written bytes.
struct StreamResult {
  tile::TileResult result;
  bool ended = false;
};

// Never throw; return unsupported if the build lacks the library.
[[nodiscard]] StreamResult inflate_zlib(std::span<std::byte const> in, std::span<std::byte> out, Workspace&) noexcept;
[[nodiscard]] StreamResult decompress_zstd(std::span<std::byte const> in, std::span<std::byte> out,
                                           Workspace&) noexcept;

}  // namespace terrazzo::codec
