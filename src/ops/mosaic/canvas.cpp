// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/canvas.hpp"

#include "base/saturating.hpp"

#include <algorithm>
#include <cstring>

namespace terrazzo::ops {
namespace {

constexpr char const* kRows = "rows of the mosaic";

std::uint64_t mean_bytes(PixelFormat const& format) noexcept {
  return std::uint64_t{format.bands} * sizeof(double) + std::uint64_t{format.valid_planes} * sizeof(std::uint32_t);
}

template <class T>
std::span<T> part(HostArray& array, std::uint32_t band, std::uint32_t row, std::uint32_t column, std::uint32_t count) {
  return array.view<T>().row(band, row).subspan(column, count);
}

}  // namespace

Patch::Patch(PixelFormat const& format, std::uint32_t height, std::uint32_t width, MemoryBudget& budget)
    : format_(format),
      reservation_(budget.reserve(saturating_product(format.pixel_bytes(), height, width), kRows)),
      samples_(format.dtype, format.bands, height, width),
      valid_(DType::u8, format.valid_planes, height, width) {}

HostView Patch::view(std::uint32_t column, std::uint32_t row, std::uint32_t width, std::uint32_t height) {
  HostView view = samples_.view();
  auto const sample = static_cast<std::int64_t>(size_bytes(format_.dtype));
  if (format_.interleaved) {
    view.band_stride_bytes = sample;
    view.pixel_stride_bytes = sample * format_.bands;
    view.row_stride_bytes = view.pixel_stride_bytes * view.width;
  }
  view.data = static_cast<std::byte*>(view.data) + row * view.row_stride_bytes + column * view.pixel_stride_bytes;
  view.width = width;
  view.height = height;
  return view;
}

SampleRow Patch::samples(std::uint32_t band, std::uint32_t row, std::uint32_t column) {
  HostView const at = view(column, row, 1, 1);
  return {static_cast<std::byte*>(at.data) + band * at.band_stride_bytes, at.pixel_stride_bytes};
}

std::span<std::uint8_t> Patch::valid(std::uint32_t plane, std::uint32_t row, std::uint32_t column,
                                     std::uint32_t count) {
  return part<std::uint8_t>(valid_, plane, row, column, count);
}

std::uint64_t Canvas::pixel_bytes(PixelFormat const& format, MosaicRule rule) noexcept {
  return format.pixel_bytes() + (rule == MosaicRule::mean ? mean_bytes(format) : 0);
}

Canvas::Canvas(PixelFormat const& format, MosaicRule rule, std::uint32_t rows, std::uint32_t width,
               MemoryBudget& budget)
    : rule_(rule), patch_(format, rows, width, budget) {
  if (rule != MosaicRule::mean) { return; }
  reservation_ = budget.reserve(saturating_product(mean_bytes(format), rows, width), kRows);
  sums_.emplace(DType::f64, format.bands, rows, width);
  counts_.emplace(DType::u32, format.valid_planes, rows, width);
}

std::span<double> Canvas::sums(std::uint32_t band, std::uint32_t row, std::uint32_t column, std::uint32_t count) {
  return part<double>(*sums_, band, row, column, count);
}

std::span<std::uint32_t> Canvas::counts(std::uint32_t plane, std::uint32_t row, std::uint32_t column,
                                        std::uint32_t count) {
  return part<std::uint32_t>(*counts_, plane, row, column, count);
}

void Canvas::clear(std::span<std::byte const> fill) {
  std::span<std::byte> const bytes = patch_.bytes();
  std::memcpy(bytes.data(), fill.data(), fill.size());
  // Each copy doubles the filled part.
  for (std::size_t filled = fill.size(); filled < bytes.size();) {
    std::size_t const more = std::min(filled, bytes.size() - filled);
    std::memcpy(bytes.data() + filled, bytes.data(), more);
    filled += more;
  }
  std::ranges::fill(patch_.valid_bytes(), std::byte{0});
  if (sums_) {
    std::ranges::fill(sums_->bytes(), std::byte{0});
    std::ranges::fill(counts_->bytes(), std::byte{0});
  }
}

void Canvas::compose(Patch& from, std::uint32_t from_row, std::uint32_t row, std::uint32_t column) {
  PixelFormat const& format = patch_.format();
  std::uint32_t const width = from.width();
  for (std::uint32_t band = 0; band < format.bands; ++band) {
    auto const theirs = from.valid(from.plane_of(band), from_row, 0, width);
    SampleRow const samples = from.samples(band, from_row, 0);
    bool const is_alpha = format.alpha == band;
    if (sums_ && !is_alpha) {
      add_row(format.dtype, samples, theirs, sums(band, row, column, width));
      continue;
    }
    bool const copies = rule_ == MosaicRule::first || rule_ == MosaicRule::last;
    MosaicRule const rule = copies ? MosaicRule::first : is_alpha ? MosaicRule::maximum : rule_;
    compose_row(rule, format.dtype, samples, theirs, patch_.samples(band, row, column),
                patch_.valid(patch_.plane_of(band), row, column, width));
  }
  for (std::uint32_t plane = 0; plane < format.valid_planes; ++plane) {
    auto const theirs = from.valid(plane, from_row, 0, width), ours = patch_.valid(plane, row, column, width);
    for (std::uint32_t i = 0; i < width; ++i) { ours[i] |= theirs[i]; }
    if (!counts_) { continue; }
    auto const number = counts(plane, row, column, width);
    for (std::uint32_t i = 0; i < width; ++i) { number[i] += theirs[i] != 0 ? 1 : 0; }
  }
}

void Canvas::finish_row(std::uint32_t row) {
  PixelFormat const& format = patch_.format();
  std::uint32_t const width = patch_.width();
  for (std::uint32_t band = 0; sums_ && band < format.bands; ++band) {
    if (format.alpha == band) { continue; }
    store_means(format.dtype, sums(band, row, 0, width), counts(patch_.plane_of(band), row, 0, width),
                patch_.samples(band, row, 0));
  }
  auto const all = patch_.valid(0, row, 0, width);
  for (std::uint32_t plane = 1; plane < format.valid_planes; ++plane) {
    auto const one = patch_.valid(plane, row, 0, width);
    for (std::uint32_t i = 0; i < width; ++i) { all[i] |= one[i]; }
  }
}

bool Canvas::is_complete(std::uint32_t column, std::uint32_t row, std::uint32_t width, std::uint32_t height) {
  for (std::uint32_t plane = 0; plane < patch_.format().valid_planes; ++plane) {
    for (std::uint32_t y = row; y < row + height; ++y) {
      auto const valid = patch_.valid(plane, y, column, width);
      if (std::ranges::find(valid, std::uint8_t{0}) != valid.end()) { return false; }
    }
  }
  return true;
}

}  // namespace terrazzo::ops
