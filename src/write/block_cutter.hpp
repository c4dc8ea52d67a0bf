// SPDX-License-Identifier: Apache-2.0
//
// From rows of pixels to the bytes that an encoder takes: one block is cut out, its missing part filled by repeating
// the last column and row (JPEG and the predictors like that best), NaN replaced by nodata, the predictor applied. The
// caller's pixels are never changed.
//
// Thread rule: a BlockCutter is immutable; scratch belongs to one thread at a time.
#pragma once

#include "base/scratch.hpp"
#include "terrazzo/read.hpp"
#include "write/file_plan.hpp"
#include "write/reduce.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::writing {

struct CutScratch {
  Scratch block{}, predicted{};
};

struct CutBlock {
  std::span<std::byte const> samples{};  // finished samples, before the predictor; rows of the encoded width, real ones
  std::span<std::byte const> encoded_input{};  // what the encoder takes; the same bytes when there is no predictor
};

class BlockCutter {
 public:
  explicit BlockCutter(FilePlan const& plan);

  // `rows` of the level hold those of the block. `keep_samples`: samples are wanted too, for statistics and sparseness.
  [[nodiscard]] CutBlock cut(LevelPlan const& level, LevelRows const& rows, TileId block, bool keep_samples,
                             CutScratch& scratch) const;

  // One bit a pixel, most significant first; missing pixels are invalid.
  [[nodiscard]] std::span<std::byte const> cut_mask(LevelPlan const& level, LevelRows const& rows, TileId block,
                                                    CutScratch& scratch) const;

  // NaN becomes empty_sample().
  [[nodiscard]] bool replaces_nan() const noexcept { return replaces_nan_; }
  // What a missing tile reads as: nodata, or 0.
  [[nodiscard]] std::span<std::byte const, 16> empty_sample() const noexcept { return empty_; }

  // True when every sample is nodata, or 0 where the file has no nodata.
  [[nodiscard]] bool is_empty(std::span<std::byte const> samples) const noexcept;

  // True when a codec with an error could change nodata into a valid value (LERC keeps the smallest value of a block
  // exactly, and no other) or a valid value into nodata.
  [[nodiscard]] bool would_blur_nodata(std::span<std::byte const> samples) const noexcept;

 private:
  void fill_row(HostView const& view, std::uint32_t row, std::uint32_t column, std::uint32_t columns,
                std::uint32_t block_width, std::uint32_t first_band, std::byte* out) const;
  void replace_nan(std::byte* row, std::size_t samples) const noexcept;
  void predict_row(std::byte const* in, std::byte* out, std::uint32_t block_width) const noexcept;

  FilePlan const& plan_;
  std::size_t sample_bytes_;
  bool replaces_nan_;
  std::byte empty_[16] = {};  // one sample of what a missing tile reads as, and of what NaN becomes
};

// The bytes of a nodata value as a sample of `dtype`; zeros for a value that is none.
void store_nodata(Nodata const& nodata, DType dtype, std::byte* out) noexcept;

}  // namespace terrazzo::writing
