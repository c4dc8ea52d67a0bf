// SPDX-License-Identifier: Apache-2.0
#include "read/mask.hpp"

#include "base/saturating.hpp"
#include "base/text.hpp"
#include "read/host_engine.hpp"
#include "read/read_report.hpp"
#include "read/resample.hpp"
#include "tile/convert.hpp"

#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace terrazzo::reading {

namespace {

std::byte* row_of(HostView const& view, std::size_t band, std::uint32_t row) {
  return static_cast<std::byte*>(view.data) + static_cast<std::int64_t>(band) * view.band_stride_bytes +
         static_cast<std::int64_t>(row) * view.row_stride_bytes;
}

// One band of the plan's size, under the budget.
struct Plane {
  Plane(DType dtype, ReadPlan::Impl const& plan, MemoryBudget& budget, char const* what)
      : reservation(budget.reserve(saturating_product(size_bytes(dtype), plan.out_width, plan.out_height), what)),
        pixels(dtype, 1, plan.out_height, plan.out_width) {}
  MemoryBudget::Reservation reservation;
  HostArray pixels;
};

// One band (from 1) of the mask image, for the whole window.
std::shared_ptr<ReadPlan::Impl const> plan_mask(ReadPlan::Impl const& plan, std::uint32_t band,
                                                ReadRequest const& request) {
  LevelPtr const& level = plan.mask_level();
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
  return make_level_plan(plan.dataset, level, band, std::move(like));
}

// One band (from 1) as it is stored, of the plan's window and size.
ReadPlan::Impl plan_stored(ReadPlan::Impl const& plan, std::uint32_t band, double fill) {
  ReadPlan::Impl one = plan;
  one.bands = {band};
  one.transforms.assign(1, {});
  one.fills.assign(1, fill);
  one.dtype = plan.level->dtype;
  if (plan.level->has_band_planes()) { one.planes = {band - 1}; }
  return one;
}

// MaskKind::alpha: it is the last.
std::uint32_t alpha_band(ReadPlan::Impl const& plan) {
  return static_cast<std::uint32_t>(plan.dataset->info.bands.size());
}

// Several plans, executed one after the other for one caller: one progress and one report over all.
class JointRead {
 public:
  JointRead(ReadRequest const& request, MemoryBudget& budget, ReadReport& report)
      : request_(request), budget_(budget), report_(report) {}

  // Of every plan that will be executed, before the first one is.
  void expect(std::uint64_t blocks) { total_blocks_ += blocks; }

  // `what` begins the messages of bad tiles.
  void execute(ReadPlan::Impl const& plan, HostView const& destination, std::string const& what) {
    ReadRequest part;
    part.bad_tile = request_.bad_tile;
    part.strict = request_.strict;
    part.cancel = request_.cancel;
    if (request_.progress) {
      part.progress = [this](std::uint64_t done, std::uint64_t) {
        return request_.progress(blocks_before_ + done, total_blocks_);
      };
    }
    ReadReport found;
    execute_on_host(plan, part, destination, budget_, found);
    std::vector<BadTileReport> bad_tiles = std::exchange(found.bad_tiles, {});
    add_report(report_, std::move(found));
    for (BadTileReport& bad : bad_tiles) {
      bad.message.insert(0, what);
      // Bands that share tiles find the same ones bad.
      if (seen_.emplace(bad.tile.plane, bad.tile.row, bad.tile.column, bad.message).second) {
        report_.bad_tiles.push_back(std::move(bad));
      }
    }
    blocks_before_ += plan.block_count();
  }

 private:
  ReadRequest const& request_;
  MemoryBudget& budget_;
  ReadReport& report_;
  std::uint64_t blocks_before_ = 0, total_blocks_ = 0;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string>> seen_;  // bad tiles
};

// "mask (IFD 1): ": a tile of the mask must not be taken for the one of the image that has its place.
std::string mask_prefix(Level const& level) {
  return level.external ? text("mask (", level.source->name(), ", IFD ", level.image.ifd, "): ")
                        : text("mask (IFD ", level.image.ifd, "): ");
}

// Where the validity of a band's pixels comes from, when it is not of its own values.
enum class MaskSource : std::uint8_t { none, image, alpha };

MaskSource source_of(ReadPlan::Impl const& plan, std::uint32_t band) {
  if (plan.mask_level() != nullptr) { return MaskSource::image; }
  return plan.dataset->info.bands[band - 1].mask == MaskKind::alpha ? MaskSource::alpha : MaskSource::none;
}

// Masks that bands have in common, read when the first band asks.
class SharedMasks {
 public:
  SharedMasks(ReadPlan::Impl const& plan, ReadRequest const& request, MemoryBudget& budget, JointRead& joint)
      : plan_(plan), request_(request), budget_(budget), joint_(joint) {
    // The same steps as of() takes, without the pixels.
    std::uint32_t held = 0;
    bool has_alpha = false;
    for (std::uint32_t const band : plan.bands) {
      MaskSource const source = source_of(plan, band);
      if (source == MaskSource::image && held != mask_band(band)) {
        held = mask_band(band);
        joint.expect(plan_mask(plan, held, request)->block_count());
      } else if (source == MaskSource::alpha && !std::exchange(has_alpha, true)) {
        joint.expect(plan_stored(plan, alpha_band(plan), 0).block_count());
      }
    }
  }

  // Of a band (from 1); null when its mask is not of pixels of its own. Valid until the next call.
  [[nodiscard]] HostArray const* of(std::uint32_t band) {
    switch (source_of(plan_, band)) {
      case MaskSource::none: return nullptr;
      case MaskSource::alpha:
        if (!alpha_) { alpha_.emplace(read_alpha()); }
        return &alpha_->pixels;
      case MaskSource::image: break;
    }
    if (!image_mask_ || image_mask_band_ != mask_band(band)) {
      image_mask_.reset();
      image_mask_band_ = mask_band(band);
      image_mask_.emplace(read_image_mask());
    }
    return &image_mask_->pixels;
  }

