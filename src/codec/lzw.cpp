// SPDX-License-Identifier: Apache-2.0
#include "tile/lzw.hpp"
#include "codec/decoders.hpp"

namespace terrazzo::codec {
namespace {

tile::TileResult decode(BlockFormat const&, BlockShape, std::span<std::byte const> in, std::span<std::byte> out,
                        Workspace&) noexcept {
  return tile::lzw_decode(in, out);
}

}  // namespace

Codec::Decode lzw_decoder() noexcept { return &decode; }

}  // namespace terrazzo::codec
