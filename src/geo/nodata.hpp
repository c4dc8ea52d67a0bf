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

// The text of tag 42113 (GDAL_NODATA) or of <NoDataValue> in a PAM file, for a band of `dtype`. nullopt for empty text.
// As GDAL: text that is no number is 0; int64 and uint64 are read as integers; float32 is rounded to the nearest float,
// and what is close to the largest float is that one.
[[nodiscard]] std::optional<Nodata> parse_nodata(std::string_view text, DType dtype);

// The same for a value that is already a number (PAM stores the bits of a double beside the text).
[[nodiscard]] Nodata nodata_of(double value, std::string_view text, DType dtype);

// The value as GDAL spells it in the tag: integers as they are, others with 17 digits, "nan".
[[nodiscard]] std::string nodata_text(Nodata const& nodata);

}  // namespace terrazzo::geo
