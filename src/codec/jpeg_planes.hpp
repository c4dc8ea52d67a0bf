// SPDX-License-Identifier: Apache-2.0
//
// JPEG for whoever wants planes: the usual picture (8 bits, YCbCr, chroma of half the size) as the stream holds it.
// tile/jpeg_rows.hpp makes rows of it that are those of the decoder of codec.hpp, in less time.
#pragma once

#include "codec/codec.hpp"
#include "tile/jpeg_rows.hpp"

#include <optional>

namespace terrazzo::codec {

// The planes lie in `out`, which has the block's bytes. Nothing when the stream is of another kind, when it has
// another size than the block, when memory is short, or when anything is wrong with it: the usual decoder then says
// what.
[[nodiscard]] std::optional<tile::JpegPlanes> decode_jpeg_planes(BlockFormat const& format, BlockShape shape,
                                                                 std::span<std::byte const> in,
                                                                 std::span<std::byte> out, Workspace&) noexcept;

}  // namespace terrazzo::codec
