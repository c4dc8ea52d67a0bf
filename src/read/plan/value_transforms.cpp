// SPDX-License-Identifier: Apache-2.0
#include "read/plan/value_transforms.hpp"

#include "base/text.hpp"
#include "geo/nodata.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/write.hpp"
#include "tile/convert_sample.hpp"
#include "tile/reduce_rank.hpp"
#include "tile/row_moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace terrazzo::reading {

namespace {

// As in GDAL, a mask image alone defines the validity of its band; on a level without one, the band's nodata value does
// (read_masks()).
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

void set_scale(LinearScale const& linear, tile::ValueTransform& transform) {
  transform.rescale = true;
  transform.scale = (linear.to_max - linear.to_min) / (linear.from_max - linear.from_min);
  transform.offset = linear.to_min - linear.from_min * transform.scale;
  transform.low = std::min(linear.to_min, linear.to_max);
  transform.high = std::max(linear.to_min, linear.to_max);
}

void set_scale(BandInfo const& band, ReadRequest const& request, tile::ValueTransform& transform) {
  if (request.scale) { return set_scale(*request.scale, transform); }
  if (request.unpack) { set_scale(band, transform); }
}

void check_scale(ReadPlan::Impl const& plan, ReadRequest const& request) {
  if (!request.scale) { return; }
  auto const refuse = [&](char const* reason) {
    throw Error(ErrorKind::usage, reason, {.source = plan.dataset->info.source});
  };
  if (request.unpack) { refuse("values are either unpacked or mapped to another range, not both"); }
  if (is_complex(plan.level->dtype) || is_complex(plan.dtype)) { refuse("complex values have no range to map"); }
  tile::ValueTransform transform;
  set_scale(*request.scale, transform);
  // Equal ends of the source's range make the scale infinite, and so do ends that are too far apart.
  std::array const numbers{request.scale->from_min, request.scale->from_max, transform.low,
                           transform.high,          transform.scale,         transform.offset};
  bool const is_map = std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
  if (!is_map) { refuse("a scale needs finite numbers, and a source range with two different ends"); }
}

tile::MissingValue as_missing(Nodata const& nodata) {
  return {.value = nodata.value, .i64 = nodata.exact_i64, .u64 = nodata.exact_u64};
}

bool is_same(Nodata const& nodata, tile::MissingValue const& missing) {
  bool const both_nan = std::isnan(nodata.value) && std::isnan(missing.value);
  return (both_nan || nodata.value == missing.value) && nodata.exact_i64 == missing.i64 &&
         nodata.exact_u64 == missing.u64;
}

// Returns nullopt if the type cannot represent the value.
std::optional<Nodata> in_type(Nodata const& nodata, DType dtype) {
  try {
    Nodata result = make_nodata(geo::nodata_text(nodata), dtype);
    bool const is_half = dtype == DType::f16 || dtype == DType::cf16;
    double const stored = is_half ? tile::half_to_float(tile::double_to_half(result.value)) : result.value;
    return stored == result.value || std::isnan(stored) ? std::optional(std::move(result)) : std::nullopt;
  } catch (Error const&) { return std::nullopt; }
}

// Numbers the stored values in ascending order, from 0 on; floats without NaN.
template <class Src>
struct StoredValues {
  using Number = tile::OrderKey<Src>;

