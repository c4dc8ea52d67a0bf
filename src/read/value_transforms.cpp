// SPDX-License-Identifier: Apache-2.0
#include "read/value_transforms.hpp"

#include "base/text.hpp"
#include "geo/nodata.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/write.hpp"
#include "tile/convert_sample.hpp"
#include "tile/row_moments.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace terrazzo::reading {

namespace {

// A band with a mask image follows that alone, as in GDAL; on a level without one, its nodata value (read_masks()).
bool is_missing_by_value(ReadPlan::Impl const& plan, BandInfo const& band) {
  return plan.mask_level() == nullptr && band.nodata && band.nodata->representable;
}

bool is_scaled(BandInfo const& band) { return band.scale != 1 || band.offset != 0; }

void set_nodata(Nodata const& nodata, tile::ValueTransform& transform) {
  transform.mask_nodata = true;
  transform.nodata = nodata.value;
  transform.nodata_i64 = nodata.exact_i64;
  transform.nodata_u64 = nodata.exact_u64;
}

void set_scale(BandInfo const& band, tile::ValueTransform& transform) {
  transform.rescale = is_scaled(band);
  transform.scale = band.scale;
  transform.offset = band.offset;
}

tile::MissingValue as_missing(Nodata const& nodata) {
  return {.value = nodata.value, .i64 = nodata.exact_i64, .u64 = nodata.exact_u64};
}

bool is_same(Nodata const& nodata, tile::MissingValue const& missing) {
  return nodata.value == missing.value && nodata.exact_i64 == missing.i64 && nodata.exact_u64 == missing.u64;
}

// nullopt where the type has no such value.
std::optional<Nodata> in_type(Nodata const& nodata, DType dtype) {
  try {
    Nodata result = make_nodata(geo::nodata_text(nodata), dtype);
    bool const is_half = dtype == DType::f16 || dtype == DType::cf16;
    double const stored = is_half ? tile::half_to_float(tile::double_to_half(result.value)) : result.value;
    return stored == result.value || std::isnan(stored) ? std::optional(std::move(result)) : std::nullopt;
  } catch (Error const&) { return std::nullopt; }
}

template <class T>
bool is_less(T a, T b) {
  if constexpr (std::is_same_v<T, tile::Half>) {
    return tile::half_to_float(a.bits) < tile::half_to_float(b.bits);
  } else {
    return a < b;
  }
}

// Stored integers in their order, numbered from 0 on.
template <class Src>
Src stored_value(std::uint64_t number) {
  using Bits = std::make_unsigned_t<Src>;
  return static_cast<Src>(
      static_cast<Bits>(static_cast<Bits>(std::numeric_limits<Src>::lowest()) + static_cast<Bits>(number)));
}

// Scaling and rounding keep or reverse the order of values, so the integers that become the marker are neighbours: the
// first is found by bisection. One of them may be the missing value itself.
template <class Src, class Dst>
bool an_integer_may_become(tile::ValueTransform const& transform, Dst marker) {
  tile::ValueTransform scaling = transform;
  scaling.mask_nodata = false;
  auto const result = [&](std::uint64_t number) {
    return tile::transformed_value<Dst>(stored_value<Src>(number), scaling);
  };
  bool const descending = transform.rescale && transform.scale < 0;
  constexpr std::uint64_t kLast = std::numeric_limits<std::make_unsigned_t<Src>>::max();
  std::uint64_t first = 0, last = kLast;
  while (first < last) {
    std::uint64_t const middle = first + (last - first) / 2;
    bool const before = descending ? is_less(marker, result(middle)) : is_less(result(middle), marker);
    (before ? first : last) = before ? middle + 1 : middle;
  }
  // Floats next to the marker are taken for it, also from below.
  std::uint64_t const begin = first - std::min<std::uint64_t>(first, 2);
  std::uint64_t const end = first + std::min<std::uint64_t>(kLast - first, 2);
  for (std::uint64_t number = begin;; ++number) {
    bool const is_missing = tile::is_missing(stored_value<Src>(number), transform);
    if (!is_missing && tile::is_nodata_sample(result(number), marker)) { return true; }
    if (number == end) { return false; }
  }
}

}  // namespace

