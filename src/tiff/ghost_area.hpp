// SPDX-License-Identifier: Apache-2.0
//
// GDAL's ghost area: text between the header and the first directory that promises how tiles lie in the file. Its first
// line has a fixed length and tells the size of the rest:
//
//   GDAL_STRUCTURAL_METADATA_SIZE=000140 bytes\n
//   LAYOUT=IFDS_BEFORE_DATA\n
//   BLOCK_ORDER=ROW_MAJOR\n ...
//
// And the four bytes before and behind each tile that it promises.
#pragma once

#include "tiff/directory.hpp"
#include "tiff/metadata_reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace terrazzo::tiff {

// All of the area, as it follows the header of a COG that we write. `mask`: tiles of a mask follow those of the image.
[[nodiscard]] std::string_view ghost_text(bool mask) noexcept;

// An area as found in a file. It is a promise, not a fact; nothing here was compared with the tiles.
struct GhostArea {
  std::uint64_t start_bytes = 0;
  std::uint64_t end_bytes = 0;  // where the first directory should begin: after the header when there is no area
  bool has_size = false;  // six digits; when false, nothing below is known
  bool has_unit = false;  // " bytes" behind them
  std::uint64_t declared_bytes = 0;  // of `lines`
  std::string lines{};  // behind the first, as many bytes as the file has

  bool ifds_before_data = false;
  bool row_major = false;  // offsets of tiles increase
  bool has_leaders = false;  // the four bytes before a tile are its size, little-endian
  bool has_trailers = false;  // the four bytes after a tile repeat its last four
  bool mask_interleaved = false;  // each tile is followed by that of the mask
  bool tile_interleaved = false;  // of separate planes: all planes of a tile, then the next tile
  bool edited = false;  // somebody changed the file since, and says so: nothing is promised any more

  [[nodiscard]] std::uint64_t leader_bytes() const noexcept { return has_leaders ? 4 : 0; }
  [[nodiscard]] std::uint64_t trailer_bytes() const noexcept { return has_trailers ? 4 : 0; }
  // Lines of KEY=VALUE, and nothing else.
  [[nodiscard]] bool is_well_formed() const noexcept;
};

// The area of a file that has one: its first bytes say so. Lines that are not known are no harm.
[[nodiscard]] std::optional<GhostArea> read_ghost_area(MetadataReader const& reader, Header const& header);

// Bytes that take an area's promise back (KNOWN_INCOMPATIBLE_EDITION=YES), as GDAL does when it changes such a file.
struct GhostEdit {
  std::uint64_t offset_bytes = 0;
  std::string_view text{};
};
// Of the file with that header; nothing when it promises nothing, no longer does, or has no room to say so.
[[nodiscard]] std::optional<GhostEdit> take_back_ghost(MetadataReader const& reader, Header const& header);

// What lies around each tile of a COG.
inline constexpr std::size_t kTileFrameBytes = 4;  // a leader, or a trailer
using TileFrame = std::array<std::byte, kTileFrameBytes>;
[[nodiscard]] TileFrame tile_leader(std::uint32_t size_bytes) noexcept;
[[nodiscard]] TileFrame tile_trailer(std::span<std::byte const> tile) noexcept;  // zeros behind a shorter one

}  // namespace terrazzo::tiff
