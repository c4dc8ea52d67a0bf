// SPDX-License-Identifier: Apache-2.0
#include "write/lossy_notes.hpp"

#include "base/settings.hpp"
#include "base/text.hpp"
#include "geo/color.hpp"

#include <algorithm>
#include <string>

namespace terrazzo::writing {

void note_blurred_validity(FilePlan const& plan) {
  WriteOptions const& options = plan.options;
  bool const picture = options.compression == Compression::webp || options.compression == Compression::jpeg2000;
  bool const lossy = options.compression == Compression::jpeg || (picture && !options.lossless);
  if (!lossy || options.mask) { return; }
  bool const may_have_mask = plan.first_level == 0;  // overviews have one when their raster has
  if (options.nodata) {
    log_once(text(to_string(options.compression), " is lossy: around nodata (", options.nodata->text,
                  ") pixels take values near it, and some missing ones become data",
                  may_have_mask ? "; a mask instead of nodata (--mask) keeps them apart" : ""));
  }
  bool const has_alpha = std::ranges::any_of(plan.extra_samples, [](std::uint16_t kind) { return kind != 0; });
  if (!has_alpha || options.compression == Compression::webp) { return; }  // WebP keeps alpha exact
  bool const alpha_may_be_mask = may_have_mask && plan.extra_samples.back() != 0 && !options.nodata &&
                                 geo::last_alpha_masks_others(options.bands, options.dtype);
  log_once(text(
      to_string(options.compression), " is lossy, in alpha too: some pixels that are transparent (0) become visible",
      alpha_may_be_mask
          ? text("; a mask instead of alpha (--bands ", options.bands == 2 ? "1" : "1-3", " --mask) keeps them apart")
          : ""));
}

}  // namespace terrazzo::writing
