// SPDX-License-Identifier: Apache-2.0
#include "write/plan/lossy_notes.hpp"

#include "base/settings.hpp"
#include "base/text.hpp"
#include "codec/registry/codec.hpp"
#include "geo/metadata/color.hpp"
#include "terrazzo/codecs.hpp"

#include <algorithm>
#include <string>

namespace terrazzo::writing {

void note_blurred_validity(FilePlan const& plan) {
  WriteOptions const& options = plan.options;
  CompressionSettings const settings = settings_of(options.compression);
  bool const lossy = settings.always_lossy || (settings.lossless && !options.lossless);
  if (!lossy || options.mask) { return; }
  bool const may_have_mask = plan.first_level == 0;  // overviews get a mask only if their raster has one
  if (options.nodata) {
    log_once(text(to_string(options.compression), " is lossy: around nodata (", options.nodata->text,
                  ") pixels get values near it, and some missing pixels become data",
                  may_have_mask ? "; a mask (WriteOptions::mask) instead of nodata avoids this" : ""));
  }
  bool const has_alpha = std::ranges::any_of(plan.extra_samples, [](std::uint16_t kind) { return kind != 0; });
  if (!has_alpha || codec::find_choice(options.compression).codec->alpha == codec::Alpha::exact) { return; }
  bool const alpha_may_be_mask = may_have_mask && plan.extra_samples.back() != 0 && !options.nodata &&
                                 geo::last_alpha_masks_others(options.bands, options.dtype);
  log_once(text(to_string(options.compression), " is lossy, in alpha too: some transparent pixels (0) become visible",
                alpha_may_be_mask ? text("; a mask instead of alpha (ReadRequest::bands ",
                                         options.bands == 2 ? "1" : "1-3", " and WriteOptions::mask) avoids this")
                                  : ""));
}

}  // namespace terrazzo::writing
