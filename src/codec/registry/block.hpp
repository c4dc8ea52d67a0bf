// SPDX-License-Identifier: Apache-2.0
//
// The input of decoders and encoders: the format of an image's blocks, a block, and the memory of a thread.
#pragma once

#include "tiff/format.hpp"
#include "tile/tile_status.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace terrazzo::codec {

// The properties of the image that decoding needs; the same for all its tiles.
struct BlockFormat {
  tiff::Compression compression = tiff::Compression::none;
  std::uint32_t samples_per_pixel = 1;  // in one block: 1 if planes are separate
  std::uint32_t bits_per_sample = 8;
  tiff::SampleFormat sample_format = tiff::SampleFormat::uint;
  tiff::Photometric photometric = tiff::Photometric::min_is_black;
  std::uint32_t extra_samples = 0;      // how many of the block's samples are ExtraSamples
  bool last_sample_is_alpha = false;
  bool convert_ycbcr_to_rgb = true;     // JPEG and JPEG 2000 only; GDAL's default
  std::endian byte_order = std::endian::little;       // byte order of the file
  std::span<std::byte const> jpeg_tables{};           // tag 347
  std::uint32_t lerc_additional_compression = 0;      // tag 50674, second value: 0 none, 1 deflate, 2 zstd
};

// One block's size: tiles are always full; the last strip may have fewer rows.
struct BlockShape {
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
};

// Library handles and tables that are costly to make, created on first use and kept for the thread's next tile.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;
  struct Impl;
  [[nodiscard]] Impl& impl() noexcept { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// One block of a batch: its compressed bytes, the memory for its samples, and its result.
struct Block {
  BlockShape shape{};
  std::span<std::byte const> in{};
  std::span<std::byte> out{};  // must not overlap the memory of another block
  tile::TileResult result{};   // set by the decoder
};

}  // namespace terrazzo::codec
