// SPDX-License-Identifier: Apache-2.0
//
// The long tail of TIFF's compressions (CCITT, old-style JPEG, SGILog, ThunderScan, NeXT, ...) through libtiff, which
// is loaded at run time where it is present. libtiff parses the file again by itself, over a callback, so it is meant
// for trusted sources only; the caller decides that.
//
// Thread rule: one object belongs to one thread at a time. Objects share nothing but the loaded library. libtiff is
// silent: its messages go to `messages()`, never to stderr.
#pragma once

#include "codec/codec.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace terrazzo::codec {

class LibtiffDecoder {
 public:
  // Reads up to target.size() bytes at an offset and says how many there were. May throw; the decoder then reports
  // a failed block.
  using ReadAt = std::function<std::size_t(std::uint64_t offset_bytes, std::span<std::byte> target)>;

  // Whether libtiff could be loaded. Looks for it once in the process's life.
  [[nodiscard]] static bool available() noexcept;
  // libtiff's own version text, first line; empty when it is not available.
  [[nodiscard]] static std::string_view library_version() noexcept;
  // Every compression that this class is for.
  [[nodiscard]] static std::span<tiff::Compression const> long_tail() noexcept;
  // Whether this class is the way to decode a compression, and the loaded libtiff was built with it.
  [[nodiscard]] static bool decodes(tiff::Compression compression) noexcept;

  // Opens the file and the directory at `ifd_offset_bytes`. Throws Error: unsupported without libtiff, malformed when
  // libtiff does not accept the directory.
  LibtiffDecoder(ReadAt read_at, std::uint64_t size_bytes, std::uint64_t ifd_offset_bytes, std::string name);
  ~LibtiffDecoder();
  LibtiffDecoder(LibtiffDecoder&&) noexcept;
  LibtiffDecoder& operator=(LibtiffDecoder&&) noexcept;

  // One strip or tile, by its index in StripOffsets or TileOffsets, as TIFFReadEncodedStrip and -Tile give it:
  // decompressed, predictor undone, FillOrder applied, samples in the machine's byte order. SGILog comes in the
  // samples that the directory declares (16-bit: encoded L, u, v), which is what GDAL shows.
  [[nodiscard]] tile::TileResult decode_block(std::uint32_t block_index, std::span<std::byte> out) noexcept;

  // Whether libtiff can turn this directory into RGBA. GDAL asks this before it shows old-style JPEG, and CIELab,
  // LogL, LogLuv, CMYK or YCbCr of at most 8 bits, as colours.
  [[nodiscard]] bool can_give_rgba() noexcept;

  // The block that holds pixel (column_px, row_px), as 4 bytes a pixel, R G B A, rows top-down. `shape` is the block's
  // (tiles: full; the last strip: its rows); both numbers must be those of the block's first pixel.
  [[nodiscard]] tile::TileResult decode_rgba_block(std::uint32_t column_px, std::uint32_t row_px, BlockShape shape,
                                                   std::span<std::byte> out) noexcept;

  // What libtiff said while opening and during the last call, a line each, errors and warnings; bounded.
  [[nodiscard]] std::string const& messages() const noexcept;

  struct State;  // named here for the C callbacks in the source file

 private:
  std::unique_ptr<State> state_;  // libtiff keeps its address
};

}  // namespace terrazzo::codec
