// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/decoders.hpp"
#include "codec/registry/result.hpp"

#include <algorithm>
#include <cstring>

namespace terrazzo::codec {
namespace {

tile::TileResult decode(BlockFormat const&, BlockShape, std::span<std::byte const> in, std::span<std::byte> out,
                        Workspace&) noexcept {
  std::size_t const bytes = std::min(in.size(), out.size());
  if (bytes != 0) { std::memcpy(out.data(), in.data(), bytes); }
  if (bytes < out.size()) { return truncated(bytes, "the block is shorter than its samples"); }
  return done(bytes, in.size() > out.size());
}

}  // namespace

Codec::Decode none_decoder() noexcept { return &each_block<&decode>; }

}  // namespace terrazzo::codec
