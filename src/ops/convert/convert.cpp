// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/convert.hpp"

#include "base/affine.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "ops/convert/band_statistics.hpp"
#include "ops/convert/color_tags.hpp"
#include "ops/convert/framed_rows.hpp"
#include "ops/convert/grey_mask.hpp"
#include "ops/convert/stream_device_rows.hpp"
#include "ops/convert/stream_rows.hpp"
#include "ops/same_nodata.hpp"
#include "read/plan/plan.hpp"
#include "read/plan/value_transforms.hpp"
#include "terrazzo/error.hpp"
#include "write/plan/compression.hpp"
#include "write/update/tag_edit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace terrazzo {
namespace {

// The requested sides exactly: 30 * (51 / 30) is 51.00000000000001. A rotated transform does not hold the sides.
void set_pixel_sides(std::array<double, 6>& transform, TargetResolution const& sides) {
  if (transform[2] != 0 || transform[4] != 0) { return; }
  transform[1] = std::copysign(sides.x, transform[1]);
  transform[5] = std::copysign(sides.y, transform[5]);
}

void place_georeference(Info const& info, ReadRequest const& read, ReadPlan const& plan, Georeference& georeference) {
  // With a target, the plan's window holds only the pixels in use, of any level; the request's window is of full
  // resolution.
  std::uint32_t const level = read.has_target() ? 0 : plan.level();
  double const level_x = level == 0 ? 1 : static_cast<double>(info.width) / info.overviews[level - 1].width;
  double const level_y = level == 0 ? 1 : static_cast<double>(info.height) / info.overviews[level - 1].height;
  Window const whole{0, 0, info.width, info.height};
  Window const window = read.has_target() ? read.window.value_or(whole) : plan.window();
  ReadPlan::Impl const& impl = plan.impl();
  auto const& placed = impl.placed;
  double const column = placed ? placed->column + placed->first_column * placed->column_step : window.column * level_x;
  double const row = placed ? placed->row + placed->first_row * placed->row_step : window.row * level_y;
  double const x_scale = level_x * impl.grid_width / plan.width(), y_scale = level_y * impl.grid_height / plan.height();
  if (georeference.transform && !is_invertible(*georeference.transform)) {
    log_once(text(info.source, ": the transform puts all pixels on one line: it is left out"));
    georeference.transform.reset();
  }
  if (georeference.transform) {
    georeference.transform = moved(*georeference.transform, column, row, x_scale, y_scale);
    if (read.target_resolution && !read.keep_extent) {
      set_pixel_sides(*georeference.transform, *read.target_resolution);
    }
  }
  for (GroundControlPoint& point : georeference.gcps) {
    point.column = (point.column - column) / x_scale;
    point.row = (point.row - row) / y_scale;
  }
  bool const same = column == 0 && row == 0 && x_scale == 1 && y_scale == 1 && plan.width() == info.width &&
                    plan.height() == info.height;
  if (!same) { georeference.rpc.clear(); }  // valid for the whole raster only
}

// A sidecar may hold any text as a CRS; an unknown CRS does not prevent the conversion of the pixels.
void leave_out_unknown_crs(std::string const& source, Georeference& georeference) {
  if (!georeference.crs) { return; }
  try {
    tiff::TagSet tried;
    writing::replace_crs(georeference, tried);
  } catch (Error const& error) {
    if (error.kind() != ErrorKind::usage) { throw; }  // other errors can be fixed: PROJ can be installed
    log_once(text(source, ": the CRS cannot be written and is left out: ", error.message()));
    georeference.crs.reset();
  }
}

// A file has one nodata value; a marker that no pixel can have is ignored.
std::optional<Nodata> common_nodata(std::vector<BandInfo> const& bands, std::string const& source) {
  auto const of = [](BandInfo const& band) {
    return band.nodata && band.nodata->representable ? band.nodata : std::nullopt;
  };
  for (BandInfo const& band : bands) {
    if (!band.nodata || band.nodata->representable) { continue; }
    log_once(text(source, ": nodata ", band.nodata->text, " is no value of ", to_string(band.dtype),
                  ", so that no pixel has it; it is left out"));
  }
  std::optional<Nodata> const first = of(bands.front());
  auto const name = [](std::optional<Nodata> const& nodata) { return nodata ? nodata->text : std::string("none"); };
  for (BandInfo const& band : bands) {
    auto const other = of(band);
    bool const same = first.has_value() == other.has_value() && (!first || ops::same_nodata(*first, *other));
    if (!same) {
      log_once(text(source, ": bands have different nodata values (", name(first), ", ", name(other),
                    ") and a GeoTIFF has one: it gets ", name(first), ", that of the first band"));
      break;
    }
  }
  return first;
}

bool has_nan(DType dtype) { return is_floating(dtype) || (is_complex(dtype) && dtype >= DType::cf16); }

// The replacement of missing pixels: NaN in floats, otherwise a value that no valid pixel can have. nullopt if there is
// no such value, although convert() needs one.
std::optional<Nodata> nodata_of_missing(ReadPlan const& planned, ReadRequest const& read) {
  ReadPlan::Impl const& plan = planned.impl();
  if (plan.missing) { return plan.missing; }
  if (has_nan(plan.dtype)) { return make_nodata("nan", plan.dtype); }
  return reading::unambiguous_nodata(plan, read);
}

// The value of missing pixels in the file. nullopt if pixels are scaled without regard to nodata because a mask image
// defines the missing pixels.
std::optional<Nodata> converted_nodata(Info const& info, ReadPlan const& planned, ReadRequest const& read,
                                       std::vector<BandInfo> const& bands) {
  if (read.masked) { return nodata_of_missing(planned, read); }
  if (read.unpack && reading::unpacking_changes_values(planned.impl())) {
    return reading::has_missing_values(planned.impl()) ? nodata_of_missing(planned, read) : std::nullopt;
  }
  if (read.scale && !reading::has_missing_values(planned.impl())) { return std::nullopt; }
  std::optional<Nodata> const nodata = common_nodata(bands, info.source);
  return nodata ? std::optional(reading::nearest_nodata(*nodata, info.dtype(), planned.dtype())) : std::nullopt;
}

// Valid pixels that are clamped to the marker are no error: the caller chose it, or GDAL's rule did.
void note_lost_pixels(ReadPlan const& planned, ReadRequest const& read, std::string const& source) {
  ReadPlan::Impl const& plan = planned.impl();
  Nodata const& marker = *read.missing;
  bool const clamps = reading::clamps_to(plan, marker, read);
  Nodata const* const before = reading::first_nodata(plan);
  bool const is_new = before != nullptr && !ops::same_nodata(*before, marker) &&
                      ops::same_nodata(reading::nearest_nodata(*before, plan.level->dtype, plan.dtype), marker);
  if (is_new) {
    bool const is_shared = !clamps && reading::a_valid_pixel_may_become(plan, marker, read);
    log_once(text(source, ": nodata ", before->text, " becomes ", marker.text, ", the nearest value of ",
                  to_string(plan.dtype), is_shared ? "; valid pixels with that value become missing" : ""));
  }
  if (clamps) {
    log_once(text(source, ": values that ", read.scale ? "the scale or " : "", to_string(plan.dtype),
                  " cannot hold are clamped; those clamped to ", marker.text, ", the nodata value, become missing"));
  }
}

// Makes the read replace missing pixels by the file's nodata value. Throws `usage` if they would become valid data.
void settle_missing(Dataset const& source, WriteOptions const& options, ReadRequest& read) {
  bool const chooses = read.masked || read.unpack;
  if ((!chooses && !read.scale && !read.dtype) || read.missing) { return; }
  read.missing = options.nodata;
  ReadPlan const planned = plan(source, read);
  if (read.missing && !options.mask) { note_lost_pixels(planned, read, source.info().source); }
  if (!chooses || read.missing || options.mask || has_nan(planned.dtype())) { return; }
  bool const may_miss =
      read.masked ? std::ranges::any_of(
                        planned.bands(),
                        [&](std::uint32_t band) { return source.info().bands[band - 1].mask != MaskKind::all_valid; })
                  : reading::unpacking_changes_values(planned.impl()) && reading::has_missing_values(planned.impl());
  if (!may_miss) { return; }
  throw Error(ErrorKind::usage,
              text("missing pixels need a value that no valid pixel of ", to_string(planned.dtype()),
                   " has: set WriteOptions::nodata, WriteOptions::mask, or a type with NaN (ReadRequest::dtype)"),
              {.source = source.info().source});
}

}  // namespace

