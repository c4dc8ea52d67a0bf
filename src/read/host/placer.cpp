// SPDX-License-Identifier: Apache-2.0
#include "read/host/placer.hpp"

#include "tile/convert.hpp"
#include "tile/host/prefetch.hpp"
#include "tile/host/split_pixels.hpp"
#include "tile/host/stream_copy.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace terrazzo::reading {

bool exceeds_caches(ReadPlan::Impl const& plan) noexcept {
  constexpr std::uint64_t kCacheBytes = 32u << 20;  // larger than the cache of one core
  return std::uint64_t{size_bytes(plan.dtype)} * plan.bands.size() * plan.out_height * plan.out_width >= kCacheBytes;
}

Placer::Placer(ReadPlan::Impl const& plan, HostView const& destination, std::uint32_t samples, std::size_t pixel_bytes)
    : plan_(plan),
      destination_(destination),
      from_(plan.level->dtype),
      pixel_bytes_(pixel_bytes),
      separate_(plan.level->has_band_planes()) {
  auto const bytes = static_cast<std::int64_t>(size_bytes(from_));
  plain_ = from_ == destination.dtype &&
           std::ranges::all_of(plan.transforms, [](tile::ValueTransform const& t) { return t.is_identity(); });
  bool all_in_order = plan.bands.size() == samples;
  for (std::size_t i = 0; i < plan.bands.size(); ++i) { all_in_order = all_in_order && plan.bands[i] == i + 1; }
  bool const tight_rows = destination.pixel_stride_bytes == bytes;
  splits_pixels_ = plain_ && !separate_ && samples > 1 && all_in_order && tight_rows;
  bool const same_pixels = samples == 1 ? tight_rows
                                        : all_in_order && destination.band_stride_bytes == bytes &&
                                              destination.pixel_stride_bytes == static_cast<std::int64_t>(pixel_bytes);
  // A band that is requested twice has two destinations, so its producer cannot write it directly.
  direct_ = plain_ && same_pixels && !plan.resampled() && (samples > 1 || plan.bands.size() == plan.planes.size());
  streaming_ = (direct_ || splits_pixels_) && exceeds_caches(plan);
  planes_.resize(plan.bands.size());
  fills_.resize(plan.bands.size());
  for (std::size_t i = 0; i < fills_.size(); ++i) { plan.fill_sample(i, fills_[i].data()); }
  by_plane_.resize(plan.bands.size());
  std::iota(by_plane_.begin(), by_plane_.end(), 0U);
  std::ranges::stable_sort(by_plane_, {}, [&](std::uint32_t i) { return separate_ ? plan_.bands[i] : 0; });
}

void Placer::fence() const noexcept {
  if (streaming_) { tile::fence_streamed_copies(); }
}

std::byte* Placer::at(std::size_t band, std::uint32_t row, std::uint32_t column) const noexcept {
  return static_cast<std::byte*>(destination_.data) + static_cast<std::int64_t>(band) * destination_.band_stride_bytes +
         static_cast<std::int64_t>(row) * destination_.row_stride_bytes +
         static_cast<std::int64_t>(column) * destination_.pixel_stride_bytes;
}

std::span<std::uint32_t const> Placer::held_by(std::uint32_t plane) const noexcept {
  if (!separate_) { return by_plane_; }
  auto const held = std::ranges::equal_range(by_plane_, plane + 1, {}, [&](std::uint32_t i) { return plan_.bands[i]; });
  return {held.begin(), held.end()};
}

std::byte* Placer::direct_row(std::uint32_t plane, std::uint32_t row, std::uint32_t column) const noexcept {
  return at(held_by(plane).front(), row, column);
}

void Placer::prefetch_below(std::byte* to, std::uint32_t row, std::size_t bytes) const noexcept {
  if (std::uint64_t{row} + tile::kPrefetchedRows >= plan_.out_height) { return; }
  tile::prefetch_partial_lines(to + std::ptrdiff_t{tile::kPrefetchedRows} * destination_.row_stride_bytes, bytes);
}

void Placer::place(std::uint32_t plane, std::uint32_t row, std::uint32_t column, std::byte const* pixels,
                   std::size_t count) {
  if (direct_) {
    std::byte* const to = direct_row(plane, row, column);
    if (streaming_) {
      prefetch_below(to, row, count * pixel_bytes_);
      tile::copy_streaming(to, pixels, count * pixel_bytes_);
    } else {
      std::memcpy(to, pixels, count * pixel_bytes_);
    }
    return;
  }
  if (splits_pixels_) {
    tile::split_pixels(pixels, plane_rows(row, column, count), count, size_bytes(from_));
    flush_plane_rows(row, column, count);
    return;
  }
  for (std::uint32_t const band : held_by(plane)) {
    std::size_t const sample = separate_ ? 0 : plan_.bands[band] - 1;
    tile::convert_row(from_, pixels + sample * size_bytes(from_), static_cast<std::ptrdiff_t>(pixel_bytes_),
                      destination_.dtype, at(band, row, column), destination_.pixel_stride_bytes, count,
                      plan_.transforms[band]);
  }
}

std::span<std::byte* const> Placer::plane_rows(std::uint32_t row, std::uint32_t column, std::size_t count) {
  std::size_t const row_bytes = count * size_bytes(from_);
  if (streaming_) { streamed_rows_.resize(std::max(streamed_rows_.size(), row_bytes * planes_.size())); }
  for (std::size_t band = 0; band < planes_.size(); ++band) {
    std::byte* const to = at(band, row, column);
    planes_[band] = streaming_ ? streamed_rows_.data() + band * row_bytes : to;
    if (streaming_) { prefetch_below(to, row, row_bytes); }
  }
  return planes_;
}

void Placer::flush_plane_rows(std::uint32_t row, std::uint32_t column, std::size_t count) const noexcept {
  for (std::size_t band = 0; streaming_ && band < planes_.size(); ++band) {
    tile::copy_streaming(at(band, row, column), planes_[band], count * size_bytes(from_));
  }
}

void Placer::fill(std::uint32_t plane, std::uint32_t row, std::uint32_t column, std::size_t count) {
  for (std::uint32_t const band : held_by(plane)) {
    tile::convert_row(destination_.dtype, fills_[band].data(), 0, destination_.dtype, at(band, row, column),
                      destination_.pixel_stride_bytes, count, {});
  }
}

}  // namespace terrazzo::reading
