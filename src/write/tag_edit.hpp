// SPDX-License-Identifier: Apache-2.0
//
// The tags of a directory that exists, and changes to them. Only tags that a change is about are touched; what nobody
// here understands stays as it is.
#pragma once

#include "terrazzo/info.hpp"
#include "tiff/directory.hpp"
#include "tiff/directory_writer.hpp"

#include <optional>
#include <vector>

namespace terrazzo::writing {

// All tags with their values. Throws `unsupported` for a tag whose type is unknown, `malformed` for one that lies
// outside the file. Empty tags are left out; of a repeated one the first counts.
[[nodiscard]] tiff::TagSet tags_of(tiff::Directory const& directory);

// True when a value is the offset of something else in the file, which would have to move along.
[[nodiscard]] bool has_pointers(tiff::Directory const& directory);

// True when a value may be the offset of something else, or hold such offsets, and nobody here knows: tags that no
// specification we follow describes, unless they are text or fractions.
[[nodiscard]] bool may_hold_offsets(tiff::Entry const& entry) noexcept;

void replace_nodata(std::optional<Nodata> const& nodata, tiff::TagSet& tags);
// The CRS of `georeference`; its raster type (area or point) stays.
void replace_crs(Georeference const& georeference, tiff::TagSet& tags);
// Its transform; ground control points go.
void replace_transform(Georeference const& georeference, tiff::TagSet& tags);
// Whether its pixels are areas or points: the key that says so, and the place tags, which are of corners or of centres.
// What they mean, its transform or its ground control points, stays.
void replace_raster_type(Georeference const& georeference, tiff::TagSet& tags);
// What is said of the file and its bands: `before` is what the tags say now.
void replace_metadata(Info const& before, Info const& after, tiff::TagSet& tags);

}  // namespace terrazzo::writing