WriteOptions conversion_options(Dataset const& source, ReadRequest const& read) {
  Info const info = source.detailed_info();
  for (std::size_t i = source.info().warnings.size(); i < info.warnings.size(); ++i) {  // warnings of PROJ
    log_once(text(info.source, ": ", info.warnings[i]));
  }
  ReadPlan const planned = plan(source, read);
  WriteOptions options = options_like(info);
  options.dtype = planned.dtype();
  options.nan_to_nodata = false;  // keep the stored samples
  options.bands = static_cast<std::uint32_t>(planned.bands().size());
  options.band_info.clear();
  for (std::uint32_t const band : planned.bands()) { options.band_info.push_back(info.bands[band - 1]); }
  if (auto const items = options.metadata.domains.find(""); items != options.metadata.domains.end()) {
    // The options of the conversion that made the source.
    std::erase_if(items->second, [](auto const& item) { return item.first == kOptionsItem; });
  }
  options.metadata.domains.erase("TILING_SCHEME");  // true of the source's tiles only
  options.nodata = converted_nodata(info, planned, read, options.band_info);
  if (read.masked) { options.mask = false; }
  place_georeference(info, read, planned, options.georeference);
  leave_out_unknown_crs(info.source, options.georeference);
  // Statistics describe all pixels of the source.
  bool const changes_values = read.unpack || read.scale;
  bool const same_pixels = planned.window() == Window{0, 0, info.width, info.height} && planned.level() == 0 &&
                           planned.width() == info.width && planned.height() == info.height && !changes_values &&
                           planned.dtype() == info.dtype();
  for (BandInfo& band : options.band_info) {
    if (!same_pixels) { ops::drop_statistics(band); }
    if (changes_values) {
      band.scale = 1;
      band.offset = 0;
      band.has_scale = band.has_offset = false;
    }
    bool const keeps_colors = options.dtype == info.dtype() && options.bands == 1 && !read.scale;
    if (!keeps_colors && !band.color_table.empty()) {
      band.color_table.clear();
      options.overview_resampling = Resampling::nearest;  // class values have no mean
    }
  }
  // A profile from a PAM file is part of the metadata and becomes the tag without a copy here.
  if (!changes_values && !options.metadata.domains.contains("COLOR_PROFILE")) {
    options.extra_tags = ops::color_tags(source, planned);
  }
  return options;
}

