// SPDX-License-Identifier: Apache-2.0
#include "tile/packbits.hpp"
#include "codec/decoders.hpp"

namespace terrazzo::codec {
namespace {

tile::TileResult decode(BlockFormat const&, BlockShape, std::span<std::byte const> in, std::span<std::byte> out,
                        Workspace&) noexcept {
  return tile::packbits_decode(in, out);
}

}  // namespace

Codec::Decode packbits_decoder() noexcept { return &decode; }

}  // namespace terrazzo::codec
