// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/inputs.hpp"

#include "base/affine.hpp"
#include "base/parallel.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "ops/mosaic/open_files.hpp"
#include "read/open/dataset.hpp"
#include "terrazzo/convert.hpp"
#include "terrazzo/coordinates.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <utility>

namespace terrazzo::ops {
namespace {

[[noreturn]] void refuse_input(Info const& info, std::string message) {
  throw Error(ErrorKind::usage, std::move(message), {.source = info.source});
}

std::string in_quotes(std::string const& text) { return '"' + text + '"'; }

std::string crs_name(Info const& info) {
  auto const& crs = info.georeference.crs;
  if (!crs) { return "no CRS"; }
  if (crs->epsg) { return text("EPSG:", *crs->epsg); }
  return crs->name.empty() ? "a CRS without a name" : in_quotes(crs->name);
}

// Compares CRSs with that of the first input. Asking PROJ takes a millisecond, and most files of a mosaic have the same
// definition, so definitions that passed are kept. Thread-safe.
class CrsCheck {
 public:
  explicit CrsCheck(Dataset const& first, Info const& detailed) : first_(detailed) {
    known_.push_back(first.shared_impl()->crs);
  }

  // Throws `usage`.
  void check(Dataset const& other) {
    auto const& definition = other.shared_impl()->crs;
    std::lock_guard const lock(mutex_);
    if (std::ranges::find(known_, definition) != known_.end()) { return; }
    Info const detailed = other.detailed_info();
    if (!same_crs(first_, detailed)) {
      refuse_input(detailed, text("the CRS is ", crs_name(detailed), ", and that of ", in_quotes(first_.source), " is ",
                                  crs_name(first_), "; the files of a mosaic have one CRS: warp the others first"));
    }
    constexpr std::size_t kMostKnown = 64;
    if (known_.size() < kMostKnown) { known_.push_back(definition); }
  }

 private:
  Info const& first_;
  std::mutex mutex_;
  std::vector<geo::CrsDefinition> known_;
};

bool same_colors(BandInfo const& a, BandInfo const& b) {
  return std::ranges::equal(a.color_table, b.color_table, [](ColorEntry const& x, ColorEntry const& y) {
    return x.red == y.red && x.green == y.green && x.blue == y.blue && x.alpha == y.alpha;
  });
}

void check_band(Info const& first, Info const& info, std::uint32_t number) {
  BandInfo const &mine = info.bands[number - 1], &theirs = first.bands[number - 1];
  std::string const other = in_quotes(first.source);
  if (mine.scale != theirs.scale || mine.offset != theirs.offset) {
    refuse_input(info, text("band ", number, " has scale ", mine.scale, " and offset ", mine.offset, ", and that of ",
                            other, " has ", theirs.scale, " and ", theirs.offset,
                            ": stored values mean different things; convert the files with ReadRequest::unpack first"));
  }
  if ((mine.color == ColorInterpretation::alpha) != (theirs.color == ColorInterpretation::alpha)) {
    refuse_input(info, text("band ", number, mine.color == ColorInterpretation::alpha ? " is" : " is not",
                            " an alpha band, unlike that of ", other));
  }
  if (!same_colors(mine, theirs)) {
    refuse_input(info, text("band ", number, " has another colour table than that of ", other));
  }
}

void check_place(Info const& info) {
  auto const& transform = info.georeference.transform;
  if (!transform) {
    refuse_input(
        info, info.georeference.gcps.empty()
                  ? "the raster has no transform from pixels to coordinates, and so no place in a mosaic"
                  : "the raster has ground control points, but no transform from pixels to coordinates; warp it first");
  }
  if (!is_invertible(*transform)) {
    refuse_input(info, "the raster's transform from pixels to coordinates cannot be inverted");
  }
}

void check_bands(Info const& info, std::vector<std::uint32_t> const& bands) {
  for (std::uint32_t const band : bands) {
    if (band == 0 || band > info.bands.size()) {
      refuse_input(info, text("band ", band, " is out of range: the raster has bands 1 to ", info.bands.size()));
    }
  }
}

void check_alike(Info const& first, Info const& info, MosaicRequest const& request,
                 std::vector<std::uint32_t> const& bands) {
  check_place(info);
  std::string const other = in_quotes(first.source);
  if (request.bands.empty() && info.bands.size() != first.bands.size()) {
    refuse_input(info, text("the number of bands is ", info.bands.size(), ", and that of ", other, " is ",
                            first.bands.size(), "; select bands that all files have (MosaicRequest::bands)"));
  }
  check_bands(info, bands);
  if (!request.dtype && info.dtype() != first.dtype()) {
    refuse_input(info, text("the sample type is ", to_string(info.dtype()), ", and that of ", other, " is ",
                            to_string(first.dtype()), "; choose one for the mosaic (MosaicRequest::dtype)"));
  }
  for (std::uint32_t const band : bands) { check_band(first, info, band); }
  Footprint const footprint{*info.georeference.transform, info.width, info.height};
  if (!place_on(*first.georeference.transform, footprint)) {
    refuse_input(info, text("the grid is rotated or mirrored against that of ", other, "; warp it first"));
  }
}

bool has_nan(DType dtype) { return is_floating(dtype) || (is_complex(dtype) && dtype >= DType::cf16); }

bool has_missing_values(Info const& info, std::vector<std::uint32_t> const& bands) {
  return has_nan(info.dtype()) || std::ranges::any_of(bands, [&](std::uint32_t number) {
           auto const& nodata = info.bands[number - 1].nodata;
           return nodata && nodata->representable;
         });
}

Validity validity_of(Info const& info, std::vector<std::uint32_t> const& bands) {
  bool by_alpha = false;
  for (std::uint32_t const number : bands) {
    MaskKind const mask = info.bands[number - 1].mask;
    if (mask == MaskKind::internal || mask == MaskKind::external) { return Validity::by_mask; }
    by_alpha = by_alpha || mask == MaskKind::alpha;
  }
  if (by_alpha) { return Validity::by_alpha; }
  return has_missing_values(info, bands) ? Validity::by_value : Validity::everywhere;
}

// The first error in the order of the inputs, for any number of threads.
class FirstError {
 public:
  [[nodiscard]] bool is_before(std::uint64_t index) const noexcept { return index_ < index; }
  void keep(std::uint64_t index, Error const& error) {
    std::lock_guard const lock(mutex_);
    if (index < index_) {
      error_ = error;
      index_ = index;
    }
  }
  void rethrow() const {
    if (error_) { throw *error_; }
  }

