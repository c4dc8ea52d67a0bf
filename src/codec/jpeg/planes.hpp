// SPDX-License-Identifier: Apache-2.0
//
// JPEG decoded to planes: the common form (8 bits, YCbCr, chroma of half the size) as stored in the stream.
// tile/host/jpeg_rows.hpp makes rows of it, equal to those of the decoder of codec.hpp, in less time.
#pragma once

#include "codec/registry/codec.hpp"
#include "tile/host/jpeg_rows.hpp"

#include <optional>

namespace terrazzo::codec {

// The planes lie in `out`, which has the block's size. nullopt if the stream has another form or
// another size than the block, if memory is short, or if the stream is damaged: the general decoder then reports
// the error.
[[nodiscard]] std::optional<tile::JpegPlanes> decode_jpeg_planes(BlockFormat const& format, BlockShape shape,
                                                                 std::span<std::byte const> in,
                                                                 std::span<std::byte> out, Workspace&) noexcept;

}  // namespace terrazzo::codec
