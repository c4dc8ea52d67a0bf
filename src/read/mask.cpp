// SPDX-License-Identifier: Apache-2.0
#include "read/mask.hpp"

#include "base/saturating.hpp"
#include "base/text.hpp"
#include "read/filter/filtered_read.hpp"
#include "read/host/engine.hpp"
#include "read/plan/resample.hpp"
#include "read/read_report.hpp"
#include "tile/convert.hpp"

#include <algorithm>
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

std::string mask_prefix(Level const& level) {
  return level.external ? text("mask (", level.source->name(), ", IFD ", level.image.ifd, "): ")
                        : text("mask (IFD ", level.image.ifd, "): ");
}

MaskSource source_of(ReadPlan::Impl const& plan, std::uint32_t band) {
  if (plan.mask_level() != nullptr) { return MaskSource::image; }
  return plan.dataset->info.bands[band - 1].mask == MaskKind::alpha ? MaskSource::alpha : MaskSource::none;
}

std::uint32_t mask_band(ReadPlan::Impl const& plan, std::uint32_t band) {
  return plan.mask_level()->bands == 1 ? 1 : band;
}

void finish_mask(Level const& level, std::span<std::byte> values) noexcept {
  if (level.image.bits >= 8) { return; }
  for (std::byte& value : values) { value = value == std::byte{} ? std::byte{} : std::byte{255}; }
}

namespace {

std::byte* row_of(HostView const& view, std::size_t band, std::uint32_t row) {
  return static_cast<std::byte*>(view.data) + static_cast<std::int64_t>(band) * view.band_stride_bytes +
         static_cast<std::int64_t>(row) * view.row_stride_bytes;
}

// One band of the plan's size, reserved in the budget.
struct Plane {
  Plane(DType dtype, ReadPlan::Impl const& plan, MemoryBudget& budget, char const* what)
      : reservation(budget.reserve(saturating_product(size_bytes(dtype), plan.out_width, plan.out_height), what)),
        pixels(dtype, 1, plan.out_height, plan.out_width) {}
  MemoryBudget::Reservation reservation;
  HostArray pixels;
};

// One band (from 1) of the mask image, for the whole window.
std::shared_ptr<ReadPlan::Impl const> plan_mask(ReadPlan::Impl const& plan, std::uint32_t band) {
  LevelPtr const& level = plan.mask_level();
  ReadPlan::Impl like = plan;
  like.bad_tile_prefix = mask_prefix(*level);
  if (level != plan.level->mask) {
    SourcePixels sampling =
        resample_from(*plan.dataset, 0, plan.asked_window,
                      {{plan.out_width, plan.out_height}, plan.grid_width, plan.grid_height, plan.placed});
    like.level_index = sampling.level;
    like.window = sampling.window;
    like.source_columns = std::move(sampling.columns);
    like.source_rows = std::move(sampling.rows);
  }
  return make_level_plan(plan.dataset, level, band, std::move(like));
}

// A plan for one band (from 1) in its stored type, with the plan's window and size.
ReadPlan::Impl plan_stored(ReadPlan::Impl const& plan, std::uint32_t band, double fill) {
  ReadPlan::Impl one = plan;
  one.bands = {band};
  one.transforms.assign(1, {});
  one.fills.assign(1, fill);
  one.dtype = plan.level->dtype;
  if (plan.level->has_band_planes()) { one.planes = {band - 1}; }
  return one;
}

// MaskKind::alpha: alpha is the last band.
std::uint32_t alpha_band(ReadPlan::Impl const& plan) {
  return static_cast<std::uint32_t>(plan.dataset->info.bands.size());
}

// Executes several plans one after the other for one caller, with one progress and one report.
class JointRead {
 public:
  JointRead(ReadRequest const& request, MemoryBudget& budget, ReadReport& report)
      : request_(request), budget_(budget), report_(report) {}

  // Call it for every plan before the first one is executed.
  void expect(std::uint64_t blocks) { total_blocks_ += blocks; }

