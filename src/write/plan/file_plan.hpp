// SPDX-License-Identifier: Apache-2.0
//
// The plan of a file, made before a byte is written: levels, blocks, codec, predictor, BigTIFF or not. All invalid
// combinations of options are rejected here (`usage`).
#pragma once

#include "codec/registry/encoder.hpp"
#include "terrazzo/write.hpp"
#include "tiff/format.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace terrazzo::writing {

// One image of the file: the raster, or an overview. A block is a tile or a strip.
struct LevelPlan {
  std::uint32_t width = 0, height = 0;
  std::uint32_t block_width = 0, block_height = 0;
  std::uint32_t blocks_across = 0, blocks_down = 0;

  [[nodiscard]] std::uint64_t blocks_per_plane() const noexcept { return std::uint64_t{blocks_across} * blocks_down; }
  [[nodiscard]] std::uint32_t first_row(std::uint32_t block_row) const noexcept { return block_row * block_height; }
  // Rows of pixels in a block row: fewer than the block's at the lower edge.
  [[nodiscard]] std::uint32_t rows_of(std::uint32_t block_row) const noexcept;
};

struct FilePlan {
  WriteOptions options{};
  std::uint32_t planes = 1;             // number of bands if they are stored apart, otherwise 1
  std::uint32_t samples_per_block = 1;  // 1 if bands are stored apart, otherwise their number
  bool tiled = true;
  bool bigtiff = false;
  tiff::Predictor predictor = tiff::Predictor::none;
  tiff::Photometric photometric = tiff::Photometric::min_is_black;
  std::vector<std::uint16_t> extra_samples{};
  Resampling resampling = Resampling::average;
  codec::Encoder const* encoder = nullptr;
  codec::EncodeFormat format{};
  codec::Encoder const* mask_encoder = nullptr;  // null without a mask
  codec::EncodeFormat mask_format{};
  std::vector<LevelPlan> levels{};  // the raster first, then overviews from large to small
  std::size_t first_level = 0;      // the first stored level: 1 if only overviews are stored
  // Overview i + 1 is made from level source_of[i].
  std::vector<std::size_t> source_of{};

  [[nodiscard]] std::size_t sample_bytes() const noexcept { return size_bytes(options.dtype); }
  // The shape of an encoded block: tiles are always full, the last strip ends with the raster.
  [[nodiscard]] codec::BlockShape shape_of(LevelPlan const& level, std::uint32_t block_row) const noexcept;
  // How a tile that extends below the raster is filled: see BlockCutter.
  [[nodiscard]] bool repeats_last_row() const noexcept;
  [[nodiscard]] std::uint64_t block_bytes(codec::BlockShape shape) const noexcept;
  [[nodiscard]] std::uint64_t tile_count() const noexcept;  // sum over all stored levels, masks included
};

[[nodiscard]] FilePlan plan_file(std::uint32_t width, std::uint32_t height, WriteOptions const& options);

// The plan of a file with the overviews of a raster but without the raster. Throws `usage` if there are no overviews,
// and for a COG.
[[nodiscard]] FilePlan plan_overviews(std::uint32_t width, std::uint32_t height, WriteOptions const& options);

}  // namespace terrazzo::writing
