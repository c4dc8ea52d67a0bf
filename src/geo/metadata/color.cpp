// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/color.hpp"

#include "base/letter_case.hpp"
#include "geo/metadata/metadata.hpp"
#include "tiff/format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

namespace terrazzo::geo {
namespace {

using Color = ColorInterpretation;
using tiff::Photometric;

constexpr std::uint32_t kMaxPaletteBits = 16;
constexpr std::uint64_t kAssociatedAlpha = 1, kUnassociatedAlpha = 2;

constexpr std::array<std::string_view, 17> kOtherNames = {"pan",   "coastal", "rededge", "nir",    "swir",  "mwir",
                                                          "lwir",  "tir",     "otherir", "sar_ka", "sar_k", "sar_ku",
                                                          "sar_x", "sar_c",   "sar_s",   "sar_l",  "sar_p"};
constexpr std::array kNamed = {Color::gray,      Color::palette, Color::red,     Color::green,
                               Color::blue,      Color::alpha,   Color::hue,     Color::saturation,
                               Color::lightness, Color::cyan,    Color::magenta, Color::yellow,
                               Color::black,     Color::y,       Color::cb,      Color::cr};

// The number of colour samples of a pixel; 0 if the photometric interpretation does not define it.
std::uint64_t color_samples(Photometric photometric) {
  switch (photometric) {
    case Photometric::min_is_white:
    case Photometric::min_is_black:
    case Photometric::palette:
    case Photometric::mask:
    case Photometric::logl: return 1;
    case Photometric::rgb:
    case Photometric::ycbcr:
    case Photometric::cielab:
    case Photometric::icclab:
    case Photometric::itulab:
    case Photometric::logluv: return 3;
    case Photometric::separated: return 4;
  }
  return 0;
}

struct Samples {
  Photometric photometric = Photometric::min_is_black;
  std::uint64_t per_pixel = 1;
  std::vector<std::uint64_t> extra{};  // ExtraSamples, completed
  bool has_extra = false;
};

Samples read_samples(ColorTags const& tags, std::uint32_t bits, bool has_map) {
  Samples samples;
  samples.per_pixel = tags.samples_per_pixel;
  samples.photometric = static_cast<Photometric>(tags.photometric);
  // A palette image without its palette: as in libtiff, treat it as RGB (three samples) or gray.
  if (samples.photometric == Photometric::palette && !has_map && bits >= 8) {
    samples.photometric = samples.per_pixel == 3 ? Photometric::rgb : Photometric::min_is_black;
  }
  samples.extra = tags.extra_samples;
  samples.has_extra = !samples.extra.empty();
  // Samples that are neither colour nor listed as extra count as extra samples of unknown meaning.
  auto const colors = color_samples(samples.photometric);
  if (colors != 0 && samples.per_pixel > colors + samples.extra.size() &&
      samples.per_pixel <= std::numeric_limits<std::uint16_t>::max()) {
    samples.extra.resize(samples.per_pixel - colors);
    samples.has_extra = true;
  }
  return samples;
}

// The ExtraSamples value of the band; 0, "unspecified", for others.
std::uint64_t extra_sample(Samples const& samples, std::size_t band) {
  auto const base = samples.per_pixel - std::min<std::uint64_t>(samples.extra.size(), samples.per_pixel);
  return band < base || band - base >= samples.extra.size() ? 0 : samples.extra[band - base];
}

Color extra_sample_color(Samples const& samples, std::size_t band) {
  auto const kind = extra_sample(samples, band);
  return kind == kAssociatedAlpha || kind == kUnassociatedAlpha ? Color::alpha : Color::undefined;
}

template <std::size_t N>
Color pick(std::array<Color, N> const& colors, Samples const& samples, std::size_t band) {
  return band < N ? colors[band] : extra_sample_color(samples, band);
}

Color band_color(Samples const& samples, bool converted, std::size_t band) {
  constexpr std::array kRgb = {Color::red, Color::green, Color::blue};
  constexpr std::array kYcc = {Color::y, Color::cb, Color::cr};
  constexpr std::array kCmyk = {Color::cyan, Color::magenta, Color::yellow, Color::black};
  constexpr std::array kGray = {Color::gray};
  switch (samples.photometric) {
    case Photometric::rgb: return pick(kRgb, samples, band);
    case Photometric::ycbcr: return pick(converted ? kRgb : kYcc, samples, band);
    case Photometric::separated: return pick(kCmyk, samples, band);
    case Photometric::min_is_black: return pick(kGray, samples, band);
    default: return extra_sample_color(samples, band);
  }
}

std::vector<ColorEntry> inverted_gray(std::uint32_t bits) {
  std::uint32_t const count = std::uint32_t{1} << bits;
  std::vector<ColorEntry> table(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto const level = static_cast<std::uint8_t>(255 * (count - 1 - i) / (count - 1));
    table[i] = {level, level, level, 255};
  }
  return table;
}

// GDAL compares the integer part of the nodata value with the index.
int transparent_index(Info const& info) {
  auto const& nodata = info.bands.front().nodata;
  if (!nodata || nodata->exact_i64 || nodata->exact_u64) { return -1; }
  if (!(nodata->value > -1.0 && nodata->value < 65536.0)) { return -1; }
  return static_cast<int>(nodata->value);
}

ColorTags read_color_tags(tiff::Directory const& dir, std::uint32_t bits) {
  ColorTags tags;
  tags.samples_per_pixel = dir.unsigned_value(tiff::tag::SamplesPerPixel).value_or(1);
  tags.photometric = dir.unsigned_value(tiff::tag::PhotometricInterpretation).value_or(1);
  tags.extra_samples = dir.unsigned_values(tiff::tag::ExtraSamples, std::numeric_limits<std::uint16_t>::max());
  if (bits >= 1 && bits <= kMaxPaletteBits) {
    tags.color_map = dir.unsigned_values(tiff::tag::ColorMap, (std::size_t{3} << bits) + 1);
  }
  return tags;
}

}  // namespace

ColorInterpretation color_from_name(std::string_view name) noexcept {
  for (Color color : kNamed) {
    if (equals_ignoring_case(name, to_string(color))) { return color; }
  }
  for (auto other : kOtherNames) {
    if (equals_ignoring_case(name, other)) { return Color::other; }
  }
  return Color::undefined;
}

void set_color(BandInfo& band, ColorInterpretation color) {
  band.color = color;
  band.color_name = to_string(color);
}

void set_color(BandInfo& band, std::string_view name) {
  set_color(band, color_from_name(name));
  if (band.color == Color::other) { band.color_name = lower_case(name); }
}

std::vector<ColorEntry> color_table_from_map(std::vector<std::uint64_t> const& map, int transparent) {
  std::size_t const count = map.size() / 3;
  bool all_of_256 = true;
  std::uint64_t largest = 0;
  for (auto v : map) {
    all_of_256 = all_of_256 && v % 256 == 0;
    largest = std::max(largest, v);
  }
  std::uint64_t divisor = 257;
  if (largest > 0 && largest < 256) {
    divisor = 1;
  } else if (largest > 0 && all_of_256) {
    divisor = 256;
  }
  auto const level = [&](std::size_t i) {
    return static_cast<std::uint8_t>(std::min<std::uint64_t>(map[i] / divisor, 255));
  };
  std::vector<ColorEntry> table(count);
  for (std::size_t i = 0; i < count; ++i) {
    bool const hidden = transparent >= 0 && static_cast<std::size_t>(transparent) == i;
    table[i] = {level(i), level(count + i), level(2 * count + i), static_cast<std::uint8_t>(hidden ? 0 : 255)};
  }
  return table;
}

bool is_shown_as_rgba(Layout const& layout) noexcept {
  bool const by_its_codec =
      tiff::decodes_ycbcr(static_cast<tiff::Compression>(layout.compression)) && layout.source_color_space == "YCbCr";
  return !layout.source_color_space.empty() && !by_its_codec;
}

bool last_alpha_masks_others(std::size_t bands, DType dtype) noexcept {
  return (bands == 2 || bands == 4) && (dtype == DType::u8 || dtype == DType::u16);
}

void describe_color(tiff::Directory const& dir, Info& info) {
  describe_color(read_color_tags(dir, info.layout.bits_per_sample), info);
}

void describe_color(ColorTags const& tags, Info& info) {
  if (info.bands.empty()) { return; }
  std::uint32_t const bits = info.layout.bits_per_sample;
  bool const has_map = bits >= 1 && bits <= kMaxPaletteBits && tags.color_map.size() == std::size_t{3} << bits;
  auto const map = has_map ? tags.color_map : std::vector<std::uint64_t>{};
  auto const samples = read_samples(tags, bits, has_map);
  bool const converted = !info.layout.source_color_space.empty();
  if (is_shown_as_rgba(info.layout)) {
    constexpr std::array kRgba = {Color::red, Color::green, Color::blue, Color::alpha};
    for (std::size_t i = 0; i < info.bands.size(); ++i) {
      set_color(info.bands[i], i < kRgba.size() ? kRgba[i] : Color::undefined);
    }
    return;
  }

  BandInfo& first = info.bands.front();
  if (!map.empty()) {
    first.color_table = color_table_from_map(map, transparent_index(info));
  } else if (bits >= 1 && bits <= kMaxPaletteBits && samples.photometric == Photometric::min_is_white) {
    first.color_table = inverted_gray(bits);
  }
  for (std::size_t i = 0; i < info.bands.size(); ++i) {
    bool const palette = i == 0 && !first.color_table.empty();
    set_color(info.bands[i], palette ? Color::palette : band_color(samples, converted, i));
    if (info.bands[i].color == Color::alpha && extra_sample(samples, i) == kAssociatedAlpha) {
      info.bands[i].metadata.domains[kImageStructure] = {{kAlphaItem, kPremultiplied}};
    }
  }
  if (bits == 1 && info.bands.size() == 1) {
    set_color(first, Color::palette);
    if (first.color_table.empty()) { first.color_table = {{0, 0, 0, 255}, {255, 255, 255, 255}}; }
  }
}

}  // namespace terrazzo::geo