  void execute(ReadPlan::Impl const& plan, HostView const& destination) {
    // The plan outlives the job: the pointer owns nothing.
    ReadJob const job{std::shared_ptr<ReadPlan::Impl const>(std::shared_ptr<void>(), &plan)};
    execute({&job, 1}, destination);
  }

  void execute(std::span<ReadJob const> jobs, HostView const& destination) {
    ReadRequest part;
    part.bad_tile = request_.bad_tile;
    part.strict = request_.strict;
    part.threads = request_.threads;
    part.cancel = request_.cancel;
    if (request_.progress) {
      part.progress = [this](std::uint64_t done, std::uint64_t) {
        return request_.progress(blocks_before_ + done, total_blocks_);
      };
    }
    ReadReport found;
    HostEngine(part, destination, budget_).execute(jobs, found);
    std::vector<BadTileReport> bad_tiles = std::exchange(found.bad_tiles, {});
    add_report(report_, std::move(found));
    for (BadTileReport& bad : bad_tiles) {
      // Bands that share tiles report the same bad tiles.
      if (seen_.emplace(bad.source, bad.tile.plane, bad.tile.row, bad.tile.column, bad.message).second) {
        report_.bad_tiles.push_back(std::move(bad));
      }
    }
    for (ReadJob const& job : jobs) { blocks_before_ += job.plan->block_count(); }
  }

 private:
  ReadRequest const& request_;
  MemoryBudget& budget_;
  ReadReport& report_;
  std::uint64_t blocks_before_ = 0, total_blocks_ = 0;
  std::set<std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, std::string>> seen_;  // bad tiles
};

// Marks alpha 0, or 0 in a mask image, as invalid.
tile::ValueTransform zero_is_invalid() {
  tile::ValueTransform transform;
  transform.mask_nodata = true;
  return transform;
}

// Masks shared by bands; each is read when the first band needs it.
class SharedMasks {
 public:
  SharedMasks(ReadPlan::Impl const& plan, MemoryBudget& budget, JointRead& joint)
      : plan_(plan), budget_(budget), joint_(joint) {
    // Follows the steps of of(), without reading pixels.
    std::uint32_t held = 0;
    bool has_alpha = false;
    for (std::uint32_t const band : plan.bands) {
      MaskSource const source = source_of(plan, band);
      if (source == MaskSource::image && held != mask_band(plan, band)) {
        held = mask_band(plan, band);
        joint.expect(plan_mask(plan, held)->block_count());
      } else if (source == MaskSource::alpha && !std::exchange(has_alpha, true)) {
        joint.expect(plan_stored(plan, alpha_band(plan), 0).block_count());
      }
    }
  }

  // The mask of a band (from 1); null if the band's own values determine its mask. Valid until the next call.
  [[nodiscard]] HostArray const* of(std::uint32_t band) {
    switch (source_of(plan_, band)) {
      case MaskSource::none: return nullptr;
      case MaskSource::alpha:
        if (!alpha_) { alpha_.emplace(read_alpha()); }
        return &alpha_->pixels;
      case MaskSource::image: break;
    }
    if (!image_mask_ || image_mask_band_ != mask_band(plan_, band)) {
      image_mask_.reset();
      image_mask_band_ = mask_band(plan_, band);
      image_mask_.emplace(read_image_mask());
    }
    return &image_mask_->pixels;
  }

 private:
  Plane read_image_mask() {
    auto const mask_plan = plan_mask(plan_, image_mask_band_);
    Plane mask(DType::u8, plan_, budget_, "a mask");
    joint_.execute(*mask_plan, mask.pixels.view());
    finish_mask(*plan_.mask_level(), mask.pixels.bytes());
    return mask;
  }

