// SPDX-License-Identifier: Apache-2.0
#include "read/mask.hpp"

#include "read/host_engine.hpp"
#include "read/resample.hpp"
#include "tile/convert.hpp"

#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace terrazzo::reading {

namespace {

std::byte* row_of(HostView const& view, std::size_t band, std::uint32_t row) {
  return static_cast<std::byte*>(view.data) + static_cast<std::int64_t>(band) * view.band_stride_bytes +
         static_cast<std::int64_t>(row) * view.row_stride_bytes;
}

// One band of the plan's size, under the budget.
struct Plane {
  Plane(DType dtype, ReadPlan::Impl const& plan, MemoryBudget& budget, char const* what)
      : reservation(budget.reserve(size_bytes(dtype) * std::uint64_t{plan.out_width} * plan.out_height, what)),
        pixels(dtype, 1, plan.out_height, plan.out_width) {}
  MemoryBudget::Reservation reservation;
  HostArray pixels;
};

// The mask image behind the plan's pixels, null when there is none. As in GDAL, a result of a target size that comes
// from an overview without a mask has the mask of full resolution; a level asked for by its number has its own or none.
LevelPtr const& mask_level(ReadPlan::Impl const& plan) {
  bool const own = plan.level->mask != nullptr || !plan.resampled();
  return own ? plan.level->mask : plan.dataset->levels[0]->mask;
}

// One band of the mask image, for the whole window.
Plane read_mask_band(ReadPlan::Impl const& plan, std::uint32_t band, ReadRequest const& request, MemoryBudget& budget) {
  Plane mask(DType::u8, plan, budget, "a mask");
  ReadReport report;
  LevelPtr const& level = mask_level(plan);
  ReadPlan::Impl like = plan;
  if (level != plan.level->mask) {
    tiff::Image const& full = plan.dataset->levels[0]->image;
    Window const window = request.window.value_or(Window{0, 0, full.width_px, full.height_px});
    Resampling sampling = resample_from(*plan.dataset, 0, window, {plan.out_width, plan.out_height});
    like.level_index = sampling.level;
    like.window = sampling.window;
    like.source_columns = std::move(sampling.columns);
    like.source_rows = std::move(sampling.rows);
  }
  auto const mask_plan = make_level_plan(plan.dataset, level, band, like);
  execute_on_host(*mask_plan, request, mask.pixels.view(), budget, report);
  for (std::byte& pixel : mask.pixels.bytes()) { pixel = pixel == std::byte{} ? std::byte{} : std::byte{255}; }
  return mask;
}

// One band (from 1) as it is stored, of the plan's window and size.
Plane read_stored_band(ReadPlan::Impl const& plan, std::uint32_t band, double fill, ReadRequest const& request,
                       MemoryBudget& budget, char const* what) {
  ReadPlan::Impl one = plan;
  one.bands = {band};
  one.transforms.assign(1, {});
  one.fills.assign(1, fill);
  one.dtype = plan.level->dtype;
  if (plan.level->has_band_planes()) { one.planes = {band - 1}; }
  Plane values(one.dtype, plan, budget, what);
  ReadReport report;
  execute_on_host(one, request, values.pixels.view(), budget, report);
  return values;
}

// Valid where alpha is not 0.
Plane read_alpha(ReadPlan::Impl const& plan, ReadRequest const& request, MemoryBudget& budget) {
  auto const alpha = static_cast<std::uint32_t>(plan.dataset->info.bands.size());  // MaskKind::alpha: it is the last
  Plane const values = read_stored_band(plan, alpha, 0, request, budget, "the alpha band");
  Plane mask(DType::u8, plan, budget, "a mask");
  tile::ValueTransform zero_is_invalid;
  zero_is_invalid.mask_nodata = true;
  auto const bytes = static_cast<std::ptrdiff_t>(size_bytes(plan.level->dtype));
  std::span<std::byte> const valid = mask.pixels.bytes();
  tile::valid_row(plan.level->dtype, values.pixels.bytes().data(), bytes, reinterpret_cast<std::uint8_t*>(valid.data()),
                  1, valid.size(), zero_is_invalid);
  return mask;
}

// Masks that bands have in common, read when the first band asks.
class SharedMasks {
 public:
  SharedMasks(ReadPlan::Impl const& plan, ReadRequest const& request, MemoryBudget& budget)
      : plan_(plan), request_(request), budget_(budget) {}

