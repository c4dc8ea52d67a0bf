// SPDX-License-Identifier: Apache-2.0
//
// Changes what a file says of its pixels, not the pixels: nodata, CRS, transform, metadata, what is said of bands.
//
//   terrazzo::edit("dem.tif", {.nodata = "-9999", .crs = terrazzo::Crs{.epsg = 32633}, .set = {{"AUTHOR", "me"}}});
//
// Three ways, the first that is possible:
// - in place: all directories are written anew where they are, if they fit the bytes that are theirs: their own, those
//   of their values, and the slack of a COG's ghost area layout. COGs of ours have room for that and stay valid. Other
//   bytes between them stay, since a private tag may refer to them. One write, of the bytes that differ. A kill or a
//   power failure in the middle of it can leave directories that are half old and half new, and so a file that cannot
//   be read; tiles are never touched.
// - appended: new directories go behind the end of the file and behind everything that it refers to (a cut file stays
//   cut, with a hole). They are on the disk before the pointer in the header to them is written, so that a crash leaves
//   the old file. Not for a COG that has a ghost area or overviews, which would be none afterwards.
// - rewritten, when asked for: a fresh file, tiles copied byte for byte, that takes the place of the old one at the
//   end; a crash leaves the old file. A COG gets a COG's layout (and slack) again, also one that lost it by an edit.
//
// What was written is read again before readers can see it, and in place and appended once more afterwards: where it
// differs from what was asked for, the old file is put back and an `io` Error thrown.
//
// What a PAM file beside it (.aux.xml) says wins over the file, as in GDAL; it is not changed. All functions throw
// terrazzo::Error.
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

namespace terrazzo {

struct BandEdit {
  std::uint32_t band = 1;  // from 1
  std::optional<std::string> description{}, unit{};  // empty: removed
  std::optional<double> scale{}, offset{};  // finite
  MetadataItems set{};  // of the default domain; no value: removed
  std::vector<std::string> unset{};
};

// What is not given stays as it is.
struct FileEdit {
  std::optional<std::string> nodata{};  // as make_nodata() takes it; empty: removed. Of overviews too
  std::optional<Crs> crs{};
  bool remove_crs = false;
  std::optional<std::array<double, 6>> transform{};  // as Georeference::transform
  bool remove_transform = false;
  // Of the default domain; no value: removed. AREA_OR_POINT (Area or Point) is the raster type: the key that says so
  // and the tags that place the raster, which stays where it is.
  MetadataItems set{};
  std::vector<std::string> unset{};
  std::vector<BandEdit> bands{};
};

struct EditOptions {
  bool rewrite = false;
  Durability durability = Durability::none;
  Progress progress{};  // of tiles copied; returning false cancels
  std::atomic<bool> const* cancel = nullptr;
};

enum class EditWay : std::uint8_t { nothing, in_place, appended, rewritten };
[[nodiscard]] std::string_view to_string(EditWay way) noexcept;  // "in place"

struct EditReport {
  EditWay way = EditWay::nothing;
  std::uint64_t file_bytes = 0;  // size of the file now
  bool hidden_by_sidecar = false;  // a file beside it still says something else, and wins
  bool no_longer_cog = false;  // it was laid out as a COG, without a ghost area that says so, and is not now
};

// A COG without room for the change is a `usage` error that says so, unless `rewrite` is set. COGs are known by their
// ghost area, or by their layout (validate()) when they have overviews; small rasters without overviews that happen to
// lie like COGs are changed, and reported.
EditReport edit(std::string const& path, FileEdit const& changes, EditOptions const& options = {});

}  // namespace terrazzo