bool may_become(tile::ValueTransform const& transform, DType stored, Nodata const& marker, DType result) {
  if (std::isnan(marker.value)) { return false; }
  if (!std::isfinite(transform.scale) || !std::isfinite(transform.offset)) { return true; }
  bool possible = true;
  tile::with_part_type(stored, [&]<class Src>(std::type_identity<Src>) {
    if constexpr (std::is_integral_v<Src>) {
      tile::with_part_type(result, [&]<class Dst>(std::type_identity<Dst>) {
        possible = an_integer_may_become<Src>(transform, as_missing(marker).as<Dst>());
      });
    } else {
      // Scaled floats have any value; others that are the marker are missing already.
      possible = transform.rescale || !tile::is_missing(tile::convert_value<Src>(marker.value), transform);
    }
  });
  return possible;
}

bool has_missing_values(ReadPlan::Impl const& plan) {
  return std::ranges::any_of(
      plan.bands, [&](std::uint32_t band) { return is_missing_by_value(plan, plan.dataset->info.bands[band - 1]); });
}

std::optional<Nodata> unambiguous_nodata(ReadPlan::Impl const& plan, bool unpack) {
  std::vector<BandInfo> const& bands = plan.dataset->info.bands;
  auto const found =
      std::ranges::find_if(plan.bands, [&](std::uint32_t band) { return is_missing_by_value(plan, bands[band - 1]); });
  if (found == plan.bands.end()) { return std::nullopt; }
  std::optional<Nodata> marker = in_type(*bands[*found - 1].nodata, plan.dtype);
  if (!marker) { return std::nullopt; }
  for (std::uint32_t const number : plan.bands) {
    BandInfo const& band = bands[number - 1];
    tile::ValueTransform transform;
    if (is_missing_by_value(plan, band)) { set_nodata(*band.nodata, transform); }
    if (unpack) { set_scale(band, transform); }
    if (may_become(transform, plan.level->dtype, *marker, plan.dtype)) { return std::nullopt; }
  }
  return marker;
}

void choose_transforms(ReadPlan::Impl& plan, ReadRequest const& request) {
  std::vector<BandInfo> const& bands = plan.dataset->info.bands;
  bool const scales =
      request.unpack && std::ranges::any_of(plan.bands, [&](std::uint32_t band) { return is_scaled(bands[band - 1]); });
  bool const replaces = request.masked || scales || (request.unpack && request.missing);
  if (replaces && request.missing) {
    plan.missing = in_type(*request.missing, plan.dtype);
    if (!plan.missing) {
      throw Error(ErrorKind::usage,
                  text("missing pixels cannot become ", geo::nodata_text(*request.missing), ", which is no value of ",
                       to_string(plan.dtype)),
                  {.source = plan.dataset->info.source});
    }
  } else if (scales && !request.masked) {
    plan.missing = unambiguous_nodata(plan, true);
  }
  tile::MissingValue const missing = plan.missing_value();
  bool const has_nan = is_floating(plan.level->dtype) || is_complex(plan.level->dtype);
  for (std::uint32_t const number : plan.bands) {
    BandInfo const& band = bands[number - 1];
    tile::ValueTransform transform;
    transform.missing = missing;
    if (request.unpack) { set_scale(band, transform); }
    if (replaces && is_missing_by_value(plan, band)) {
      set_nodata(*band.nodata, transform);
      bool const stays = !transform.rescale && plan.dtype == plan.level->dtype && is_same(*band.nodata, missing);
      transform.mask_nodata = !stays || (request.masked && has_nan);
    } else if (replaces && has_nan && !std::isnan(missing.value)) {
      // NaN is missing, as it is in a file with nodata.
      transform.mask_nodata = true;
      transform.nodata = std::numeric_limits<double>::quiet_NaN();
    }
    plan.transforms.push_back(transform);
  }
}

}  // namespace terrazzo::reading
