// SPDX-License-Identifier: Apache-2.0
//
// Which texts PROJ may see. To PROJ a text is a program: "+init=FILE:x" opens a file, a pipeline opens grids, a name is
// looked up by resemblance. A text that a file carries is data, so only forms that define a CRS by themselves pass.
#pragma once

#include <string>
#include <string_view>

namespace terrazzo::geo {

// True for WKT of a CRS (ESRI's too), PROJJSON of a CRS, "EPSG:4326", "EPSG:2393+5717" and "urn:ogc:def:crs:EPSG::4326"
// of bounded length and depth that name no file outside PROJ's own folders and hold no PROJ string but a harmless one
// (GDAL's EXTENSION["PROJ4","+proj=merc ..."]). `text` comes from a file.
[[nodiscard]] bool is_crs_definition(std::string_view text);

// The text that a user typed for a CRS, ready for PROJ: a PROJ string becomes one of a CRS. Empty when PROJ must not
// see it: "init=", and lengths that nobody types.
[[nodiscard]] std::string typed_crs(std::string_view text);

// The text in quotes, cut to a line: for messages.
[[nodiscard]] std::string quoted_crs_text(std::string_view text);

}  // namespace terrazzo::geo
