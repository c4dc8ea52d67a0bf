// SPDX-License-Identifier: Apache-2.0
//
// Tiles of 16-bit noise in Deflate: literals and short matches in turn, which are decoded two at a time.
#pragma once

#include "codec/registry/encoder.hpp"
#include "read/images.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace terrazzo::reading {

inline constexpr std::uint16_t kDeflate = 8;

inline std::uint16_t noise_at(std::uint32_t band, std::uint32_t row, std::uint32_t column) {
  std::uint32_t mixed = (row * 8191 + column) * 31 + band;
  for (int i = 0; i < 3; ++i) { mixed = (mixed ^ mixed >> 15) * 0x2C1B3C6D; }
  return static_cast<std::uint16_t>((mixed >> 16) % 60);
}

inline std::vector<std::byte> deflated(std::vector<std::byte> const& bytes) {
  codec::Workspace workspace;
  codec::EncodeFormat format;
  format.block.compression = tiff::Compression::deflate;
  format.level = 5;
  codec::EncodedBlock packed;
  codec::BlockShape const shape{static_cast<std::uint32_t>(bytes.size()), 1};
  auto const* const encoder = codec::find_encoder(tiff::Compression::deflate);
  EXPECT_EQ(encoder->encode(format, shape, bytes, packed, workspace).status, tile::TileStatus::ok);
  return {packed.bytes.begin(), packed.bytes.end()};
}

// `edit` may change a block as it goes into the file.
inline testing::TiffBuilder deflate_image(ImageSpec spec) {
  spec.compression = kDeflate;
  spec.edit = [edit = std::move(spec.edit)](std::uint64_t block, std::vector<std::byte>& bytes) {
    bytes = deflated(bytes);
    if (edit) { edit(block, bytes); }
  };
  return image<std::uint16_t>(spec, noise_at);
}

}  // namespace terrazzo::reading
