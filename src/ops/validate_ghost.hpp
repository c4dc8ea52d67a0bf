// SPDX-License-Identifier: Apache-2.0
//
// GDAL's ghost area: text between the header and the first directory that promises how tiles lie in the file. Its first
// line has a fixed length and tells the size of the rest:
//
//   GDAL_STRUCTURAL_METADATA_SIZE=000140 bytes\n
//   LAYOUT=IFDS_BEFORE_DATA\n
//   BLOCK_ORDER=ROW_MAJOR\n ...
#pragma once

#include "ops/validate_rules.hpp"
#include "tiff/directory.hpp"

#include <cstdint>

namespace terrazzo::ops {

struct GhostArea {
  bool row_major = false;  // offsets of tiles increase
  bool has_leaders = false;  // the four bytes before a tile are its size, little-endian
  bool has_trailers = false;  // the four bytes after a tile repeat its last four
  bool mask_interleaved = false;  // each tile is followed by that of the mask
  bool tile_interleaved = false;  // of separate planes: all planes of a tile, then the next tile
  std::uint64_t end_bytes = 0;  // where the first directory should begin: after the header when there is no area

  [[nodiscard]] std::uint64_t leader_bytes() const noexcept { return has_leaders ? 4 : 0; }
  [[nodiscard]] std::uint64_t trailer_bytes() const noexcept { return has_trailers ? 4 : 0; }
};

// Parses the area, if there is one, and judges its text.
[[nodiscard]] GhostArea read_ghost_area(tiff::MetadataReader const& reader, tiff::Header const& header,
                                        Findings& findings);

}  // namespace terrazzo::ops
