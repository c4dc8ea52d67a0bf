// SPDX-License-Identifier: Apache-2.0
#include "coding/packbits/decode.hpp"
#include "codec/registry/decoders.hpp"
#include "codec/registry/result.hpp"

namespace terrazzo::codec {
namespace {

tile::TileResult decode(BlockFormat const&, BlockShape, std::span<std::byte const> in, std::span<std::byte> out,
                        Workspace&) noexcept {
  return coding::packbits_decode(in, out);
}

}  // namespace

Codec::Decode packbits_decoder() noexcept { return &each_block<&decode>; }

}  // namespace terrazzo::codec
