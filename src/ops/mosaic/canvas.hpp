// SPDX-License-Identifier: Apache-2.0
//
// Rows of a mosaic in memory, and the parts of inputs that are composed into them.
#pragma once

#include "base/memory_budget.hpp"
#include "ops/mosaic/compose.hpp"
#include "terrazzo/mosaic.hpp"
#include "terrazzo/read.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace terrazzo::ops {

struct PixelFormat {
  DType dtype = DType::u8;
  std::uint32_t bands = 1;
  bool interleaved = false;  // rows x columns x bands instead of bands x rows x columns
  std::uint32_t valid_planes = 1;  // one validity for all bands, or one for each
  std::optional<std::size_t> alpha{};  // index of the alpha band

  [[nodiscard]] std::uint64_t pixel_bytes() const noexcept {
    return std::uint64_t{bands} * size_bytes(dtype) + valid_planes;
  }
};

// A rectangle of samples with their validity; both are uninitialised at first.
class Patch {
 public:
  // Throws `limit`.
  Patch(PixelFormat const& format, std::uint32_t height, std::uint32_t width, MemoryBudget& budget);

  [[nodiscard]] PixelFormat const& format() const noexcept { return format_; }
  [[nodiscard]] std::uint32_t width() const noexcept { return valid_.width(); }
  [[nodiscard]] std::uint32_t height() const noexcept { return valid_.height(); }
  // Part of the samples, for reads and writes.
  [[nodiscard]] HostView view(std::uint32_t column, std::uint32_t row, std::uint32_t width, std::uint32_t height);
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return samples_.bytes(); }
  [[nodiscard]] std::span<std::byte> valid_bytes() noexcept { return valid_.bytes(); }

  [[nodiscard]] SampleRow samples(std::uint32_t band, std::uint32_t row, std::uint32_t column);
  [[nodiscard]] std::span<std::uint8_t> valid(std::uint32_t plane, std::uint32_t row, std::uint32_t column,
                                              std::uint32_t count);
  [[nodiscard]] std::uint32_t plane_of(std::uint32_t band) const noexcept {
    return format_.valid_planes == 1 ? 0 : band;
  }

 private:
  PixelFormat format_;
  MemoryBudget::Reservation reservation_;
  HostArray samples_, valid_;
};

// A band of rows over the full width of the mosaic. Thread rule: threads may compose different rows.
class Canvas {
 public:
  Canvas(PixelFormat const& format, MosaicRule rule, std::uint32_t rows, std::uint32_t width, MemoryBudget& budget);
  // Memory of a canvas, for each pixel.
  [[nodiscard]] static std::uint64_t pixel_bytes(PixelFormat const& format, MosaicRule rule) noexcept;

  [[nodiscard]] Patch& patch() noexcept { return patch_; }

  // Makes all pixels missing: samples of this value.
  void clear(std::span<std::byte const> fill);

  // Composes a row of a patch, beginning at `column` of `row`.
  void compose(Patch& from, std::uint32_t from_row, std::uint32_t row, std::uint32_t column);

  // Ends the composition of a row: computes means; makes one validity of those of the bands, in plane 0.
  void finish_row(std::uint32_t row);

  // True if all samples of the rectangle are valid.
  [[nodiscard]] bool is_complete(std::uint32_t column, std::uint32_t row, std::uint32_t width, std::uint32_t height);

 private:
  [[nodiscard]] std::span<double> sums(std::uint32_t band, std::uint32_t row, std::uint32_t column,
                                       std::uint32_t count);
  [[nodiscard]] std::span<std::uint32_t> counts(std::uint32_t plane, std::uint32_t row, std::uint32_t column,
                                                std::uint32_t count);

  MosaicRule rule_;
  Patch patch_;
  MemoryBudget::Reservation reservation_;
  std::optional<HostArray> sums_, counts_;  // for means
};

}  // namespace terrazzo::ops
