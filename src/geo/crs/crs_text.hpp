// SPDX-License-Identifier: Apache-2.0
//
// Decides which texts may be passed to PROJ. For PROJ a text is a program: "+init=FILE:x" opens a file, a pipeline
// opens grids, a name is looked up by similarity. A text from a file is data, so only self-contained definitions of a
// CRS pass.
#pragma once

#include <string>
#include <string_view>

namespace terrazzo::geo {

// True for WKT of a CRS (ESRI's too), PROJJSON of a CRS, "EPSG:4326", "EPSG:2393+5717" and "urn:ogc:def:crs:EPSG::4326"
// of bounded length and depth that name no file outside PROJ's own folders and contain only harmless PROJ strings
// (GDAL's EXTENSION["PROJ4","+proj=merc ..."]). `text` comes from a file.
[[nodiscard]] bool is_crs_definition(std::string_view text);

// True for a PROJ string of a CRS, "+proj=utm +zone=32 +datum=WGS84", whose parameters are numbers and words: it names
// no file. `text` comes from a stranger.
[[nodiscard]] bool is_proj_string(std::string_view text);

// True for a text that PROJ would take for a name. PROJ's own search finds similar names too ("here" in "Sphere"), so
// names are looked up exactly (ProjSession::create_typed).
[[nodiscard]] bool is_crs_name(std::string_view text);

// The text that a user typed for a CRS, prepared for PROJ: a PROJ string becomes one of a CRS. Empty if PROJ must not
// get it: "init=", and excessive lengths.
[[nodiscard]] std::string typed_crs(std::string_view text);

// The text in quotes, cut to one line: for messages.
[[nodiscard]] std::string quoted_crs_text(std::string_view text);

}  // namespace terrazzo::geo
