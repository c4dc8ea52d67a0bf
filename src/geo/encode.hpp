// SPDX-License-Identifier: Apache-2.0
//
// The one door to this folder for writers: a georeference, metadata and what is said of bands, as tags. The inverse of
// describe.hpp; what describe() reads back from the tags is what was given.
#pragma once

#include "terrazzo/info.hpp"
#include "tiff/directory_writer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace terrazzo::geo {

// Transform, raster type, CRS, ground control points (where there is no transform), RPCs. Throws `usage` for what no
// tag can say (a CRS that PROJ does not know) and `unsupported` when PROJ is needed and not found; EPSG codes of
// projected and geographic CRSs need no PROJ. Returns the WKT of a CRS that is too long for the keys, for encode_pam();
// empty, as nearly always, when the tags say all.
std::string encode_georeference(Georeference const& georeference, tiff::TagSet& tags);

// GDAL_METADATA (42112) of the file and its bands: items of every domain, and scale, offset, unit, description, colour
// where the tags of TIFF do not say it. Baseline items (TIFFTAG_SOFTWARE, ...) become their own tags. XMP and ICC
// domains likewise. Nothing is written when there is nothing to say. REQUIRES: the other tags of the image
// (Compression, PhotometricInterpretation, SamplesPerPixel, ExtraSamples, ColorMap) and the georeference are in `tags`:
// what they say is not said again.
void encode_metadata(Metadata const& metadata, std::vector<BandInfo> const& bands, tiff::TagSet& tags);

// GDAL_NODATA (42113), as GDAL spells numbers.
void encode_nodata(Nodata const& nodata, tiff::TagSet& tags);

// ColorMap (320) from 8-bit entries; `bits` is 8 or 16.
void encode_color_table(std::vector<ColorEntry> const& entries, std::uint32_t bits, tiff::TagSet& tags);

// What only a PAM file (.aux.xml) can hold of these: category names, colour tables with alpha or of other bands than
// the first, and the CRS that encode_georeference() returned. Empty when nothing.
[[nodiscard]] std::string encode_pam(std::vector<BandInfo> const& bands, std::string const& crs_wkt = {});

}  // namespace terrazzo::geo