  // Of a band (from 1); null when its mask is not of pixels of its own. Valid until the next call.
  [[nodiscard]] HostArray const* of(std::uint32_t band) {
    MaskKind const kind = plan_.dataset->info.bands[band - 1].mask;
    LevelPtr const& level = mask_level(plan_);
    if ((kind == MaskKind::internal || kind == MaskKind::external) && level != nullptr) {
      std::uint32_t const mask_band = level->bands == 1 ? 1 : band;
      if (!image_mask_ || image_mask_band_ != mask_band) {
        image_mask_.reset();
        image_mask_.emplace(read_mask_band(plan_, mask_band, request_, budget_));
        image_mask_band_ = mask_band;
      }
      return &image_mask_->pixels;
    }
    if (kind != MaskKind::alpha) { return nullptr; }
    if (!alpha_) { alpha_.emplace(read_alpha(plan_, request_, budget_)); }
    return &alpha_->pixels;
  }

 private:
  ReadPlan::Impl const& plan_;
  ReadRequest const& request_;
  MemoryBudget& budget_;
  std::optional<Plane> image_mask_, alpha_;
  std::uint32_t image_mask_band_ = 0;
};

}  // namespace

void read_masks(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                MemoryBudget& budget) {
  SharedMasks shared(plan, request, budget);
  for (std::size_t i = 0; i < plan.bands.size(); ++i) {
    BandInfo const& band = plan.dataset->info.bands[plan.bands[i] - 1];
    if (HostArray const* const mask = shared.of(plan.bands[i])) {
      for (std::uint32_t row = 0; row < plan.out_height; ++row) {
        std::memcpy(row_of(destination, i, row), row_of(mask->view(), 0, row), plan.out_width);
      }
      continue;
    }
    if (band.mask != MaskKind::nodata) {
      for (std::uint32_t row = 0; row < plan.out_height; ++row) {
        std::memset(row_of(destination, i, row), 255, plan.out_width);
      }
      continue;
    }
    Plane const values = read_stored_band(plan, plan.bands[i], plan.fills[i], request, budget, "a band for its mask");
    tile::ValueTransform nodata;
    nodata.mask_nodata = band.nodata->representable;
    nodata.nodata = band.nodata->value;
    nodata.nodata_i64 = band.nodata->exact_i64;
    nodata.nodata_u64 = band.nodata->exact_u64;
    for (std::uint32_t row = 0; row < plan.out_height; ++row) {
      tile::valid_row(plan.level->dtype, row_of(values.pixels.view(), 0, row),
                      static_cast<std::ptrdiff_t>(size_bytes(plan.level->dtype)),
                      reinterpret_cast<std::uint8_t*>(row_of(destination, i, row)), destination.pixel_stride_bytes,
                      plan.out_width, nodata);
    }
  }
}

void apply_masks(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                 MemoryBudget& budget) {
  SharedMasks shared(plan, request, budget);
  for (std::size_t i = 0; i < plan.bands.size(); ++i) {
    HostArray const* const mask = shared.of(plan.bands[i]);
    if (mask == nullptr) { continue; }
    std::size_t const bytes = size_bytes(destination.dtype);
    std::byte invalid[16];
    tile::fill_row(destination.dtype, invalid, 0, 1, std::numeric_limits<double>::quiet_NaN());
    for (std::uint32_t row = 0; row < plan.out_height; ++row) {
      std::byte const* const valid = row_of(mask->view(), 0, row);
      std::byte* pixel = row_of(destination, i, row);
      for (std::uint32_t column = 0; column < plan.out_width; ++column) {
        if (valid[column] == std::byte{}) { std::memcpy(pixel, invalid, bytes); }
        pixel += destination.pixel_stride_bytes;
      }
    }
  }
}

}  // namespace terrazzo::reading
