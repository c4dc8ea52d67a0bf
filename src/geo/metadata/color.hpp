// SPDX-License-Identifier: Apache-2.0
//
// Colour meaning of an image's bands, and its palette, by GDAL's rules.
#pragma once

#include "terrazzo/info.hpp"
#include "tiff/directory.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace terrazzo::geo {

// Fills `color`, `color_name` and, of the first band, `color_table` from the tags. If the colours are premultiplied by
// alpha, the alpha band gets ALPHA=PREMULTIPLIED in the domain IMAGE_STRUCTURE of its metadata, as in GDAL.
// REQUIRES: info.bands sized; layout.compression, layout.bits_per_sample and, if pixels are converted to RGB,
// layout.source_color_space set.
//
// A palette belongs to band 1 only. MINISWHITE of up to 16 bits keeps its pixel values and gets an inverted palette; an
// image of 1 bit always has a palette.
void describe_color(tiff::Directory const& dir, Info& info);

// The input of describe_color() for tags that are not in a file yet.
struct ColorTags {
  std::uint64_t photometric = 1, samples_per_pixel = 1;
  std::vector<std::uint64_t> extra_samples{}, color_map{};
};
void describe_color(ColorTags const& tags, Info& info);

// True if pixels are converted to RGB by the reader and not by their codec: GDAL then reports red, green, blue and
// alpha, regardless of other colours that the file names.
[[nodiscard]] bool is_shown_as_rgba(Layout const& layout) noexcept;

// True if an alpha band that is the last of so many masks the others when there is neither a mask nor nodata: beside
// gray or three colours, of 8 or 16 bits, as in GDAL.
[[nodiscard]] bool last_alpha_masks_others(std::size_t bands, DType dtype) noexcept;

// By GDAL's name, ignoring case. Names of the newer kinds (nir, sar_x, ...) are `other`; unknown ones are `undefined`.
[[nodiscard]] ColorInterpretation color_from_name(std::string_view name) noexcept;

// Sets the kind and the name.
void set_color(BandInfo& band, ColorInterpretation color);
void set_color(BandInfo& band, std::string_view name);

// Red, green and blue in 16 bits, all reds first. Most writers multiply 8-bit values by 257, some by 256, and a few not
// at all; the values show which. `transparent` is the index that the nodata value makes transparent, or -1.
[[nodiscard]] std::vector<ColorEntry> color_table_from_map(std::vector<std::uint64_t> const& map, int transparent);

}  // namespace terrazzo::geo
