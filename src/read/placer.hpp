// SPDX-License-Identifier: Apache-2.0
//
// Puts finished rows where the caller wants them: any strides, any bands, converted on the way.
#pragma once

#include "read/plan.hpp"
#include "terrazzo/read.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::reading {

// True when the result of such a read is larger than the caches. Whoever asks for so much will not find it in a cache
// anyway, so it is written past them where that is possible.
[[nodiscard]] bool exceeds_caches(ReadPlan::Impl const& plan) noexcept;

class Placer {
 public:
  // `samples` and `pixel_bytes` describe finished pixels of a block; see BlockReader.
  Placer(ReadPlan::Impl const& plan, HostView const& destination, std::uint32_t samples, std::size_t pixel_bytes);

  // True when a finished row of a block goes to its place as it is: the same bytes in the same order.
  [[nodiscard]] bool is_direct() const noexcept { return direct_; }
  // True when the result is larger than the caches: place() then writes past them, and fence() must follow a block.
  [[nodiscard]] bool is_streaming() const noexcept { return streaming_; }
  void fence() const noexcept;
  // Where such a row goes. REQUIRES: is_direct().
  [[nodiscard]] std::byte* direct_row(std::uint32_t plane, std::uint32_t row, std::uint32_t column) const noexcept;

  // `count` pixels from `pixels` on go to the result at (row, column). `plane` is the block's.
  void place(std::uint32_t plane, std::uint32_t row, std::uint32_t column, std::byte const* pixels, std::size_t count);

  // True when the samples of a pixel go to planes of their own as they are.
  [[nodiscard]] bool takes_planes() const noexcept { return splits_pixels_; }
  // The same as place(), for samples that are made plane by plane: where to make those of `count` pixels, and the word
  // that they are made. REQUIRES: takes_planes().
  [[nodiscard]] std::span<std::byte* const> plane_rows(std::uint32_t row, std::uint32_t column, std::size_t count);
  void flush_plane_rows(std::uint32_t row, std::uint32_t column, std::size_t count) const noexcept;

  // Pixels of a missing block.
  void fill(std::uint32_t plane, std::uint32_t row, std::uint32_t column, std::size_t count);

 private:
  [[nodiscard]] std::byte* at(std::size_t band, std::uint32_t row, std::uint32_t column) const noexcept;
  // Rows of a block are placed downwards: what a coming one needs of the cache is asked for now.
  void prefetch_below(std::byte* to, std::uint32_t row, std::size_t bytes) const noexcept;
  // The bands of the request that a block of `plane` holds, by their places in it: all, or those of that plane.
  [[nodiscard]] std::span<std::uint32_t const> held_by(std::uint32_t plane) const noexcept;

  ReadPlan::Impl const& plan_;
  HostView const& destination_;
  DType from_;
  std::size_t pixel_bytes_;
  bool separate_;
  bool plain_;  // no conversion at all
  bool splits_pixels_;  // plain, every sample of the pixel in order, to contiguous rows
  bool direct_;
  bool streaming_;
  std::vector<std::uint32_t> by_plane_;  // places in plan_.bands, in the order of their planes
  std::vector<std::array<std::byte, 16>> fills_;  // a pixel of each band where the file has none
  std::vector<std::byte*> planes_;  // what plane_rows() gave
  std::vector<std::byte> streamed_rows_;  // where they are when streaming
};

}  // namespace terrazzo::reading
