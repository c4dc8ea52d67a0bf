// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/convert.hpp"

#include "base/affine.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "ops/color_tags.hpp"
#include "ops/stream_device_rows.hpp"
#include "read/plan.hpp"
#include "read/value_transforms.hpp"
#include "terrazzo/error.hpp"
#include "write/tag_edit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace terrazzo {
namespace {

// Of pixel (column, row) of the window, in units of the level's pixels, seen from the raster's own transform.
std::array<double, 6> moved(std::array<double, 6> const& t, double column, double row, double x_scale, double y_scale) {
  return {t[0] + column * t[1] + row * t[2], t[1] * x_scale, t[2] * y_scale,
          t[3] + column * t[4] + row * t[5], t[4] * x_scale, t[5] * y_scale};
}

void place_georeference(Info const& info, ReadRequest const& read, ReadPlan const& plan, Georeference& georeference) {
  // With a target size the plan's window holds only the pixels that are used, of whichever level; the request's is of
  // the full resolution.
  std::uint32_t const level = read.target_size ? 0 : plan.level();
  double const level_x = level == 0 ? 1 : static_cast<double>(info.width) / info.overviews[level - 1].width;
  double const level_y = level == 0 ? 1 : static_cast<double>(info.height) / info.overviews[level - 1].height;
  Window const whole{0, 0, info.width, info.height};
  Window const window = read.target_size ? read.window.value_or(whole) : plan.window();
  double const column = window.column * level_x, row = window.row * level_y;
  double const x_scale = level_x * window.width / plan.width(), y_scale = level_y * window.height / plan.height();
  if (georeference.transform && !is_invertible(*georeference.transform)) {
    log_once(text(info.source, ": the transform puts all pixels on one line: it is left out"));
    georeference.transform.reset();
  }
  if (georeference.transform) {
    georeference.transform = moved(*georeference.transform, column, row, x_scale, y_scale);
  }
  for (GroundControlPoint& point : georeference.gcps) {
    point.column = (point.column - column) / x_scale;
    point.row = (point.row - row) / y_scale;
  }
  bool const same = column == 0 && row == 0 && x_scale == 1 && y_scale == 1 && plan.width() == info.width &&
                    plan.height() == info.height;
  if (!same) { georeference.rpc.clear(); }  // polynomials of the whole raster
}

// A sidecar may hold any text for a CRS; one that nobody understands is no reason to keep the pixels back.
void leave_out_unknown_crs(std::string const& source, Georeference& georeference) {
  if (!georeference.crs) { return; }
  try {
    tiff::TagSet tried;
    writing::replace_crs(georeference, tried);
  } catch (Error const& error) {
    if (error.kind() != ErrorKind::usage) { throw; }  // others can be helped: PROJ can be installed
    log_once(text(source, ": the CRS cannot be written and is left out: ", error.message()));
    georeference.crs.reset();
  }
}

// The source's nodata as a value of another type; nothing, with a note, where that type has no such value.
std::optional<Nodata> nodata_in(std::string const& marker, DType dtype) {
  try {
    return make_nodata(marker, dtype);
  } catch (Error const&) {
    log_once(text("nodata ", marker, " of the source is no value of ", to_string(dtype), ": it is left out"));
    return std::nullopt;
  }
}

bool is_same(Nodata const& a, Nodata const& b) {
  bool const both_nan = std::isnan(a.value) && std::isnan(b.value);
  return (both_nan || a.value == b.value) && a.exact_i64 == b.exact_i64 && a.exact_u64 == b.exact_u64;
}

// A file has one nodata value, and a marker that no pixel can have marks nothing.
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
    bool const same = first.has_value() == other.has_value() && (!first || is_same(*first, *other));
    if (!same) {
      log_once(text(source, ": bands have different nodata values (", name(first), ", ", name(other),
                    ") and a GeoTIFF has one: it gets ", name(first), ", that of the first band"));
      break;
    }
  }
  return first;
}

bool has_nan(DType dtype) { return is_floating(dtype) || (is_complex(dtype) && dtype >= DType::cf16); }

// Where the read replaces missing pixels: NaN in floats, else what no other pixel can have. nullopt: there is no such
// value, and convert() wants one.
std::optional<Nodata> nodata_of_missing(ReadPlan const& planned, ReadRequest const& read) {
  ReadPlan::Impl const& plan = planned.impl();
  if (plan.missing) { return plan.missing; }
  if (has_nan(plan.dtype)) { return make_nodata("nan", plan.dtype); }
  return reading::unambiguous_nodata(plan, read.unpack);
}

bool rescales(ReadPlan const& planned) {
  return std::ranges::any_of(planned.impl().transforms, [](auto const& transform) { return transform.rescale; });
}

// What missing pixels become in the file. Pixels that are scaled without a look at nodata, as the mask image says what
// is missing, have none.
std::optional<Nodata> converted_nodata(Info const& info, ReadPlan const& planned, ReadRequest const& read,
                                       std::vector<BandInfo> const& bands) {
  if (read.masked) { return nodata_of_missing(planned, read); }
  if (rescales(planned)) {
    return reading::has_missing_values(planned.impl()) ? nodata_of_missing(planned, read) : std::nullopt;
  }
  std::optional<Nodata> const nodata = common_nodata(bands, info.source);
  return nodata && planned.dtype() != info.dtype() ? nodata_in(nodata->text, planned.dtype()) : nodata;
}

