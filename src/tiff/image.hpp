// SPDX-License-Identifier: Apache-2.0
//
// One image of a TIFF file: size, samples and blocks from its directory, checked, with the defaults of libtiff
// and GDAL. A block is a tile or a strip.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/error.hpp"
#include "tiff/directory.hpp"
#include "tiff/format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace terrazzo::tiff {

struct Image {
  std::uint32_t ifd = 0;
  std::uint64_t ifd_offset_bytes = 0;
  std::endian byte_order = std::endian::little;
  std::uint32_t width_px = 0, height_px = 0;
  std::uint32_t samples = 1;
  std::uint32_t bits = 1;
  SampleFormat sample_format = SampleFormat::uint;
  Photometric photometric = Photometric::min_is_black;
  Compression compression = Compression::none;
  Predictor predictor = Predictor::none;
  bool separate_planes = false;
  bool reversed_bits = false;         // FillOrder 2
  std::uint32_t orientation = 1;      // reported but not applied: GDAL reads rows as stored too
  std::uint32_t new_subfile_type = 0;
  std::uint32_t ink_set = 1;          // for separated images: 1 is CMYK
  std::vector<std::uint16_t> extra_samples;
  std::vector<std::byte> jpeg_tables;
  std::uint32_t lerc_additional_compression = 0;
  std::array<std::uint16_t, 2> ycbcr_subsampling{2, 2};
  std::array<double, 3> ycbcr_coefficients{0.299, 0.587, 0.114};
  std::vector<double> reference_black_white;  // 6 values, or none
  std::vector<double> white_point;            // 2 values, or none

  bool tiled = false;
  std::uint32_t block_width_px = 0, block_height_px = 0;  // strips: width x rows per strip, at most the height
  std::uint32_t blocks_across = 0, blocks_down = 0;

  [[nodiscard]] std::uint32_t planes() const noexcept { return separate_planes ? samples : 1; }
  [[nodiscard]] std::uint32_t samples_per_block() const noexcept { return separate_planes ? 1 : samples; }
  [[nodiscard]] std::uint64_t blocks_per_plane() const noexcept { return std::uint64_t{blocks_across} * blocks_down; }
  [[nodiscard]] std::uint64_t block_count() const noexcept { return blocks_per_plane() * planes(); }

  // Blocks are numbered by rows, then planes, as in TileOffsets.
  [[nodiscard]] std::uint64_t block_number(TileId const& id) const noexcept {
    return id.plane * blocks_per_plane() + std::uint64_t{id.row} * blocks_across + id.column;
  }
  [[nodiscard]] TileId tile_id(std::uint64_t block) const noexcept {
    std::uint64_t const in_plane = block % blocks_per_plane();
    return {static_cast<std::uint32_t>(in_plane % blocks_across), static_cast<std::uint32_t>(in_plane / blocks_across),
            static_cast<std::uint32_t>(block / blocks_per_plane())};
  }

  // Rows that a block holds: tiles are full, the last strip may be short.
  [[nodiscard]] std::uint32_t block_rows(std::uint32_t block_row) const noexcept;

  // Bytes of one decoded row and of a decoded block of `rows` rows, as the format defines them (rows of small samples
  // are padded to a byte; subsampled YCbCr comes in units). Checked in parse_image: they cannot overflow.
  [[nodiscard]] std::uint64_t row_bytes() const noexcept;
  [[nodiscard]] std::uint64_t block_bytes(std::uint32_t rows) const noexcept;

  // True if samples are stored in units of several luma and two chroma values (YCbCr other than JPEG).
  [[nodiscard]] bool has_packed_chroma() const noexcept;

  // CIELab, CMYK, LogLuv and YCbCr of at most 8 bits: converted to RGB(A), as GDAL does through libtiff.
  [[nodiscard]] bool is_converted_to_rgb() const noexcept;

  // The bands' type in GDAL 3.12; throws `unsupported` if there is none.
  [[nodiscard]] DType dtype() const;

  [[nodiscard]] bool is_mask() const noexcept { return (new_subfile_type & 4) != 0; }
  [[nodiscard]] bool is_reduced() const noexcept { return (new_subfile_type & 1) != 0; }
};

// Throws `malformed` or `unsupported`; adds tolerated defects to `warnings`.
[[nodiscard]] Image parse_image(Directory const& directory, std::vector<std::string>& warnings);

// nullopt if the directory describes no readable image. Throws `io`, because the file may hold one.
[[nodiscard]] std::optional<Image> try_parse_image(Directory const& directory);

}  // namespace terrazzo::tiff
