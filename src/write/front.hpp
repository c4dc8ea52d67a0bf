// SPDX-License-Identifier: Apache-2.0
//
// What comes before the tiles of a new file: header, GDAL's ghost area in a COG, directories one behind another.
// docs/writing.md has the layout byte by byte.
#pragma once

#include "tiff/directory_writer.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::writing {

// Room behind the directories of a COG, so that a few tags can grow later without moving tiles.
inline constexpr std::uint64_t kSlackBytes = 2048;

// Where the raster's tiles begin in a COG when everything before them takes `front_bytes`. A long front is rounded up,
// so that it can be inserted before tiles that are in the file already.
[[nodiscard]] std::uint64_t raster_start_bytes(std::uint64_t front_bytes) noexcept;

struct FrontFormat {
  bool bigtiff = false;
  bool cog = false;
  bool mask = false;  // tiles of a mask follow those of their image; asked for a COG only
  std::endian order = std::endian::little;
};

[[nodiscard]] std::uint64_t first_directory_bytes(FrontFormat const& format) noexcept;

// From the first byte of the file to the end of the last directory.
[[nodiscard]] std::vector<std::byte> encode_front(FrontFormat const& format, std::span<tiff::TagSet const> directories);

}  // namespace terrazzo::writing
