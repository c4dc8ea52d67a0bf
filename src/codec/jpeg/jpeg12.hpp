// SPDX-License-Identifier: Apache-2.0
//
// JPEG of 12 bits per sample (sequential, Huffman), which the common build of libjpeg-turbo does not decode. Uses
// libjpeg's integer transform, upsampling filter and colour conversion, so the samples are those of GDAL.
#pragma once

#include "codec/registry/codec.hpp"

namespace terrazzo::codec {

// `out` gets rows of 12-bit samples packed most significant bit first, each row padded to a byte. Three components
// under photometric YCbCr become RGB if requested. Throws bad_alloc; memory is bounded by the block.
[[nodiscard]] tile::TileResult decode_jpeg12(BlockFormat const& format, BlockShape shape, std::span<std::byte const> in,
                                             std::span<std::byte> out);

}  // namespace terrazzo::codec
