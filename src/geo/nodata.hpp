// SPDX-License-Identifier: Apache-2.0
//
// The value that marks missing pixels, from the text in which it is stored.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/info.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace terrazzo::geo {

// The text of tag 42113 (GDAL_NODATA), for a band of `dtype`. nullopt for empty text.
// As GDAL: text that is no number is 0; int64 and uint64 are read as integers; float32 is rounded to the nearest float,
// and what is close to the largest float is that one.
[[nodiscard]] std::optional<Nodata> parse_nodata(std::string_view text, DType dtype);

// The same for a value that is already a number.
[[nodiscard]] Nodata nodata_of(double value, std::string_view text, DType dtype);

// <NoDataValue> of a PAM file, which may have the bits of a double beside its text. As GDAL, which does not round this
// one: what is beyond float32 is no value of such a band, and bits are no value of int64 and uint64.
[[nodiscard]] std::optional<Nodata> parse_pam_nodata(std::string_view text, std::optional<double> bits, DType dtype);

// The value as GDAL spells it in the tag: integers as they are, others with 17 digits, "nan".
[[nodiscard]] std::string nodata_text(Nodata const& nodata);

}  // namespace terrazzo::geo
