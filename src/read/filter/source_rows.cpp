// SPDX-License-Identifier: Apache-2.0
#include "read/filter/source_rows.hpp"

#include "base/saturating.hpp"
#include "read/host/engine.hpp"
#include "read/mask.hpp"
#include "read/read_job.hpp"
#include "read/read_report.hpp"
#include "tile/convert.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

namespace terrazzo::reading {
namespace {

bool is_masked_by_alpha(ReadPlan::Impl const& plan) {
  return std::ranges::any_of(plan.bands,
                             [&](std::uint32_t band) { return source_of(plan, band) == MaskSource::alpha; });
}

HostView rows_of(HostArray& array, std::uint32_t band, std::uint32_t bands, std::uint32_t first, std::uint32_t count) {
  HostView view = array.view();
  view.data = static_cast<std::byte*>(view.data) + band * view.band_stride_bytes + first * view.row_stride_bytes;
  view.bands = bands;
  view.height = count;
  return view;
}

ConstHostView rows_of(HostArray const& array, std::uint32_t band, std::uint32_t count) {
  ConstHostView view = array.view();
  view.data = static_cast<std::byte const*>(view.data) + band * view.band_stride_bytes;
  view.bands = 1;
  view.height = count;
  return view;
}

// Keeps the rows from `dropped` on: moves them to the front.
void drop_rows(HostArray& array, std::uint32_t dropped, std::uint32_t kept) {
  HostView const view = array.view();
  auto const row_bytes = static_cast<std::size_t>(view.row_stride_bytes);
  for (std::uint32_t band = 0; band < view.bands; ++band) {
    std::byte* const rows = static_cast<std::byte*>(view.data) + band * view.band_stride_bytes;
    std::memmove(rows, rows + dropped * row_bytes, kept * row_bytes);
  }
}

// Alpha as a weight of 0 to 255, as GDAL's masks have it: scaled from 16 bits, where only 0 becomes 0.
void weigh_alpha(DType dtype, std::byte const* alpha, std::uint8_t* out, std::size_t count) {
  if (dtype == DType::u8) {
    std::memcpy(out, alpha, count);
  } else if (dtype == DType::u16) {
    auto const* const values = reinterpret_cast<std::uint16_t const*>(alpha);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t const scaled = values[i] * 255U / 65535U;
      out[i] = static_cast<std::uint8_t>(values[i] != 0 && scaled == 0 ? 1U : scaled);
    }
  } else {
    tile::ValueTransform zero_is_invalid;
    zero_is_invalid.mask_nodata = true;
    tile::valid_row(dtype, alpha, static_cast<std::ptrdiff_t>(size_bytes(dtype)), out, 1, count, zero_is_invalid);
  }
}

// The pixel of a mask of full resolution under the centre of each of `count` pixels of a level, from `first` on.
std::vector<std::uint32_t> under_centres(std::uint32_t first, std::uint32_t count, std::uint32_t full,
                                         std::uint32_t size) {
  double const ratio = static_cast<double>(full) / size;
  std::vector<std::uint32_t> at(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    at[i] = static_cast<std::uint32_t>(std::min((first + i + 0.5) * ratio, full - 1.0));
  }
  return at;
}

}  // namespace

SourceRows::SourceRows(ReadPlan::Impl const& plan, Window const& window, std::uint32_t rows, MemoryBudget& budget)
    : stored_(plan), window_(window), mask_level_(plan.mask_level()), budget_(budget) {
  stored_.filter.reset();
  stored_.dtype = plan.level->dtype;
  stored_.transforms.assign(plan.bands.size(), {});
  for (std::uint32_t const band : plan.bands) {
    MaskSource const source = source_of(plan, band);
    if (source == MaskSource::none) {
      mask_of_band_.emplace_back();
      continue;
    }
    Mask const mask{source == MaskSource::alpha, source == MaskSource::alpha ? 0 : mask_band(plan, band)};
    auto const known = std::ranges::find_if(
        masks_, [&](Mask const& other) { return other.is_alpha == mask.is_alpha && other.band == mask.band; });
    mask_of_band_.emplace_back(static_cast<std::size_t>(known - masks_.begin()));
    if (known == masks_.end()) { masks_.push_back(mask); }
  }
  if (is_masked_by_alpha(plan)) {
    stored_.bands.push_back(static_cast<std::uint32_t>(plan.dataset->info.bands.size()));
    stored_.transforms.emplace_back();
    stored_.fills.push_back(0);
  }
  auto const bands = static_cast<std::uint32_t>(stored_.bands.size());
  auto const masks = static_cast<std::uint32_t>(masks_.size());
  reservation_ = budget.reserve(saturating_product(pixel_bytes(plan), rows, window.width), "rows to resample");
  pixels_.emplace(stored_.dtype, bands, rows, window.width);
  if (masks != 0) { mask_rows_.emplace(DType::u8, masks, rows, window.width); }
}