void make_alpha_the_mask(Dataset const& source, ReadRequest& read, WriteOptions& options) {
  Info const& info = source.info();
  auto const bands = static_cast<std::uint32_t>(info.bands.size());
  // Only for bytes, which JPEG requires. An explicit list of bands is used unchanged.
  bool const wanted = writing::turns_alpha_into_mask(options.compression) && options.dtype == DType::u8 &&
                      options.bands == bands && options.planar == PlanarLayout::contiguous && read.bands.empty() &&
                      !options.mask && !options.nodata && info.dtype() == DType::u8;
  if (!wanted || info.bands.front().mask != MaskKind::alpha) { return; }
  for (std::uint32_t band = 1; band < bands; ++band) { read.bands.push_back(band); }
  options.bands = bands - 1;
  if (!options.band_info.empty()) { options.band_info.pop_back(); }
  options.mask = true;
}

namespace {

std::uint32_t with_margins(std::uint32_t size, std::uint32_t before, std::uint32_t after) {
  std::uint64_t const sum = std::uint64_t{size} + before + after;
  if (sum > 0x7FFFFFFFU) { throw Error(ErrorKind::usage, "a side of a raster has at most 2147483647 pixels"); }
  return static_cast<std::uint32_t>(sum);
}

// Calls `make_writer(width, height, options)` after the request is validated.
template <class MakeWriter>
ConvertReport convert_with(Dataset const& source, ConvertSetup setup, MakeWriter const& make_writer) {
  auto& [options, read, margins] = setup;
  bool const is_framed = margins != Margins{};
  if (is_framed && !ops::marks_missing_pixels(options)) {
    throw Error(ErrorKind::usage, "margins have missing pixels, which need nodata, a mask or an alpha band");
  }
  settle_missing(source, options, read);
  if (options.mask && options.mask_bits == 0) { options.mask_bits = ops::needed_mask_bits(source, read, options); }
  ReadPlan const planned = plan(source, read);
  std::uint32_t const width = with_margins(planned.width(), margins.left, margins.right);
  std::uint32_t const height = with_margins(planned.height(), margins.top, margins.bottom);
  if (!is_framed) { ops::share_device_budget(planned, read, options); }
  Writer writer = make_writer(width, height, options);
  ConvertReport report;
  report.read = is_framed ? ops::stream_rows(ops::blocks_for(source, read, options), options, writer, margins)
                          : ops::stream_either_way(source, planned, read, options, writer);
  report.write = writer.close();
  return report;
}

}  // namespace

ConvertReport convert(Dataset const& source, std::shared_ptr<ByteSink> sink, ConvertSetup const& setup) {
  return convert_with(source, setup, [&](std::uint32_t width, std::uint32_t height, WriteOptions const& shared) {
    return create(std::move(sink), width, height, shared);
  });
}

ConvertReport convert(Dataset const& source, std::string const& path, ConvertSetup const& setup) {
  return convert_with(source, setup, [&](std::uint32_t width, std::uint32_t height, WriteOptions const& shared) {
    return create(path, width, height, shared);
  });
}

ConvertReport convert(Dataset const& source, std::shared_ptr<ByteSink> sink, WriteOptions const& options,
                      ReadRequest const& read) {
  return convert(source, std::move(sink), ConvertSetup{options, read});
}

ConvertReport convert(Dataset const& source, std::string const& path, WriteOptions const& options,
                      ReadRequest const& read) {
  return convert(source, path, ConvertSetup{options, read});
}

}  // namespace terrazzo
