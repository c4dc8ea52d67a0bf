// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/encoders.hpp"
#include "codec/registry/workspace.hpp"

namespace terrazzo::codec {
namespace {

std::uint64_t bound(EncodeFormat const& format, BlockShape shape) noexcept {
  return coding::lzw_encode_bound(raw_bytes(format, shape));
}

tile::TileResult encode(EncodeFormat const&, BlockShape, std::span<std::byte const> in, EncodedBlock& out,
                        Workspace& workspace) {
  std::span<std::byte> const memory = out.memory.get(coding::lzw_encode_bound(in.size()));
  return encoded(out, memory, workspace.impl().lzw_encoder().encode(in, memory));
}

std::string refuse(EncodeFormat const&) { return {}; }

}  // namespace

Encoder lzw_encoder() noexcept {
  return {.compression = tiff::Compression::lzw,
          .library = "",
          .encode = &guarded_encode<&encode>,
          .refuse = &refuse,
          .bound = &bound};
}

}  // namespace terrazzo::codec