  // Valid where alpha is not 0.
  Plane read_alpha() {
    DType const dtype = plan_.level->dtype;
    Plane values(dtype, plan_, budget_, "the alpha band");
    joint_.execute(plan_stored(plan_, alpha_band(plan_), 0), values.pixels.view());
    Plane mask(DType::u8, plan_, budget_, "a mask");
    std::span<std::byte> const valid = mask.pixels.bytes();
    tile::valid_row(dtype, values.pixels.bytes().data(), static_cast<std::ptrdiff_t>(size_bytes(dtype)),
                    reinterpret_cast<std::uint8_t*>(valid.data()), 1, valid.size(), zero_is_invalid());
    return mask;
  }

  ReadPlan::Impl const& plan_;
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
    std::span<std::uint8_t const> const valid = mask.view<std::uint8_t>().row(0, row);
    std::byte* pixel = row_of(destination, band, row);
    for (std::uint32_t column = 0; column < plan.out_width; ++column) {
      if (valid[column] == 0) { std::memcpy(pixel, invalid, bytes); }
      pixel += destination.pixel_stride_bytes;
    }
  }
}

// A mask shared by bands of one of several jobs.
struct JobMask {
  std::size_t job = 0;
  MaskSource source = MaskSource::none;
  std::uint32_t band = 0;  // band of the mask image, or the alpha band
  std::shared_ptr<ReadPlan::Impl const> plan;

  [[nodiscard]] bool serves(ReadPlan::Impl const& pixels, std::uint32_t of_band) const {
    return source_of(pixels, of_band) == source && (source == MaskSource::alpha || mask_band(pixels, of_band) == band);
  }
};

std::vector<JobMask> masks_of(std::span<ReadJob const> jobs) {
  std::vector<JobMask> masks;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    ReadPlan::Impl const& plan = *jobs[j].plan;
    std::size_t const first = masks.size();
    for (std::uint32_t const band : plan.bands) {
      MaskSource const source = source_of(plan, band);
      bool const is_known = std::any_of(masks.begin() + static_cast<std::ptrdiff_t>(first), masks.end(),
                                        [&](JobMask const& mask) { return mask.serves(plan, band); });
      if (source == MaskSource::none || is_known) { continue; }
      if (source == MaskSource::image) {
        std::uint32_t const of_image = mask_band(plan, band);
        masks.push_back({j, source, of_image, plan_mask(plan, of_image)});
      } else {
        std::uint32_t const alpha = alpha_band(plan);
        masks.push_back({j, source, alpha, std::make_shared<ReadPlan::Impl const>(plan_stored(plan, alpha, 0))});
      }
    }
  }
  return masks;
}

// The number of leading masks that can be read together: one size and type, so that they are items of one array.
std::size_t count_alike(std::span<JobMask const> masks) {
  constexpr std::uint64_t kBytesAtOnce = 64u << 20;
  auto const shape = [](ReadPlan::Impl const& plan) { return std::tuple(plan.dtype, plan.out_width, plan.out_height); };
  ReadPlan::Impl const& first = *masks.front().plan;
  std::uint64_t const plane_bytes = saturating_product(size_bytes(first.dtype), first.out_width, first.out_height);
  std::uint64_t const most = std::max<std::uint64_t>(1, kBytesAtOnce / std::max<std::uint64_t>(1, plane_bytes));
  std::size_t count = 1;
  while (count < masks.size() && count < most && shape(*masks[count].plan) == shape(first)) { ++count; }
  return count;
}

// Writes the plan's missing value where `mask`, one band in its stored type, is 0.
void invalidate_where_zero(HostView const& mask, ReadPlan::Impl const& plan, HostView const& destination,
                           std::size_t band) {
  std::size_t const bytes = size_bytes(destination.dtype);
  std::byte invalid[16];
  tile::store_missing(destination.dtype, invalid, plan.missing_value());
  std::vector<std::uint8_t> valid(plan.out_width);
  for (std::uint32_t row = 0; row < plan.out_height; ++row) {
    tile::valid_row(mask.dtype, row_of(mask, 0, row), mask.pixel_stride_bytes, valid.data(), 1, valid.size(),
                    zero_is_invalid());
    std::byte* pixel = row_of(destination, band, row);
    for (std::uint32_t column = 0; column < plan.out_width; ++column) {
      if (valid[column] == 0) { std::memcpy(pixel, invalid, bytes); }
      pixel += destination.pixel_stride_bytes;
    }
  }
}