 private:
  // The band of the mask image that serves a band.
  [[nodiscard]] std::uint32_t mask_band(std::uint32_t band) const { return plan_.mask_level()->bands == 1 ? 1 : band; }

  Plane read_image_mask() {
    auto const mask_plan = plan_mask(plan_, image_mask_band_, request_);
    Plane mask(DType::u8, plan_, budget_, "a mask");
    joint_.execute(*mask_plan, mask.pixels.view(), mask_prefix(*mask_plan->level));
    for (std::byte& pixel : mask.pixels.bytes()) { pixel = pixel == std::byte{} ? std::byte{} : std::byte{255}; }
    return mask;
  }

  // Valid where alpha is not 0.
  Plane read_alpha() {
    DType const dtype = plan_.level->dtype;
    Plane values(dtype, plan_, budget_, "the alpha band");
    joint_.execute(plan_stored(plan_, alpha_band(plan_), 0), values.pixels.view(), "");
    Plane mask(DType::u8, plan_, budget_, "a mask");
    tile::ValueTransform zero_is_invalid;
    zero_is_invalid.mask_nodata = true;
    std::span<std::byte> const valid = mask.pixels.bytes();
    tile::valid_row(dtype, values.pixels.bytes().data(), static_cast<std::ptrdiff_t>(size_bytes(dtype)),
                    reinterpret_cast<std::uint8_t*>(valid.data()), 1, valid.size(), zero_is_invalid);
    return mask;
  }

  ReadPlan::Impl const& plan_;
  ReadRequest const& request_;
  MemoryBudget& budget_;
  JointRead& joint_;
  std::optional<Plane> image_mask_, alpha_;
  std::uint32_t image_mask_band_ = 0;
};

void invalidate(HostArray const& mask, ReadPlan::Impl const& plan, HostView const& destination, std::size_t band) {
  std::size_t const bytes = size_bytes(destination.dtype);
  std::byte invalid[16];
  tile::store_missing(destination.dtype, invalid, plan.missing_value());
  for (std::uint32_t row = 0; row < plan.out_height; ++row) {
    std::byte const* const valid = row_of(mask.view(), 0, row);
    std::byte* pixel = row_of(destination, band, row);
    for (std::uint32_t column = 0; column < plan.out_width; ++column) {
      if (valid[column] == std::byte{}) { std::memcpy(pixel, invalid, bytes); }
      pixel += destination.pixel_stride_bytes;
    }
  }
}

// The mask of a band (the index-th of the plan) that nodata makes.
void mask_by_nodata(ReadPlan::Impl const& plan, std::size_t index, HostView const& destination, MemoryBudget& budget,
                    JointRead& joint) {
  BandInfo const& band = plan.dataset->info.bands[plan.bands[index] - 1];
  DType const dtype = plan.level->dtype;
  Plane values(dtype, plan, budget, "a band for its mask");
  joint.execute(plan_stored(plan, plan.bands[index], plan.fills[index]), values.pixels.view(), "");
  tile::ValueTransform nodata;
  nodata.mask_nodata = band.nodata->representable;
  nodata.nodata = band.nodata->value;
  nodata.nodata_i64 = band.nodata->exact_i64;
  nodata.nodata_u64 = band.nodata->exact_u64;
  for (std::uint32_t row = 0; row < plan.out_height; ++row) {
    tile::valid_row(dtype, row_of(values.pixels.view(), 0, row), static_cast<std::ptrdiff_t>(size_bytes(dtype)),
                    reinterpret_cast<std::uint8_t*>(row_of(destination, index, row)), destination.pixel_stride_bytes,
                    plan.out_width, nodata);
  }
}

}  // namespace

void read_masks(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                MemoryBudget& budget, ReadReport& report) {
  JointRead joint(request, budget, report);
  SharedMasks shared(plan, request, budget, joint);
  auto const by_nodata = [&](std::uint32_t band) {
    // Also of a level without a mask image, where full resolution has one.
    auto const& nodata = plan.dataset->info.bands[band - 1].nodata;
    return source_of(plan, band) == MaskSource::none && nodata && nodata->representable;
  };
  for (std::uint32_t const band : plan.bands) {
    if (by_nodata(band)) { joint.expect(plan_stored(plan, band, 0).block_count()); }
  }
  for (std::size_t i = 0; i < plan.bands.size(); ++i) {
    if (by_nodata(plan.bands[i])) {
      mask_by_nodata(plan, i, destination, budget, joint);
      continue;
    }
    HostArray const* const mask = shared.of(plan.bands[i]);
    for (std::uint32_t row = 0; row < plan.out_height; ++row) {
      std::byte* const to = row_of(destination, i, row);
      if (mask != nullptr) {
        std::memcpy(to, row_of(mask->view(), 0, row), plan.out_width);
      } else {
        std::memset(to, 255, plan.out_width);
      }
    }
  }
}

void execute_masked(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                    MemoryBudget& budget, ReadReport& report) {
  JointRead joint(request, budget, report);
  joint.expect(plan.block_count());
  SharedMasks shared(plan, request, budget, joint);
  joint.execute(plan, destination, "");
  for (std::size_t i = 0; i < plan.bands.size(); ++i) {
    if (HostArray const* const mask = shared.of(plan.bands[i])) { invalidate(*mask, plan, destination, i); }
  }
}

}  // namespace terrazzo::reading