 private:
  std::mutex mutex_;
  std::atomic<std::uint64_t> index_{UINT64_MAX};
  std::optional<Error> error_;
};

}  // namespace

bool Input::matches(Input const& other) const noexcept {
  return footprint.transform == other.footprint.transform && footprint.width == other.footprint.width &&
         footprint.height == other.footprint.height && dtype == other.dtype && bands == other.bands &&
         validity == other.validity && has_missing_values == other.has_missing_values;
}

Dataset open_input(std::string const& path, MosaicRequest const& request) {
  return request.open ? request.open(path) : open(path);
}

Input describe_input(std::string const& path, Info const& info, std::vector<std::uint32_t> const& bands) {
  Input input{.path = path,
              .footprint = {info.georeference.transform.value_or(std::array<double, 6>{}), info.width, info.height},
              .dtype = info.dtype(),
              .bands = static_cast<std::uint32_t>(info.bands.size()),
              .validity = validity_of(info, bands),
              .has_missing_values = has_missing_values(info, bands),
              .files = static_cast<std::uint32_t>(std::max<std::size_t>(info.files.size(), 1))};
  for (std::uint32_t const number : bands) {
    auto const& nodata = info.bands[number - 1].nodata;
    if (!input.nodata && nodata && nodata->representable) { input.nodata = nodata; }
  }
  return input;
}

Inputs read_inputs(std::vector<std::string> const& paths, MosaicRequest const& request) {
  if (paths.empty()) { throw Error(ErrorKind::usage, "a mosaic needs at least one file"); }
  Inputs inputs;
  Dataset const first = open_input(paths.front(), request);
  inputs.first = first.detailed_info();
  inputs.bands = request.bands;
  if (inputs.bands.empty()) {
    inputs.bands.resize(inputs.first.bands.size());
    std::iota(inputs.bands.begin(), inputs.bands.end(), 1U);
  }
  check_place(inputs.first);
  check_bands(inputs.first, inputs.bands);
  inputs.like_first = conversion_options(first, {.bands = inputs.bands, .dtype = request.dtype});
  inputs.files.resize(paths.size());
  inputs.files.front() = describe_input(paths.front(), inputs.first, inputs.bands);
  CrsCheck crs(first, inputs.first);
  FirstError failure;
  unsigned const threads = std::min(resolve_threads(request.threads), files_at_once());
  parallel_for(paths.size() - 1, threads, [&](std::uint64_t before) {
    std::uint64_t const i = before + 1;
    if (failure.is_before(i)) { return; }
    try {
      if (request.cancel != nullptr && *request.cancel) {
        throw Error(ErrorKind::cancelled, "the mosaic was cancelled");
      }
      Dataset const dataset = open_input(paths[i], request);
      check_alike(inputs.first, dataset.info(), request, inputs.bands);
      crs.check(dataset);
      inputs.files[i] = describe_input(paths[i], dataset.info(), inputs.bands);
    } catch (Error const& error) { failure.keep(i, error.located({.source = paths[i]})); }
  });
  failure.rethrow();
  return inputs;
}

}  // namespace terrazzo::ops
