// SPDX-License-Identifier: Apache-2.0
//
// Parses texts of the command line. The parsers throw a `usage` error that names the option and shows the
// expected form.
#pragma once

#include "terrazzo/boundless.hpp"
#include "terrazzo/coordinates.hpp"
#include "terrazzo/read.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace terrazzo::cli {

// A whole number of `least` to `most`.
[[nodiscard]] std::uint64_t parse_whole(std::string_view option, std::string_view text, std::uint64_t least,
                                        std::uint64_t most);

// ASCII only: options and file names are independent of the locale.
[[nodiscard]] std::string lower_case(std::string_view text);

// ".tif" of "a/b.TIF"; empty without one.
[[nodiscard]] std::string extension_of(std::string const& path);

// For messages.
[[nodiscard]] std::string in_quotes(std::string_view text);

// "-9999" or "1e3", or several with commas.
[[nodiscard]] bool are_numbers(std::string_view word);

// The index of one of `names`.
[[nodiscard]] std::size_t parse_choice(std::string_view option, std::string_view text,
                                       std::span<std::string const> names);

// "512M", "4G", "1.5G", "65536": bytes; units are powers of 1024. 0 means the default.
[[nodiscard]] std::uint64_t parse_size(std::string_view option, std::string_view text);

// "COLUMN,ROW,WIDTH,HEIGHT"; the column and row may be negative.
[[nodiscard]] GridWindow parse_window(std::string_view option, std::string_view text);

// "XMIN,YMIN,XMAX,YMAX": finite numbers. Whether the box is empty depends on its CRS (coordinates.hpp).
[[nodiscard]] BoundingBox parse_bbox(std::string_view option, std::string_view text);

// "SRC_MIN,SRC_MAX,DST_MIN,DST_MAX": finite numbers, the first two different.
[[nodiscard]] LinearScale parse_scale(std::string_view option, std::string_view text);

// "X,Y": finite numbers.
[[nodiscard]] Point parse_point(std::string_view option, std::string_view text);

// "EPSG:4326", another authority's code, a bare EPSG code, WKT, PROJJSON, a PROJ string or the name of a CRS: a text
// for functions of coordinates.hpp that take a CRS. Refuses only blanks: the library knows PROJ's names.
[[nodiscard]] std::string parse_crs_text(std::string_view option, std::string_view text);

// "1,3,2" or "1-4,7"
[[nodiscard]] std::vector<std::uint32_t> parse_bands(std::string_view option, std::string_view text);

// "WIDTH,HEIGHT" or "WIDTHxHEIGHT"
[[nodiscard]] TargetSize parse_target_size(std::string_view option, std::string_view text);

// "X,Y"; with `one_is_both`, "X" stands for "X,X".
[[nodiscard]] std::pair<double, double> parse_pair(std::string_view option, std::string_view text, bool one_is_both);

[[nodiscard]] DType parse_dtype(std::string_view option, std::string_view text);

}  // namespace terrazzo::cli
