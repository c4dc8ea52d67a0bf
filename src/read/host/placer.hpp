// SPDX-License-Identifier: Apache-2.0
//
// Copies finished rows to the caller's memory: any strides, any bands, with conversion of values.
#pragma once

#include "read/plan/plan.hpp"
#include "terrazzo/read.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::reading {

// True if the result of the read is larger than the caches. Such a result is evicted before its use, so it is written
// with stores that bypass the caches if possible.
[[nodiscard]] bool exceeds_caches(ReadPlan::Impl const& plan) noexcept;

class Placer {
 public:
  // `samples` and `pixel_bytes` describe finished pixels of a block; see RowLayout.
  Placer(ReadPlan::Impl const& plan, HostView const& destination, std::uint32_t samples, std::size_t pixel_bytes);

  // True if a finished row of a block is copied unchanged: same bytes, same order.
  [[nodiscard]] bool is_direct() const noexcept { return direct_; }
  // True if the result is larger than the caches: place() then bypasses them, and the caller calls fence() after a
  // block.
  [[nodiscard]] bool is_streaming() const noexcept { return streaming_; }
  void fence() const noexcept;
  // The destination of such a row. REQUIRES: is_direct().
  [[nodiscard]] std::byte* direct_row(std::uint32_t plane, std::uint32_t row, std::uint32_t column) const noexcept;

  // Places `count` pixels, starting at `pixels`, at (row, column) of the result. `plane` is the plane of the block.
  void place(std::uint32_t plane, std::uint32_t row, std::uint32_t column, std::byte const* pixels, std::size_t count);

  // True if the samples of a pixel are copied unchanged to separate planes.
  [[nodiscard]] bool takes_planes() const noexcept { return splits_pixels_; }
  // place() for samples that are made plane by plane: plane_rows() returns where to write those of `count` pixels, and
  // flush_plane_rows() completes them. REQUIRES: takes_planes().
  [[nodiscard]] std::span<std::byte* const> plane_rows(std::uint32_t row, std::uint32_t column, std::size_t count);
  void flush_plane_rows(std::uint32_t row, std::uint32_t column, std::size_t count) const noexcept;

  // Fills the pixels of a missing block.
  void fill(std::uint32_t plane, std::uint32_t row, std::uint32_t column, std::size_t count);

 private:
  [[nodiscard]] std::byte* at(std::size_t band, std::uint32_t row, std::uint32_t column) const noexcept;
  // Rows of a block are placed downwards: prefetches the destination of a later row.
  void prefetch_below(std::byte* to, std::uint32_t row, std::size_t bytes) const noexcept;
  // The requested bands that a block of `plane` holds, as indices into the request: all bands, or those of that plane.
  [[nodiscard]] std::span<std::uint32_t const> held_by(std::uint32_t plane) const noexcept;

  ReadPlan::Impl const& plan_;
  HostView const& destination_;
  DType from_;
  std::size_t pixel_bytes_;
  bool separate_;
  bool plain_;  // values need no conversion
  bool splits_pixels_;  // plain, with every sample of the pixel in order, to contiguous rows
  bool direct_;
  bool streaming_;
  std::vector<std::uint32_t> by_plane_;  // indices into plan_.bands, sorted by plane
  std::vector<std::array<std::byte, 16>> fills_;  // for each band, the pixel to write where the file has none
  std::vector<std::byte*> planes_;  // the result of plane_rows()
  std::vector<std::byte> streamed_rows_;  // their memory if streaming
};

}  // namespace terrazzo::reading
