// SPDX-License-Identifier: Apache-2.0
#include "coding/packbits/encode.hpp"
#include "codec/registry/encoders.hpp"

namespace terrazzo::codec {
namespace {

std::uint64_t bound(EncodeFormat const& format, BlockShape shape) noexcept {
  auto const row = row_bytes(format.block, shape);
  return row ? coding::packbits_encode_bound(*row) * shape.height_px : raw_bytes(format, shape);
}

tile::TileResult encode(EncodeFormat const& format, BlockShape shape, std::span<std::byte const> in, EncodedBlock& out,
                        Workspace&) {
  std::size_t const row = *row_bytes(format.block, shape);
  std::span<std::byte> const memory = out.memory.get(bound(format, shape));
  std::size_t size = 0;
  for (std::size_t y = 0; y < shape.height_px; ++y) {
    size += coding::packbits_encode_row(in.data() + y * row, row, memory.data() + size);
  }
  return encoded(out, memory, size);
}

std::string refuse(EncodeFormat const&) { return {}; }

}  // namespace

Encoder packbits_encoder() noexcept {
  return {.compression = tiff::Compression::packbits,
          .library = "",
          .encode = &guarded_encode<&encode>,
          .refuse = &refuse,
          .bound = &bound};
}

}  // namespace terrazzo::codec
