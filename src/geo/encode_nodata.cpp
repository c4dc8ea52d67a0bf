// SPDX-License-Identifier: Apache-2.0
#include "geo/encode.hpp"
#include "geo/nodata.hpp"
#include "tiff/format.hpp"

namespace terrazzo::geo {

void encode_nodata(Nodata const& nodata, tiff::TagSet& tags) {
  tags.set_text(tiff::tag::GDALNodata, nodata_text(nodata));
}

}  // namespace terrazzo::geo
