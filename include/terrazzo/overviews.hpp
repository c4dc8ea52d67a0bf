// SPDX-License-Identifier: Apache-2.0
//
// Adds overviews to an existing file: inside it, or in a file beside it (.ovr).
//
//   terrazzo::add_overviews("dem.tif", {.factors = {{2, 4, 8}}, .resampling = terrazzo::Resampling::average});
//
// Pixels are read once; each overview is computed from the previous level during the same pass. The pixels equal those
// of gdaladdo for nearest and average.
//
// Internal overviews are appended after the end of the file. A file with a tile, a strip or a tag's value past its end
// is a `malformed` error: in a longer file the missing bytes would read as zeros. The overviews are synced to disk and
// read back before the one pointer that links them is written: a crash before that write leaves the old contents, with
// unused bytes at the end. A failure restores the old file. Old overviews are unlinked but keep their bytes; convert()
// makes a file without the unused bytes.
//
// A COG that gets internal overviews is no longer a COG: the file is marked KNOWN_INCOMPATIBLE_EDITION=YES, as GDAL
// does. All functions throw terrazzo::Error.
#pragma once

#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace terrazzo {

enum class OverviewPlace : std::uint8_t {
  internal,  // in the file, which must be little-endian and hold one image
  external,  // in FILE.ovr, which appears complete or not at all; readers use it if the file has no overviews
};

struct OverviewOptions {
  // Ascending, each at least 2. An empty list removes existing overviews. Default: halve until a level fits 256 pixels,
  // as gdaladdo does; a raster that fits already gets none.
  std::optional<std::vector<std::uint32_t>> factors{};
  std::optional<Resampling> resampling{};  // default: nearest for palettes and category names, else average
  OverviewPlace place = OverviewPlace::internal;
  bool keep = false;  // keep existing internal overviews and add only missing ones; an .ovr is always made anew

  // May change the options of the overviews: compression, tile size, engine, device budget. The defaults are the
  // raster's compression (deflate if it cannot be written) and its tile size (256 x 256 if it has strips). Options that
  // describe pixels (type, bands, nodata) must stay. Example: `[](WriteOptions& write) { write.engine = Engine::device;
  // }`.
  std::function<void(WriteOptions&)> adjust{};
  BadTile bad_tile = BadTile::error;
  OpenOptions open{};  // page 0 only

  std::uint64_t streaming_buffer_bytes = std::uint64_t{256} << 20;
  Durability durability = Durability::none;
  unsigned threads = 0;
  Progress progress{};  // counts written tiles; returning false cancels
  std::atomic<bool> const* cancel = nullptr;
};

struct OverviewReport {
  std::string file{};  // the file that holds the overviews
  std::vector<OverviewInfo> overviews{};  // all overviews that readers see after the call
  ReadReport read{};
  WriteReport write{};  // counts the new overviews; bytes_written is the size of `file`
  bool no_longer_cog = false;  // the file was a COG before the call
  bool hides_sidecar = false;  // readers now ignore the .ovr file beside the raster
};

OverviewReport add_overviews(std::string const& path, OverviewOptions const& options = {});

}  // namespace terrazzo
#pragma GCC visibility pop
