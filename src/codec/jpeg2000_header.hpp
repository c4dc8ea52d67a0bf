// SPDX-License-Identifier: Apache-2.0
//
// The main header of a JPEG 2000 codestream (ISO/IEC 15444-1, annex A), as far as it must be checked before a decoder
// may see it: OpenJPEG allocates by what it finds there.
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
  std::uint32_t smallest_precinct_log2 = 15;  // over both axes and all resolutions but the lowest
  bool in_jp2_boxes = false;              // a JP2 file around the codestream
};

// Finds the codestream (bare, or in the boxes of a JP2 file) and reads SIZ and COD. None when it is no such stream.
[[nodiscard]] std::optional<Jpeg2000Header> parse_jpeg2000_header(std::span<std::byte const> in) noexcept;

}  // namespace terrazzo::codec
