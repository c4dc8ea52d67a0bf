// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/encoders.hpp"

#include <cstring>

namespace terrazzo::codec {
namespace {

tile::TileResult encode(EncodeFormat const&, BlockShape, std::span<std::byte const> in, EncodedBlock& out, Workspace&) {
  std::span<std::byte> const memory = out.memory.get(in.size());
  std::memcpy(memory.data(), in.data(), in.size());
  return encoded(out, memory, in.size());
}

std::string refuse(EncodeFormat const&) { return {}; }

}  // namespace

Encoder none_encoder() noexcept {
  return {.compression = tiff::Compression::none,
          .library = "",
          .encode = &guarded_encode<&encode>,
          .refuse = &refuse,
          .bound = &raw_bytes};
}

}  // namespace terrazzo::codec
