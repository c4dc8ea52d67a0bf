// SPDX-License-Identifier: Apache-2.0
//
// Rows of a read on their way to a Writer of a larger raster: missing pixels around them.
#pragma once

#include "terrazzo/blocks.hpp"
#include "terrazzo/convert.hpp"
#include "terrazzo/write.hpp"

#include <cstdint>
#include <optional>

namespace terrazzo::ops {

// True if readers can tell missing pixels from data: by nodata, a mask or an alpha band.
[[nodiscard]] bool marks_missing_pixels(WriteOptions const& options) noexcept;

class FramedRows {
 public:
  // Rows of `width` pixels, in this order of samples. A pixel of the margins has `options.nodata`, otherwise 0, and is
  // invalid in the mask.
  FramedRows(Margins const& margins, std::uint32_t width, RowBlocks::Order order, WriteOptions const& options,
             Writer& writer);

  // Writes the next rows; `mask` is used with WriteOptions::mask.
  void write(HostView const& pixels, HostView const& mask);
  // Writes the lower margin.
  void finish();

 private:
  // The rows that are written together, with the margins at their sides filled.
  struct Slab {
    HostArray pixels, mask;
  };

  void make_slab();
  void write_empty(std::uint32_t rows);
  void write_slab(std::uint32_t rows);
  [[nodiscard]] HostView pixel_rows(std::uint32_t rows);

  Margins margins_;
  std::uint32_t inner_width_;
  RowBlocks::Order order_;
  WriteOptions const& options_;
  Writer& writer_;
  std::uint32_t slab_rows_ = 0;
  std::optional<Slab> slab_;  // empty without margins
  bool has_begun_ = false;
};

}  // namespace terrazzo::ops
