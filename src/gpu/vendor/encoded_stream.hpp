// SPDX-License-Identifier: Apache-2.0
//
// Checks the output of a vendor encoder before it goes into a file: the stream must match the request, in the form that
// the host codec writes. Reads headers only, in host memory; for any bytes, nothing outside them is read.
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

// Tables of a stream, or of tag 347. Empty if the headers are damaged or have 16-bit values.
[[nodiscard]] std::optional<QuantisationTables> quantisation_tables(std::span<std::byte const> stream);

// Replaces the stream's tables by `tables` of the same numbers. Returns false if it has others, or is damaged.
[[nodiscard]] bool replace_quantisation_tables(std::span<std::byte> stream, QuantisationTables const& tables);

// A baseline image of 8 bits in one scan.
struct JpegShape {
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t components = 1;
  std::uint32_t across = 1, down = 1;  // luma's sampling factors; chroma's are 1
};

// The stream without its quantisation tables, which are in tag 347, and without application markers and comments:
// TIFF's tags hold that information. Empty if the stream has another shape, or if a component uses a table that differs
// from the tag's: decoders such as libtiff keep a tile's table for later tiles that have none. Factors of a single
// component, which are meaningless, become 1. The result lies in `stream`, whose headers are moved.
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

// True if its size segment matches, its wavelet is reversible, and it ends with its end marker.
[[nodiscard]] bool is_lossless_codestream(std::span<std::byte const> stream, CodestreamShape const& shape) noexcept;

}  // namespace terrazzo::gpu
