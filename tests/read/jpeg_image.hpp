// SPDX-License-Identifier: Apache-2.0
//
// A picture of JPEG tiles (YCbCr, chroma of half the size), all the same one, three pixels short of whole tiles.
#pragma once

#include "codec/registry/encoder.hpp"
#include "support/tiff_builder.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace terrazzo::reading {

// `cut`: tiles that end early, and the 16ths of their bytes that are left.
inline testing::TiffBuilder jpeg_image(std::uint32_t tile, std::uint32_t across,
                                       std::map<std::size_t, std::uint32_t> const& cut = {}) {
  std::vector<std::byte> pixels(std::size_t{tile} * tile * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) { pixels[i] = static_cast<std::byte>(i % 251 / 3 + i / 3 % 97); }
  codec::Workspace workspace;
  codec::EncodeFormat format;
  format.block = {
      .compression = tiff::Compression::jpeg, .samples_per_pixel = 3, .photometric = tiff::Photometric::ycbcr};
  std::vector<std::byte> const tables = codec::make_jpeg_tables(format);
  format.block.jpeg_tables = tables;
  codec::EncodedBlock packed;
  auto const* const encoder = codec::find_encoder(tiff::Compression::jpeg);
  EXPECT_EQ(encoder->encode(format, {tile, tile}, pixels, packed, workspace).status, tile::TileStatus::ok);
  testing::TiffBuilder builder;
  auto const at = static_cast<std::uint32_t>(builder.data({packed.bytes.begin(), packed.bytes.end()}));
  auto const size = static_cast<std::uint32_t>(packed.bytes.size());
  std::vector<std::uint32_t> sizes(std::size_t{across} * across, size);
  for (auto const& [index, left] : cut) { sizes[index] = size * left / 16; }
  std::uint32_t const side = across * tile - 3;
  builder.longs(256, {side}).longs(257, {side}).shorts(258, {8, 8, 8}).shorts(259, {7}).shorts(262, {6});
  builder.shorts(277, {3}).longs(322, {tile}).longs(323, {tile}).shorts(530, {2, 2});
  builder.longs(324, std::vector<std::uint32_t>(sizes.size(), at)).longs(325, sizes);
  builder.raw(347, 7, tables.size(), tables);
  return builder;
}

}  // namespace terrazzo::reading
