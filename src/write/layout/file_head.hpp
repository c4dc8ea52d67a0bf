// SPDX-License-Identifier: Apache-2.0
//
// The part of a new file before the tiles: header, GDAL's ghost area in a COG, consecutive directories. docs/writing.md
// has the layout byte by byte.
#pragma once

#include "tiff/directory_writer.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::writing {

// Space after the directories of a COG, so that a few tags can grow later without moving tiles.
inline constexpr std::uint64_t kSlackBytes = 2048;

// The offset of the raster's tiles in a COG whose other parts take `head_bytes`. A large offset is rounded up, so that
// the head can be inserted before tiles that are already in the file.
[[nodiscard]] std::uint64_t raster_start_bytes(std::uint64_t head_bytes) noexcept;

struct FileHeadFormat {
  bool bigtiff = false;
  bool cog = false;
  bool mask = false;  // tiles of a mask follow those of their image; used for a COG only
  std::endian order = std::endian::little;
};

[[nodiscard]] std::uint64_t first_directory_bytes(FileHeadFormat const& format) noexcept;

// The bytes from the beginning of the file to the end of the last directory.
[[nodiscard]] std::vector<std::byte> encode_file_head(FileHeadFormat const& format,
                                                      std::span<tiff::TagSet const> directories);

}  // namespace terrazzo::writing
