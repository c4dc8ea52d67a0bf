// SPDX-License-Identifier: Apache-2.0
//
// The entry point of this folder for writers: encodes georeference, metadata and descriptions of bands as tags. The
// inverse of describe.hpp: describe() reads the given values back from the tags.
#pragma once

#include "terrazzo/info.hpp"
#include "tiff/directory_writer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace terrazzo::geo {

// Encodes transform, raster type, CRS, ground control points (if there is no transform), RPCs. Throws `usage` for
// values that tags cannot express (a CRS that PROJ does not have) and `unsupported` if PROJ is needed and not found;
// EPSG codes of projected and geographic CRSs need no PROJ. Returns the WKT of a CRS that is too long for the keys, for
// encode_pam(); normally empty.
std::string encode_georeference(Georeference const& georeference, tiff::TagSet& tags);

// Encodes GDAL_METADATA (42112) of the file and its bands: items of every domain, and scale, offset, unit, description,
// and colour if the tags of TIFF do not express it. Baseline items (TIFFTAG_SOFTWARE, ...) and the XMP and ICC domains
// become their own tags. Writes no tag if there is nothing to store. REQUIRES: the other tags of the image
// (Compression, PhotometricInterpretation, SamplesPerPixel, ExtraSamples, ColorMap) and the georeference are in `tags`:
// their information is not repeated.
void encode_metadata(Metadata const& metadata, std::vector<BandInfo> const& bands, tiff::TagSet& tags);

// GDAL_NODATA (42113), in GDAL's spelling of numbers.
void encode_nodata(Nodata const& nodata, tiff::TagSet& tags);

// ColorMap (320) from 8-bit entries; `bits` is 8 or 16.
void encode_color_table(std::vector<ColorEntry> const& entries, std::uint32_t bits, tiff::TagSet& tags);

// The parts that only a PAM file (.aux.xml) can hold: category names, colour tables with alpha or of other bands than
// the first, and the CRS that encode_georeference() returned. Empty if there are none.
[[nodiscard]] std::string encode_pam(std::vector<BandInfo> const& bands, std::string const& crs_wkt = {});

}  // namespace terrazzo::geo
