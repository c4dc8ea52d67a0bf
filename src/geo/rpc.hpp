// SPDX-License-Identifier: Apache-2.0
//
// Rational polynomial coefficients: the camera model of a satellite scene (tag 50844).
#pragma once

#include "terrazzo/info.hpp"
#include "tiff/directory.hpp"

namespace terrazzo::geo {

// In GDAL's names, order and number format; empty when the file has none or their number is not 92.
[[nodiscard]] MetadataItems rpc_from_tags(tiff::Directory const& dir);

}  // namespace terrazzo::geo
