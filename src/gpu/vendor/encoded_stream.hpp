// SPDX-License-Identifier: Apache-2.0
//
// What an encoder of the vendor gave, looked at before it goes into a file: whether the stream is what was asked for,
// and in the form in which the host codec writes its own. Headers only, in host memory; whatever the bytes are, nothing
// outside them is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace terrazzo::gpu {

// Quantisation tables of 8-bit values by their number, in the order of the file (zigzag).
using QuantisationTable = std::array<std::byte, 64>;
using QuantisationTables = std::array<std::optional<QuantisationTable>, 4>;

// Those of a stream, or of tag 347. Nothing when the headers are damaged or have values of 16 bits.
[[nodiscard]] std::optional<QuantisationTables> quantisation_tables(std::span<std::byte const> stream);

// Puts `tables` where the stream has tables of the same numbers. False when it has others, or is damaged.
[[nodiscard]] bool replace_quantisation_tables(std::span<std::byte> stream, QuantisationTables const& tables);

// A baseline image of 8 bits in one scan.
struct JpegShape {
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t components = 1;
  std::uint32_t across = 1, down = 1;  // luma's sampling factors; chroma's are 1
};

// The stream without its quantisation tables, which are tag 347's, and without application markers and comments: the
// TIFF's tags say what they would say. Empty when it is not of this shape, or when a component uses a table that
// differs from the tag's: decoders such as libtiff keep a tile's own table for the tiles after it, which do without.
// Factors of a single component, which mean nothing, become 1. The result lies in `stream`, whose headers are moved.
[[nodiscard]] std::span<std::byte const> abbreviate_jpeg(std::span<std::byte> stream, JpegShape const& shape,
                                                         QuantisationTables const& tables);

// One codestream of JPEG 2000, in one tile.
struct CodestreamShape {
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t components = 1;
  std::uint32_t bits = 8;
  bool is_signed = false;
};

// Whether its size segment says so, its wavelet is reversible, and it ends with its end marker.
[[nodiscard]] bool is_lossless_codestream(std::span<std::byte const> stream, CodestreamShape const& shape) noexcept;

}  // namespace terrazzo::gpu
