// SPDX-License-Identifier: Apache-2.0
//
// GDAL's ghost area: text between the header and the first directory that declares the layout of tiles. Its first
// line has a fixed length and gives the size of the rest:
//
//   GDAL_STRUCTURAL_METADATA_SIZE=000140 bytes\n
//   LAYOUT=IFDS_BEFORE_DATA\n
//   BLOCK_ORDER=ROW_MAJOR\n ...
//
// Also the four bytes before and after each tile that it declares.
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

// The complete area of a COG that we write. `mask`: mask tiles follow image tiles.
[[nodiscard]] std::string_view ghost_text(bool mask) noexcept;

// An area found in a file. It is a declaration: nothing here was compared with the tiles.
struct GhostArea {
  std::uint64_t start_bytes = 0;
  std::uint64_t end_bytes = 0;  // expected offset of the first directory: right after the header if there is no area
  bool has_size = false;  // six digits; if false, the fields below are unset
  bool has_unit = false;  // " bytes" follows them
  std::uint64_t declared_bytes = 0;  // size of `lines`
  std::string lines{};  // after the first line, as many bytes as the file has

  bool ifds_before_data = false;
  bool row_major = false;  // offsets of tiles increase
  bool has_leaders = false;  // the four bytes before a tile are its size, little-endian
  bool has_trailers = false;  // the four bytes after a tile repeat its last four
  bool mask_interleaved = false;  // each tile is followed by its mask tile
  bool tile_interleaved = false;  // for separate planes: all planes of a tile, then the next tile
  bool edited = false;  // the file was edited later and is marked as such: the declarations no longer hold

  [[nodiscard]] std::uint64_t leader_bytes() const noexcept { return has_leaders ? 4 : 0; }
  [[nodiscard]] std::uint64_t trailer_bytes() const noexcept { return has_trailers ? 4 : 0; }
  // True if all lines are KEY=VALUE.
  [[nodiscard]] bool is_well_formed() const noexcept;
};

// The area of a file, if its first bytes declare one. Unknown lines are ignored.
[[nodiscard]] std::optional<GhostArea> read_ghost_area(MetadataReader const& reader, Header const& header);

// Bytes that revoke an area (KNOWN_INCOMPATIBLE_EDITION=YES), as GDAL writes when it edits such a file.
struct GhostEdit {
  std::uint64_t offset_bytes = 0;
  std::string_view text{};
};
// For the file with that header; nullopt if it has no area, a revoked one, or no room for the mark.
[[nodiscard]] std::optional<GhostEdit> take_back_ghost(MetadataReader const& reader, Header const& header);

// The bytes around each tile of a COG.
inline constexpr std::size_t kTileFrameBytes = 4;  // a leader, or a trailer
using TileFrame = std::array<std::byte, kTileFrameBytes>;
[[nodiscard]] TileFrame tile_leader(std::uint32_t size_bytes) noexcept;
[[nodiscard]] TileFrame tile_trailer(std::span<std::byte const> tile) noexcept;  // zeros after a shorter tile

}  // namespace terrazzo::tiff