  [[nodiscard]] static Src at(std::uint64_t number) {
    return tile::value_of_key<Src>(static_cast<Number>(number + first()));
  }
  [[nodiscard]] static std::uint64_t last() {
    if constexpr (tile::is_real_float<Src>) {
      return std::uint64_t{tile::order_key(tile::convert_value<Src>(kInfinity))} - first();
    } else {
      return std::numeric_limits<Number>::max();
    }
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  [[nodiscard]] static std::uint64_t first() {
    if constexpr (tile::is_real_float<Src>) {
      return tile::order_key(tile::convert_value<Src>(-kInfinity));
    } else {
      return 0;
    }
  }
};

// The first number up to `last` for which `holds` is true, or `last` if there is none. `holds` is monotonic: false,
// then true.
template <class Holds>
std::uint64_t first_number(std::uint64_t last, Holds const& holds) {
  std::uint64_t first = 0;
  while (first < last) {
    std::uint64_t const middle = first + (last - first) / 2;
    if (holds(middle)) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

// Scaling, rounding and clamping keep or reverse the order of values, so the values that become the marker are
// neighbours, and so are the missing values: the two ends, found by bisection, decide for all values in between.
template <class Src, class Dst>
bool a_valid_value_may_become(tile::ValueTransform const& transform, Dst marker) {
  tile::ValueTransform scaling = transform;
  scaling.mask_nodata = false;
  auto const result = [&](std::uint64_t number) {
    return tile::transformed_value<Dst>(StoredValues<Src>::at(number), scaling);
  };
  auto const becomes_marker = [&](std::uint64_t number) { return tile::is_nodata_sample(result(number), marker); };
  bool const descending = transform.rescale && transform.scale < 0;
  auto const is_past = [&](std::uint64_t number) {
    return descending ? tile::is_less(result(number), marker) : tile::is_less(marker, result(number));
  };
  std::uint64_t const last = StoredValues<Src>::last();
  std::uint64_t const begin =
      first_number(last, [&](std::uint64_t number) { return becomes_marker(number) || is_past(number); });
  if (!becomes_marker(begin)) { return false; }
  std::uint64_t const past =
      first_number(last, [&](std::uint64_t number) { return is_past(number) && !becomes_marker(number); });
  std::uint64_t const end = becomes_marker(past) ? past : past - 1;
  auto const is_valid = [&](std::uint64_t number) {
    return !tile::is_missing(StoredValues<Src>::at(number), transform);
  };
  return is_valid(begin) || is_valid(end);
}

}  // namespace

bool may_become(tile::ValueTransform const& transform, DType stored, Nodata const& marker, DType result) {
  if (std::isnan(marker.value)) { return false; }
  if (!std::isfinite(transform.scale) || !std::isfinite(transform.offset)) { return true; }
  bool possible = true;
  tile::with_part_type(stored, [&]<class Src>(std::type_identity<Src>) {
    if (tile::is_real_float<Src> && transform.rescale) { return; }  // scaled floats can take any value
    tile::with_part_type(result, [&]<class Dst>(std::type_identity<Dst>) {
      possible = a_valid_value_may_become<Src>(transform, as_missing(marker).as<Dst>());
    });
  });
  return possible;
}

bool has_missing_values(ReadPlan::Impl const& plan) {
  return std::ranges::any_of(
      plan.bands, [&](std::uint32_t band) { return is_missing_by_value(plan, plan.dataset->info.bands[band - 1]); });
}

bool unpacking_changes_values(ReadPlan::Impl const& plan) {
  bool const scales = std::ranges::any_of(
      plan.bands, [&](std::uint32_t band) { return is_scaled(plan.dataset->info.bands[band - 1]); });
  return scales || (plan.dtype != plan.level->dtype && has_missing_values(plan));
}

bool clamps_to(ReadPlan::Impl const& plan, Nodata const& marker, ReadRequest const& request) {
  bool clamps = false;
  tile::with_part_type(plan.dtype, [&]<class Dst>(std::type_identity<Dst>) {
    Dst const end = as_missing(marker).as<Dst>();
    double const limit = tile::convert_value<double>(end);
    tile::with_part_type(plan.level->dtype, [&]<class Src>(std::type_identity<Src>) {
      double const first = tile::convert_value<double>(StoredValues<Src>::at(0));
      double const last = tile::convert_value<double>(StoredValues<Src>::at(StoredValues<Src>::last()));
      for (std::uint32_t const number : plan.bands) {
        tile::ValueTransform transform;
        set_scale(plan.dataset->info.bands[number - 1], request, transform);
        bool const ends_scale_below = tile::is_nodata_sample(tile::convert_value<Dst>(transform.low), end);
        bool const ends_scale_above = tile::is_nodata_sample(tile::convert_value<Dst>(transform.high), end);
        bool ends_type_below = false, ends_type_above = false;
        if constexpr (std::is_integral_v<Dst>) {
          ends_type_below = end == std::numeric_limits<Dst>::lowest();
          ends_type_above = end == std::numeric_limits<Dst>::max();
        } else if (!request.scale) {
          return;
        }
        for (double const stored : {first, last}) {
          double const mapped = stored * transform.scale + transform.offset;
          double const in_scale = transform.rescaled(stored);
          clamps = clamps || (ends_scale_below && mapped < limit) || (ends_scale_above && mapped > limit) ||
                   (ends_type_below && in_scale < limit) || (ends_type_above && in_scale > limit);
        }
      }
    });
  });
  return clamps;
}

Nodata const* first_nodata(ReadPlan::Impl const& plan) {
  std::vector<BandInfo> const& bands = plan.dataset->info.bands;
  auto const found =
      std::ranges::find_if(plan.bands, [&](std::uint32_t band) { return is_missing_by_value(plan, bands[band - 1]); });
  return found == plan.bands.end() ? nullptr : &*bands[*found - 1].nodata;
}

bool a_valid_pixel_may_become(ReadPlan::Impl const& plan, Nodata const& marker, ReadRequest const& request) {
  return std::ranges::any_of(plan.bands, [&](std::uint32_t number) {
    BandInfo const& band = plan.dataset->info.bands[number - 1];
    tile::ValueTransform transform;
    if (is_missing_by_value(plan, band)) { set_nodata(*band.nodata, transform); }
    set_scale(band, request, transform);
    return may_become(transform, plan.level->dtype, marker, plan.dtype);
  });
}

std::optional<Nodata> unambiguous_nodata(ReadPlan::Impl const& plan, ReadRequest const& request) {
  Nodata const* const nodata = first_nodata(plan);
  if (nodata == nullptr) { return std::nullopt; }
  std::optional<Nodata> marker = in_type(*nodata, plan.dtype);
  return marker && !a_valid_pixel_may_become(plan, *marker, request) ? marker : std::nullopt;
}

Nodata nearest_nodata(Nodata const& nodata, DType stored, DType result) {
  if (stored == result) { return nodata; }
  std::string marker;
  tile::with_part_type(stored, [&]<class Src>(std::type_identity<Src>) {
    tile::with_part_type(result, [&]<class Dst>(std::type_identity<Dst>) {
      Dst const value = tile::convert_value<Dst>(as_missing(nodata).as<Src>());
      if constexpr (std::is_integral_v<Dst>) {
        marker = std::to_string(value);
      } else {
        double const most = tile::convert_value<double>(StoredValues<Dst>::at(StoredValues<Dst>::last() - 1));
        double const number = tile::convert_value<double>(value);
        bool const overflows = std::isinf(number) && std::isfinite(nodata.value);
        marker = geo::nodata_text({.value = overflows ? std::copysign(most, number) : number});
      }
    });
  });
  return make_nodata(marker, result);
}

void choose_transforms(ReadPlan::Impl& plan, ReadRequest const& request) {
  std::vector<BandInfo> const& bands = plan.dataset->info.bands;
  check_scale(plan, request);
  bool const changes = request.unpack && unpacking_changes_values(plan);
  bool const replaces = request.masked || changes || request.scale || request.missing;
  if (replaces && request.missing) {
    plan.missing = in_type(*request.missing, plan.dtype);
    if (!plan.missing) {
      throw Error(ErrorKind::usage,
                  text("missing pixels cannot become ", geo::nodata_text(*request.missing), ", which is no value of ",
                       to_string(plan.dtype)),
                  {.source = plan.dataset->info.source});
    }
  } else if (changes && !request.masked) {
    plan.missing = unambiguous_nodata(plan, request);
  } else if (Nodata const* const nodata = first_nodata(plan); request.scale && !request.masked && nodata != nullptr) {
    plan.missing = nearest_nodata(*nodata, plan.level->dtype, plan.dtype);
  }
  tile::MissingValue const missing = plan.missing_value();
  bool const has_nan = is_floating(plan.level->dtype) || is_complex(plan.level->dtype);
  // A mere conversion between types with NaN leaves NaN as it is.
  bool const keeps_nan = !request.masked && !request.unpack && !is_integer(plan.dtype);
  for (std::uint32_t const number : plan.bands) {
    BandInfo const& band = bands[number - 1];
    tile::ValueTransform transform;
    transform.missing = missing;
    set_scale(band, request, transform);
    if (replaces && is_missing_by_value(plan, band)) {
      set_nodata(*band.nodata, transform);
      // Integers convert to the marker exactly; for floats, neighbours of the nodata value are missing too.
      bool const converts_exactly = plan.dtype == plan.level->dtype || !has_nan || keeps_nan;
      bool const stays = !transform.rescale && converts_exactly && is_same(*band.nodata, missing);
      transform.mask_nodata = !stays || (request.masked && has_nan);
    } else if (replaces && has_nan && !keeps_nan && !std::isnan(missing.value)) {
      // NaN is missing, as in a file with nodata.
      transform.mask_nodata = true;
      transform.nodata = std::numeric_limits<double>::quiet_NaN();
    }
    plan.transforms.push_back(transform);
  }
}

void store_nodata(Nodata const& nodata, DType dtype, std::byte* out) noexcept {
  tile::store_missing(dtype, out, {.value = nodata.value, .i64 = nodata.exact_i64, .u64 = nodata.exact_u64});
}

void stored_fill(ReadPlan::Impl const& plan, std::size_t band_index, std::byte* out) noexcept {
  DType const stored = plan.level->dtype;
  BandInfo const& info = plan.dataset->info.bands[plan.bands[band_index] - 1];
  if (info.nodata && info.nodata->exact_i64 && stored == DType::i64) {
    std::memcpy(out, &*info.nodata->exact_i64, sizeof(std::int64_t));
  } else if (info.nodata && info.nodata->exact_u64 && stored == DType::u64) {
    std::memcpy(out, &*info.nodata->exact_u64, sizeof(std::uint64_t));
  } else {
    tile::fill_row(stored, out, 0, 1, plan.fills[band_index]);
  }
}

}  // namespace terrazzo::reading
