// SPDX-License-Identifier: Apache-2.0
//
// JPEG of 12 bits a sample (sequential, Huffman), which the common build of libjpeg-turbo does not decode. The same
// integer transform, upsampling filter and colour conversion as libjpeg's, so the samples are those of GDAL.
#pragma once

#include "codec/codec.hpp"

namespace terrazzo::codec {

// `out` gets rows of 12-bit samples packed most significant bit first, each row padded to a byte. Three components
// under photometric YCbCr become RGB when asked. Throws bad_alloc; memory is bounded by the block.
[[nodiscard]] tile::TileResult decode_jpeg12(BlockFormat const& format, BlockShape shape, std::span<std::byte const> in,
                                             std::span<std::byte> out);

}  // namespace terrazzo::codec
