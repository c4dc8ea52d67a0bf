// SPDX-License-Identifier: Apache-2.0
//
// Overviews for a file that exists: inside it, or in a file beside it (.ovr).
//
//   terrazzo::add_overviews("dem.tif", {.factors = {{2, 4, 8}}, .resampling = terrazzo::Resampling::average});
//
// Pixels are read once; every overview is made from the one before it on the way, with the pixels of gdaladdo for
// nearest and average. Internal overviews are added behind the end of the file, and behind all that a cut-off file
// refers to. They are on the disk and were read again before the one pointer that makes them known is written, so that
// a crash before it leaves the old file to every reader, a little longer; a failure puts the old file back. Old
// overviews are no longer referred to, and their bytes stay: `terrazzo cog` or `convert` makes the file small again.
//
// A COG that gets internal overviews this way is no COG any more: its promise is taken back in the file, as GDAL does
// (KNOWN_INCOMPATIBLE_EDITION=YES). All functions throw terrazzo::Error.
#pragma once

#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace terrazzo {

enum class OverviewPlace : std::uint8_t {
  internal,  // in the file: little-endian files with one image
  external,  // in FILE.ovr, which appears whole or not at all; readers look for it when the file has none of its own
};

struct OverviewOptions {
  // Going up from 2; empty: none, those that are there go. Default: halved until 256 pixels hold it, as gdaladdo; a
  // raster that is no larger stays as it is.
  std::optional<std::vector<std::uint32_t>> factors{};
  std::optional<Resampling> resampling{};  // default: nearest for palettes and category names, else average
  OverviewPlace place = OverviewPlace::internal;
  bool keep = false;  // overviews that are there stay, and only missing ones are made; .ovr: all are made anew

  // May change how tiles are written: what it gets has the raster's compression (or deflate where that cannot be
  // written) and tile size (or 256 x 256 where it has strips). What says what pixels are must stay. The engine and its
  // device budget are set here too: `[](WriteOptions& write) { write.engine = Engine::device; }`.
  std::function<void(WriteOptions&)> adjust{};
  BadTile bad_tile = BadTile::error;
  OpenOptions open{};  // page 0 only

  std::uint64_t streaming_buffer_bytes = std::uint64_t{256} << 20;
  Durability durability = Durability::none;
  unsigned threads = 0;
  Progress progress{};  // of tiles written; returning false cancels
  std::atomic<bool> const* cancel = nullptr;
};

struct OverviewReport {
  std::string file{};  // that holds them
  std::vector<OverviewInfo> overviews{};  // all that readers see now
  ReadReport read{};
  WriteReport write{};  // of what was made; bytes_written is the size of `file`
  bool no_longer_cog = false;  // it was one; the overviews of a COG are in the file itself, before the raster
  bool hides_sidecar = false;  // there is an .ovr file beside it, which readers do not look at any more
};

OverviewReport add_overviews(std::string const& path, OverviewOptions const& options = {});

}  // namespace terrazzo
