// SPDX-License-Identifier: Apache-2.0
//
// Converts rows of pixels to the input of an encoder: cuts out one block, pads it (the last column is repeated, the
// last row only for transform codecs; other missing rows are zeros), replaces NaN by nodata, applies the predictor. The
// caller's pixels are never changed.
//
// Thread rule: a BlockCutter is immutable; scratch belongs to one thread at a time.
#pragma once

#include "base/scratch.hpp"
#include "terrazzo/read.hpp"
#include "write/overviews/reduction.hpp"
#include "write/plan/file_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::writing {

struct CutScratch {
  Scratch block{}, predicted{};
};

struct CutBlock {
  std::span<std::byte const> samples{};  // finished samples, before the predictor: encoded width, no padding rows
  std::span<std::byte const> encoded_input{};  // input of the encoder; the same bytes if there is no predictor
};

class BlockCutter {
 public:
  explicit BlockCutter(FilePlan const& plan);

  // `rows` of the level contain the block's rows. `keep_samples`: also return samples, for statistics and sparseness.
  [[nodiscard]] CutBlock cut(LevelPlan const& level, ConstHostRows const& rows, TileId block, bool keep_samples,
                             CutScratch& scratch) const;

  // One bit per pixel, most significant first; missing pixels are invalid.
  [[nodiscard]] std::span<std::byte const> cut_mask(LevelPlan const& level, ConstHostRows const& rows, TileId block,
                                                    CutScratch& scratch) const;

  // NaN becomes empty_sample().
  [[nodiscard]] bool replaces_nan() const noexcept { return replaces_nan_; }
  // The value of missing tiles: nodata, or 0.
  [[nodiscard]] std::span<std::byte const, 16> empty_sample() const noexcept { return empty_; }

  // True if every sample is nodata, or 0 if the file has no nodata.
  [[nodiscard]] bool is_empty(std::span<std::byte const> samples) const noexcept;

  // True if a lossy codec could change nodata into a valid value (LERC keeps only the smallest value of a block exact)
  // or a valid value into nodata.
  [[nodiscard]] bool would_blur_nodata(std::span<std::byte const> samples) const noexcept;

 private:
  void fill_row(ConstHostView const& view, std::uint32_t row, std::uint32_t column, std::uint32_t columns,
                std::uint32_t block_width, std::uint32_t first_band, std::byte* out) const;
  void replace_nan(std::byte* row, std::size_t samples) const noexcept;
  void predict_row(std::byte const* in, std::byte* out, std::uint32_t block_width) const noexcept;

  FilePlan const& plan_;
  std::size_t sample_bytes_;
  bool replaces_nan_;
  std::byte empty_[16] = {};  // one sample: the value of missing tiles, and the replacement of NaN
};

// Writes a nodata value as a sample of `dtype`; zeros if `dtype` cannot represent it.
void store_nodata(Nodata const& nodata, DType dtype, std::byte* out) noexcept;

}  // namespace terrazzo::writing
