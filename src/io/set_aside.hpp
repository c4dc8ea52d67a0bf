// SPDX-License-Identifier: Apache-2.0
//
// Files beside a raster (dem.tif.ovr, .msk, .aux.xml) belong to it by name. When another raster takes the name they
// must not be there, and until it does they must not be lost. So a writer sets them aside just before its rename, under
// a name of its own (".dem.tif.ovr.0.terrazzo-old"; 0 is the number of its temporary file), and drops them just after.
//
// A writer that dies in between leaves its temporary file: so long as that exists, the old raster has not been
// replaced, and the next writer puts the old files back (io/temporary_file.hpp). Without it they are garbage.
#pragma once

#include "io/place.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace terrazzo::io {

inline constexpr std::array<std::string_view, 4> kSidecarSuffixes{".ovr", ".msk", ".msk.ovr", ".aux.xml"};

// A hidden name of at most NAME_MAX bytes: "." name rest. A long name is cut, never inside a character of UTF-8.
[[nodiscard]] std::string hidden_name(std::string const& name, std::string_view rest);

// The files beside all of these names; folders stay. Whether there were any. Throws `io` when one of them cannot be
// moved: the others are back then.
bool set_aside(std::span<Place const> places, std::string const& number);
// Gives them their names again; one that has been made anew meanwhile stays, and the old one goes.
void put_back(std::span<Place const> places, std::string const& number) noexcept;
void drop(std::span<Place const> places, std::string const& number) noexcept;

}  // namespace terrazzo::io
