// SPDX-License-Identifier: Apache-2.0
//
// Edits the tags of a file and leaves its pixels alone: nodata, CRS, transform, metadata, descriptions of bands.
//
//   terrazzo::edit("dem.tif", {.nodata = "-9999", .crs = terrazzo::Crs{.epsg = 32633}, .set = {{"AUTHOR", "me"}}});
//
// edit() takes the first of three ways that is possible:
// - In place: writes the directories again into the bytes that they and their values occupy, plus the slack of a COG's
//   ghost area layout. COGs written by this library have that slack and stay valid. Bytes between directories stay,
//   because a private tag may refer to them. One write changes all bytes that differ. A kill or a power failure during
//   that write can mix old and new directories and leave the file unreadable; tiles are never changed.
// - Appended: writes new directories after the end of the file. The directories are synced to disk before the header
//   points to them, so a crash leaves the old file. Not used for a COG with a ghost area or overviews, because it would
//   no longer be a COG. A file with a tile, a strip or a tag's value past its end is a `malformed` error: in a longer
//   file the missing bytes would read as zeros.
// - Rewritten, only with EditOptions::rewrite: writes a new file with tiles copied byte for byte, then replaces the old
//   file; a crash leaves the old file. A COG gets COG layout and slack again, even if an earlier edit broke the layout.
//
// The new directories are read back and checked before readers can see them; in-place and appended edits are checked
// again afterwards. If they differ from the request, the old file is restored and an `io` Error is thrown.
//
// A PAM file (.aux.xml) beside the file takes precedence over the file's tags, as in GDAL, and is not changed. All
// functions throw terrazzo::Error.
#pragma once

#include "terrazzo/info.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace terrazzo {

struct BandEdit {
  std::uint32_t band = 1;  // 1-based
  std::optional<std::string> description{}, unit{};  // an empty text removes it
  std::optional<double> scale{}, offset{};  // finite
  MetadataItems set{};  // items of the default domain; an empty value removes the item
  std::vector<std::string> unset{};
};

// Changes to a file. Everything else stays as it is.
struct FileEdit {
  std::optional<std::string> nodata{};  // in make_nodata()'s notation; empty: removed. Applies to overviews too
  std::optional<Crs> crs{};
  bool remove_crs = false;
  std::optional<std::array<double, 6>> transform{};  // as Georeference::transform
  bool remove_transform = false;
  // Items of the default domain; an empty value removes the item. AREA_OR_POINT (Area or Point) sets the raster type
  // key and adjusts the transform tags so that the raster keeps its position.
  MetadataItems set{};
  std::vector<std::string> unset{};
  std::vector<BandEdit> bands{};
};

struct EditOptions {
  bool rewrite = false;
  Durability durability = Durability::none;
  Progress progress{};  // counts copied tiles; returning false cancels
  std::atomic<bool> const* cancel = nullptr;
};

enum class EditWay : std::uint8_t { nothing, in_place, appended, rewritten };
[[nodiscard]] std::string_view to_string(EditWay way) noexcept;  // "in place"

struct EditReport {
  EditWay way = EditWay::nothing;
  std::uint64_t file_bytes = 0;  // size of the file after the edit
  bool hidden_by_sidecar = false;  // a sidecar has a different value, which takes precedence
  bool no_longer_cog = false;  // the file had COG layout but no ghost area, and lost the layout
};

// A COG without room for the change is a `usage` error unless `rewrite` is set. A file counts as a COG if it has a
// ghost area, or if it has overviews, no strips, and COG layout (validate()). Another file that validate() accepts as a
// COG is edited; EditReport::no_longer_cog then reports the loss.
EditReport edit(std::string const& path, FileEdit const& changes, EditOptions const& options = {});

}  // namespace terrazzo
#pragma GCC visibility pop
