// SPDX-License-Identifier: Apache-2.0
//
// Sidecars of a raster (dem.tif.ovr, .msk, .aux.xml) belong to it by name. They must be gone when another raster gets
// the name, and must not be lost before. So a writer renames them just before its own rename, to
// its own names (".dem.tif.ovr.0.terrazzo-old"; 0 is the number of its temporary file), and removes them just after.
//
// A writer that dies in between leaves its temporary file. While that exists, the old raster has not been
// replaced, and the next writer restores the sidecars (io/temporary_file.hpp). Without it they are garbage.
#pragma once

#include "io/path_target.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace terrazzo::io {

inline constexpr std::array<std::string_view, 4> kSidecarSuffixes{".ovr", ".msk", ".msk.ovr", ".aux.xml"};

// A hidden name of at most NAME_MAX bytes: "." name rest. A long name is cut, never inside a character of UTF-8.
[[nodiscard]] std::string hidden_name(std::string const& name, std::string_view rest);

// Renames the sidecars of all these names, except folders; returns true if there were any. Throws `io` if one of them
// cannot be renamed, after restoring the others.
bool set_aside(std::span<Place const> places, std::string const& number);
// Restores their names. If a new sidecar exists by now, it stays and the old one is removed.
void put_back(std::span<Place const> places, std::string const& number) noexcept;
void drop(std::span<Place const> places, std::string const& number) noexcept;

}  // namespace terrazzo::io
