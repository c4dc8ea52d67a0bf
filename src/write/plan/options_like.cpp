// SPDX-License-Identifier: Apache-2.0
//
// Options of a new file, taken from an existing raster.
#include "terrazzo/info.hpp"
#include "terrazzo/write.hpp"

namespace terrazzo {

WriteOptions options_like(Info const& info) {
  WriteOptions options;
  options.dtype = info.dtype();
  options.bands = static_cast<std::uint32_t>(info.bands.size());
  options.band_info = info.bands;
  options.georeference = info.georeference;
  options.metadata = info.metadata;
  if (!info.bands.empty()) {
    // A marker that no pixel can have is useless.
    if (auto const& nodata = info.bands.front().nodata; nodata && nodata->representable) { options.nodata = nodata; }
    MaskKind const mask = info.bands.front().mask;
    options.mask = mask == MaskKind::internal || mask == MaskKind::external;
  }
  return options;
}

}  // namespace terrazzo