std::uint64_t SourceRows::pixel_bytes(ReadPlan::Impl const& plan) {
  // One mask byte for each band is more than enough.
  return (plan.bands.size() + 1) * (size_bytes(plan.level->dtype) + 1);
}

void SourceRows::provide(std::uint32_t first, std::uint32_t last, ReadRequest const& request, ReadReport& report) {
  std::uint32_t const rows = pixels_->height();
  std::uint32_t const dropped = std::min(first, end_) - std::min(first_, end_);
  if (dropped > 0 && last > end_) {
    drop_rows(*pixels_, dropped, end_ - first_ - dropped);
    if (mask_rows_) { drop_rows(*mask_rows_, dropped, end_ - first_ - dropped); }
    first_ += dropped;
  }
  if (first > end_) { first_ = end_ = first; }
  if (last <= end_) { return; }
  // As many rows as fit, in whole block rows.
  std::uint32_t const room = std::min(first_ + rows, window_.height);
  std::uint32_t const block = stored_.level->image.block_height_px;
  std::uint32_t const whole = (window_.row + room) / block * block;
  std::uint32_t const upto = room == window_.height || whole < window_.row + last ? room : whole - window_.row;
  read_rows(end_, upto, request, report);
  end_ = upto;
}

void SourceRows::read_rows(std::uint32_t first, std::uint32_t last, ReadRequest const& request, ReadReport& report) {
  Window const part{window_.column, window_.row + first, window_.width, last - first};
  std::vector<std::size_t> bands(stored_.bands.size());
  std::iota(bands.begin(), bands.end(), std::size_t{0});
  ReadJob const job{make_part_plan(stored_, part, bands)};
  HostView const rows = rows_of(*pixels_, 0, pixels_->bands(), first - first_, part.height);
  ReadReport found;
  HostEngine(request, rows, budget_).execute({&job, 1}, found);
  add_report(report, std::move(found));
  for (std::size_t mask = 0; mask < masks_.size(); ++mask) {
    HostView const mask_rows = rows_of(*mask_rows_, static_cast<std::uint32_t>(mask), 1, first - first_, part.height);
    if (!masks_[mask].is_alpha) {
      read_mask(mask, part, mask_rows, request, report);
      continue;
    }
    HostView const alpha = rows_of(*pixels_, pixels_->bands() - 1, 1, first - first_, part.height);
    weigh_alpha(alpha.dtype, static_cast<std::byte const*>(alpha.data), static_cast<std::uint8_t*>(mask_rows.data),
                std::size_t{part.height} * part.width);
  }
}

void SourceRows::read_mask(std::size_t mask, Window const& part, HostView const& rows, ReadRequest const& request,
                           ReadReport& report) {
  LevelPtr const& level = mask_level_;
  ReadPlan::Impl like = stored_;
  like.bad_tile_prefix = mask_prefix(*level);
  like.window = part;
  like.out_width = part.width;
  like.out_height = part.height;
  if (level != stored_.level->mask) {
    tiff::Image const &full = level->image, &image = stored_.level->image;
    like.source_columns = under_centres(part.column, part.width, full.width_px, image.width_px);
    like.source_rows = under_centres(part.row, part.height, full.height_px, image.height_px);
    std::uint32_t const column = like.source_columns.front(), row = like.source_rows.front();
    like.window = {column, row, like.source_columns.back() - column + 1, like.source_rows.back() - row + 1};
    for (std::uint32_t& at : like.source_columns) { at -= column; }
    for (std::uint32_t& at : like.source_rows) { at -= row; }
  }
  ReadJob const job{make_level_plan(stored_.dataset, level, masks_[mask].band, std::move(like))};
  ReadReport found;
  HostEngine(request, rows, budget_).execute({&job, 1}, found);
  add_report(report, std::move(found));
  finish_mask(*level,
              {static_cast<std::byte*>(rows.data), std::size_t{part.height} * part.width});  // shades are weights
}

tile::ConstHostRows SourceRows::band(std::size_t index) const noexcept {
  tile::ConstHostRows rows;
  rows.first = first_;
  rows.pixels = rows_of(*pixels_, static_cast<std::uint32_t>(index), end_ - first_);
  if (mask_of_band_[index]) {
    rows.mask = rows_of(*mask_rows_, static_cast<std::uint32_t>(*mask_of_band_[index]), end_ - first_);
  }
  return rows;
}

}  // namespace terrazzo::reading