// Reads the masks, which have one size and type, and applies them.
void apply_masks(std::span<JobMask const> masks, std::span<ReadJob const> jobs, HostView const& result,
                 MemoryBudget& budget, JointRead& joint) {
  ReadPlan::Impl const& first = *masks.front().plan;
  auto const count = static_cast<std::uint32_t>(masks.size());
  auto const reservation =
      budget.reserve(saturating_product(count, size_bytes(first.dtype), first.out_width, first.out_height), "masks");
  HostArray planes(first.dtype, count, first.out_height, first.out_width);
  HostView plane = planes.view();
  plane.bands = 1;
  std::vector<ReadJob> reads;
  for (JobMask const& mask : masks) {
    reads.push_back({mask.plan, static_cast<std::int64_t>(reads.size()) * plane.band_stride_bytes});
  }
  joint.execute(reads, plane);
  for (std::size_t m = 0; m < masks.size(); ++m) {
    ReadJob const& job = jobs[masks[m].job];
    for (std::size_t i = 0; i < job.plan->bands.size(); ++i) {
      if (!masks[m].serves(*job.plan, job.plan->bands[i])) { continue; }
      invalidate_where_zero(part_of(plane, reads[m]), *job.plan, part_of(result, job), i);
    }
  }
}

// Makes the mask of a band (the index-th of the plan) from nodata.
void mask_by_nodata(ReadPlan::Impl const& plan, std::size_t index, HostView const& destination, MemoryBudget& budget,
                    JointRead& joint) {
  BandInfo const& band = plan.dataset->info.bands[plan.bands[index] - 1];
  DType const dtype = plan.level->dtype;
  Plane values(dtype, plan, budget, "a band for its mask");
  joint.execute(plan_stored(plan, plan.bands[index], plan.fills[index]), values.pixels.view());
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
  if (plan.filter) { return execute_filtered_masks(plan, request, destination, budget, report); }
  JointRead joint(request, budget, report);
  SharedMasks shared(plan, budget, joint);
  auto const by_nodata = [&](std::uint32_t band) {
    // Applies also to a level without a mask image if full resolution has one.
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
        std::memcpy(to, mask->view<std::uint8_t>().row(0, row).data(), plan.out_width);
      } else {
        std::memset(to, 255, plan.out_width);
      }
    }
  }
}

void execute_masked(std::span<ReadJob const> jobs, ReadRequest const& request, HostView const& result,
                    MemoryBudget& budget, ReadReport& report) {
  JointRead joint(request, budget, report);
  for (ReadJob const& job : jobs) { joint.expect(job.plan->block_count()); }
  if (jobs.size() == 1) {
    // Make the bands' masks one after the other, so that only one of them is held.
    ReadPlan::Impl const& plan = *jobs.front().plan;
    HostView const destination = part_of(result, jobs.front());
    SharedMasks shared(plan, budget, joint);
    joint.execute(plan, destination);
    for (std::size_t i = 0; i < plan.bands.size(); ++i) {
      if (HostArray const* const mask = shared.of(plan.bands[i])) { invalidate(*mask, plan, destination, i); }
    }
    return;
  }
  std::vector<JobMask> const masks = masks_of(jobs);
  for (JobMask const& mask : masks) { joint.expect(mask.plan->block_count()); }
  joint.execute(jobs, result);
  for (std::span<JobMask const> left = masks; !left.empty();) {
    std::size_t const count = count_alike(left);
    apply_masks(left.first(count), jobs, result, budget, joint);
    left = left.subspan(count);
  }
}

}  // namespace terrazzo::reading
