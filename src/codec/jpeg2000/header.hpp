// SPDX-License-Identifier: Apache-2.0
//
// The main header of a JPEG 2000 codestream (ISO/IEC 15444-1, annex A): the fields that must be checked before a
// decoder gets the stream, because OpenJPEG allocates by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace terrazzo::codec {

struct Jpeg2000Header {
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint64_t inner_tile_count = 0;     // tiles inside the codestream
  std::uint32_t components = 0;
  std::uint32_t max_bits = 0;             // the deepest component
  std::uint32_t smallest_precinct_log2 = 15;  // over both axes and all resolutions except the lowest
  bool in_jp2_boxes = false;              // a JP2 file around the codestream
};

// Finds the codestream (bare, or in the boxes of a JP2 file) and reads SIZ and COD. nullopt for any other stream.
[[nodiscard]] std::optional<Jpeg2000Header> parse_jpeg2000_header(std::span<std::byte const> in) noexcept;

}  // namespace terrazzo::codec
