// SPDX-License-Identifier: Apache-2.0
//
// Rational polynomial coefficients: the camera model of a satellite scene (tag 50844).
#pragma once

#include "terrazzo/info.hpp"
#include "tiff/directory.hpp"
#include "tiff/directory_writer.hpp"

namespace terrazzo::geo {

// With GDAL's names, order and number format; empty if the file has none or their number is not 92.
[[nodiscard]] MetadataItems rpc_from_tags(tiff::Directory const& dir);

// The inverse. Returns false, and sets no tag, if a coefficient is missing or not a number; the two error terms may be
// missing.
bool rpc_to_tags(MetadataItems const& rpc, tiff::TagSet& tags);

}  // namespace terrazzo::geo
