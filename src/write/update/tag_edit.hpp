// SPDX-License-Identifier: Apache-2.0
//
// The tags of an existing directory, and changes to them. An edit touches only its own tags; unknown tags stay
// unchanged.
#pragma once

#include "terrazzo/info.hpp"
#include "tiff/directory.hpp"
#include "tiff/directory_writer.hpp"

#include <optional>
#include <vector>

namespace terrazzo::writing {

// All tags with their values. Throws `unsupported` for a tag of unknown type, `malformed` for one that lies outside the
// file. Skips empty tags; of a repeated tag, the first counts.
[[nodiscard]] tiff::TagSet tags_of(tiff::Directory const& directory);

// True if a value is an offset of other data in the file, which would have to move with the directory.
[[nodiscard]] bool has_pointers(tiff::Directory const& directory);

// True if a value may be an offset of other data or contain one, and its meaning is unknown: tags that no specification
// we follow describes, unless they are text or fractions.
[[nodiscard]] bool may_hold_offsets(tiff::Entry const& entry) noexcept;

void replace_nodata(std::optional<Nodata> const& nodata, tiff::TagSet& tags);
// Replaces the CRS by that of `georeference`; keeps the raster type (area or point).
void replace_crs(Georeference const& georeference, tiff::TagSet& tags);
// Replaces the transform; removes ground control points.
void replace_transform(Georeference const& georeference, tiff::TagSet& tags);
// Replaces the raster type (area or point): its key, and the tags for tie points and scale, which refer to corners or
// to centres. The transform or the ground control points keep their meaning.
void replace_raster_type(Georeference const& georeference, tiff::TagSet& tags);
// Replaces the metadata of the file and its bands; `before` is the current metadata of the tags.
void replace_metadata(Info const& before, Info const& after, tiff::TagSet& tags);

}  // namespace terrazzo::writing
