// SPDX-License-Identifier: Apache-2.0
//
// The value that marks missing pixels, parsed from its stored text.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/info.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace terrazzo::geo {

// Parses the text of tag 42113 (GDAL_NODATA), for a band of `dtype`. nullopt for empty text.
// As in GDAL: text that is not a number is 0; int64 and uint64 are parsed as integers; float32 is rounded to the
// nearest float, and a value close to the largest float becomes that one.
[[nodiscard]] std::optional<Nodata> parse_nodata(std::string_view text, DType dtype);

// For a value that is already a number.
[[nodiscard]] Nodata nodata_of(double value, std::string_view text, DType dtype);

// Parses <NoDataValue> of a PAM file, which may have the bits of a double beside its text. As in GDAL, it is not
// rounded: a value beyond float32 is not a value of such a band, and bits are not a value of int64 and uint64.
[[nodiscard]] std::optional<Nodata> parse_pam_nodata(std::string_view text, std::optional<double> bits, DType dtype);

// The value in GDAL's spelling for the tag: integers unchanged, others with 17 digits, "nan".
[[nodiscard]] std::string nodata_text(Nodata const& nodata);

}  // namespace terrazzo::geo