// The read makes missing pixels what the file says they are. Throws `usage` where they would be taken for data.
void settle_missing(Dataset const& source, WriteOptions const& options, ReadRequest& read) {
  if ((!read.masked && !read.unpack) || read.missing) { return; }
  read.missing = options.nodata;
  ReadPlan const planned = plan(source, read);
  if (read.missing || options.mask || has_nan(planned.dtype())) { return; }
  bool const may_miss =
      read.masked ? std::ranges::any_of(
                        planned.bands(),
                        [&](std::uint32_t band) { return source.info().bands[band - 1].mask != MaskKind::all_valid; })
                  : rescales(planned) && reading::has_missing_values(planned.impl());
  if (!may_miss) { return; }
  throw Error(ErrorKind::usage,
              text("missing pixels need a value that no other pixel of ", to_string(planned.dtype()),
                   " has: give one (--nodata VALUE), a mask (--mask), or a type that has NaN (--dtype float32)"),
              {.source = source.info().source});
}

}  // namespace

WriteOptions conversion_options(Dataset const& source, ReadRequest const& read) {
  Info const info = source.detailed_info();
  for (std::size_t i = source.info().warnings.size(); i < info.warnings.size(); ++i) {  // those of PROJ
    log_once(text(info.source, ": ", info.warnings[i]));
  }
  ReadPlan const planned = plan(source, read);
  WriteOptions options = options_like(info);
  options.dtype = planned.dtype();
  options.nan_to_nodata = false;  // samples are kept as they are stored
  options.bands = static_cast<std::uint32_t>(planned.bands().size());
  options.band_info.clear();
  for (std::uint32_t const band : planned.bands()) { options.band_info.push_back(info.bands[band - 1]); }
  options.nodata = converted_nodata(info, planned, read, options.band_info);
  if (read.masked) { options.mask = false; }
  place_georeference(info, read, planned, options.georeference);
  leave_out_unknown_crs(info.source, options.georeference);
  // Statistics are of the source's pixels, all of them.
  bool const same_pixels = planned.window() == Window{0, 0, info.width, info.height} && planned.level() == 0 &&
                           planned.width() == info.width && planned.height() == info.height && !read.unpack &&
                           planned.dtype() == info.dtype();
  for (BandInfo& band : options.band_info) {
    if (!same_pixels) {
      band.statistics = {};
      for (auto& [domain, items] : band.metadata.domains) {
        std::erase_if(items, [](auto const& item) { return item.first.starts_with("STATISTICS_"); });
      }
    }
    if (read.unpack) {
      band.scale = 1;
      band.offset = 0;
      band.has_scale = band.has_offset = false;
    }
    bool const keeps_colors = options.dtype == info.dtype() && options.bands == 1;
    if (!keeps_colors && !band.color_table.empty()) {
      band.color_table.clear();
      options.resampling = Resampling::nearest;  // classes of any type have no mean
    }
  }
  // A profile that a PAM file gives is among the metadata, and becomes the tag by itself.
  if (!read.unpack && !options.metadata.domains.contains("COLOR_PROFILE")) {
    options.extra_tags = ops::color_tags(source, planned);
  }
  return options;
}

void make_alpha_the_mask(Dataset const& source, ReadRequest& read, WriteOptions& options) {
  Info const& info = source.info();
  auto const bands = static_cast<std::uint32_t>(info.bands.size());
  // Of bytes: JPEG takes nothing else. Who named bands wants these.
  bool const wanted = options.compression == Compression::jpeg && options.dtype == DType::u8 &&
                      options.bands == bands && options.planar == PlanarLayout::contiguous && read.bands.empty() &&
                      !options.mask && !options.nodata && info.dtype() == DType::u8;
  if (!wanted || info.bands.front().mask != MaskKind::alpha) { return; }
  for (std::uint32_t band = 1; band < bands; ++band) { read.bands.push_back(band); }
  options.bands = bands - 1;
  if (!options.band_info.empty()) { options.band_info.pop_back(); }
  options.mask = true;
}

namespace {

// `make_writer(width, height, options)` is called once the request is known to be good.
template <class MakeWriter>
ConvertReport convert_with(Dataset const& source, WriteOptions options, ReadRequest read,
                           MakeWriter const& make_writer) {
  settle_missing(source, options, read);
  ReadPlan const planned = plan(source, read);
  ops::share_device_budget(source, read, options);
  Writer writer = make_writer(planned.width(), planned.height(), options);
  ConvertReport report;
  report.read = ops::stream_either_way(source, read, options, writer);
  report.write = writer.close();
  return report;
}

}  // namespace

ConvertReport convert(Dataset const& source, std::shared_ptr<ByteSink> sink, WriteOptions const& options,
                      ReadRequest const& read) {
  return convert_with(source, options, read,
                      [&](std::uint32_t width, std::uint32_t height, WriteOptions const& shared) {
                        return create(std::move(sink), width, height, shared);
                      });
}

ConvertReport convert(Dataset const& source, std::string const& path, WriteOptions const& options,
                      ReadRequest const& read) {
  return convert_with(source, options, read,
                      [&](std::uint32_t width, std::uint32_t height, WriteOptions const& shared) {
                        return create(path, width, height, shared);
                      });
}

}  // namespace terrazzo
