// SPDX-License-Identifier: Apache-2.0
//
// Decodes rare TIFF compressions (CCITT, old-style JPEG, SGILog, ThunderScan, NeXT, ...) with libtiff, which is loaded
// at run time if present. libtiff parses the file again through a callback, so it is for trusted sources only; the
// caller decides that.
//
// Thread rule: one object belongs to one thread at a time. Objects share only the loaded library. libtiff is silent:
// its messages go to `messages()`, never to stderr.
#pragma once

#include "codec/registry/codec.hpp"

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
  // Reads up to target.size() bytes at an offset and returns their number. May throw; the decoder then reports a failed
  // block.
  using ReadAt = std::function<std::size_t(std::uint64_t offset_bytes, std::span<std::byte> target)>;

  // True if libtiff could be loaded. Searches once per process.
  [[nodiscard]] static bool available() noexcept;
  // The first line of libtiff's version text; empty if libtiff is not available.
  [[nodiscard]] static std::string_view library_version() noexcept;
  // All compressions that this class supports.
  [[nodiscard]] static std::span<tiff::Compression const> long_tail() noexcept;
  // True if this class decodes a compression, and the loaded libtiff was built with it.
  [[nodiscard]] static bool decodes(tiff::Compression compression) noexcept;

  // True if only libtiff's RGBA interface decodes a compression (old-style JPEG).
  [[nodiscard]] static bool gives_rgba_only(tiff::Compression compression) noexcept;

  // Opens the file and the directory at `ifd_offset_bytes`. Throws Error: unsupported without libtiff, malformed if
  // libtiff rejects the directory.
  LibtiffDecoder(ReadAt read_at, std::uint64_t size_bytes, std::uint64_t ifd_offset_bytes, std::string name);
  ~LibtiffDecoder();
  LibtiffDecoder(LibtiffDecoder&&) noexcept;
  LibtiffDecoder& operator=(LibtiffDecoder&&) noexcept;

  // Decodes one strip or tile, by its index in StripOffsets or TileOffsets, as TIFFReadEncodedStrip and -Tile do:
  // decompressed, predictor undone, FillOrder applied, samples in native byte order. SGILog comes in the samples that
  // the directory declares (16-bit: encoded L, u, v), as in GDAL.
  [[nodiscard]] tile::TileResult decode_block(std::uint32_t block_index, std::span<std::byte> out) noexcept;

  // True if libtiff can convert this directory to RGBA. GDAL checks this before it shows old-style JPEG, and CIELab,
  // LogL, LogLuv, CMYK or YCbCr of at most 8 bits, as colours.
  [[nodiscard]] bool can_give_rgba() noexcept;

  // Decodes the block whose first pixel is (column_px, row_px) to 4 bytes per pixel, R G B A, rows top-down. `shape` is
  // the block's (tiles: full; the last strip: its rows).
  [[nodiscard]] tile::TileResult decode_rgba_block(std::uint32_t column_px, std::uint32_t row_px, BlockShape shape,
                                                   std::span<std::byte> out) noexcept;

  // libtiff's messages while opening and during the last call, one per line, errors and warnings; bounded.
  [[nodiscard]] std::string const& messages() const noexcept;

  struct State;  // declared here for the C callbacks in the source file

 private:
  std::unique_ptr<State> state_;  // libtiff keeps its address
};

}  // namespace terrazzo::codec
