// SPDX-License-Identifier: Apache-2.0
#include "write/row_window.hpp"

#include "base/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace terrazzo::writing {

RowWindow::RowWindow(FilePlan const& plan, std::uint32_t width, std::uint32_t room)
    : width_(width),
      room_(room),
      bands_(plan.options.bands),
      planes_(plan.planes),
      dtype_(plan.options.dtype),
      mask_(plan.options.mask),
      sample_bytes_(plan.sample_bytes()),
      row_bytes_(std::size_t{width} * plan.samples_per_block * plan.sample_bytes()) {}

LevelRows RowWindow::part(std::uint32_t first, std::uint32_t last) const noexcept {
  LevelRows rows;
  rows.first = first;
  std::size_t const skip = first - first_;
  bool const apart = planes_ > 1;
  rows.pixels.data = data_ + skip * row_bytes_;
  rows.pixels.dtype = dtype_;
  rows.pixels.bands = bands_;
  rows.pixels.height = last - first;
  rows.pixels.width = width_;
  rows.pixels.row_stride_bytes = static_cast<std::int64_t>(row_bytes_);
  rows.pixels.pixel_stride_bytes = static_cast<std::int64_t>(apart ? sample_bytes_ : sample_bytes_ * bands_);
  rows.pixels.band_stride_bytes = static_cast<std::int64_t>(apart ? plane_bytes(capacity_) : sample_bytes_);
  if (mask_) {
    rows.mask = {data_ + plane_bytes(capacity_) * planes_ + skip * width_,
                 DType::u8,
                 1,
                 last - first,
                 width_,
                 0,
                 static_cast<std::int64_t>(width_),
                 1};
  }
  return rows;
}

void RowWindow::move_rows(std::byte* to, std::uint32_t to_capacity, std::uint32_t skip) const {
  std::size_t const kept = count_ - skip;
  if (kept == 0) { return; }
  for (std::uint32_t plane = 0; plane < planes_; ++plane) {
    std::memmove(to + plane_bytes(to_capacity) * plane, data_ + plane_bytes(capacity_) * plane + skip * row_bytes_,
                 kept * row_bytes_);
  }
  if (mask_) {
    std::memmove(to + plane_bytes(to_capacity) * planes_,
                 data_ + plane_bytes(capacity_) * planes_ + std::size_t{skip} * width_, kept * width_);
  }
}

LevelRows RowWindow::append(std::uint32_t count) {
  if (count_ + count > capacity_) {
    std::uint32_t const capacity = std::max(count_ + count, room_);
    Scratch grown;
    std::byte* const data =
        grown.get(plane_bytes(capacity) * planes_ + (mask_ ? std::size_t{width_} * capacity : 0)).data();
    move_rows(data, capacity, 0);
    memory_ = std::move(grown);
    data_ = data;
    capacity_ = capacity;
  }
  count_ += count;
  return part(end() - count, end());
}

void RowWindow::append(LevelRows const& from, std::uint32_t first, std::uint32_t last, unsigned threads) {
  LevelRows const to = append(last - first);
  bool const packed = from.pixels.pixel_stride_bytes == to.pixels.pixel_stride_bytes &&
                      (bands_ == 1 || planes_ > 1 || from.pixels.band_stride_bytes == to.pixels.band_stride_bytes);
  auto const copy_row = [&](std::uint32_t row) {
    auto const* const source =
        static_cast<std::byte const*>(from.pixels.data) + std::int64_t{row - from.first} * from.pixels.row_stride_bytes;
    auto* const target =
        static_cast<std::byte*>(to.pixels.data) + std::int64_t{row - first} * to.pixels.row_stride_bytes;
    for (std::uint32_t band = 0; band < (packed && planes_ == 1 ? 1 : bands_); ++band) {
      std::byte const* const a = source + std::int64_t{band} * from.pixels.band_stride_bytes;
      std::byte* const b = target + std::int64_t{band} * to.pixels.band_stride_bytes;
      if (packed) {
        std::memcpy(b, a, row_bytes_);
        continue;
      }
      for (std::uint32_t x = 0; x < width_; ++x) {
        std::memcpy(b + std::int64_t{x} * to.pixels.pixel_stride_bytes,
                    a + std::int64_t{x} * from.pixels.pixel_stride_bytes, sample_bytes_);
      }
    }
    if (!mask_) { return; }
    auto const* const mask =
        static_cast<std::byte const*>(from.mask.data) + std::int64_t{row - from.first} * from.mask.row_stride_bytes;
    auto* const out = static_cast<std::byte*>(to.mask.data) + std::int64_t{row - first} * to.mask.row_stride_bytes;
    for (std::uint32_t x = 0; x < width_; ++x) { out[x] = mask[std::int64_t{x} * from.mask.pixel_stride_bytes]; }
  };
  // A thread for every few MiB: a copy of less is done before another thread has begun.
  constexpr std::size_t kGrainBytes = std::size_t{4} << 20;
  std::size_t const bytes = row_bytes_ * planes_ * (last - first);
  auto const workers = static_cast<unsigned>(std::clamp<std::size_t>(bytes / kGrainBytes, 1, threads));
  std::atomic<std::uint32_t> next{first};
  run_on_pool(workers, [&](unsigned) {
    for (std::uint32_t row = next++; row < last; row = next++) { copy_row(row); }
  });
}

void RowWindow::drop_before(std::uint32_t row) {
  if (row <= first_) { return; }
  std::uint32_t const skip = std::min(row - first_, count_);
  move_rows(data_, capacity_, skip);
  first_ += skip;
  count_ -= skip;
}

}  // namespace terrazzo::writing
