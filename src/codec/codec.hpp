// SPDX-License-Identifier: Apache-2.0
//
// Host codecs: one tile or strip in, its samples out, span to span. No files, no threads, no exceptions.
//
// A decoder writes exactly the bytes that TIFF defines for the uncompressed tile, before the predictor is undone:
// rows top-down, samples interleaved as stored, rows of sub-byte samples padded to a byte. It never writes past
// `out`, never reads past `in`, and reports what happened in a TileResult. Codecs of whole images (JPEG, LERC, ...)
// want `out` to hold the block's shape and fail when it is smaller; memory they allocate is bounded by the shape and a
// constant that each states. `ok` with a reason is a remark: the library warned and went on, as GDAL does. A truncated
// JPEG holds what libjpeg made up behind its good bytes, which is what GDAL shows.
//
// Thread rule: a Workspace belongs to one thread at a time; everything else here is immutable.
#pragma once

#include "tiff/format.hpp"
#include "tile/tile_status.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace terrazzo::codec {

// What decoding needs to know of the image; the same for all its tiles.
struct BlockFormat {
  tiff::Compression compression = tiff::Compression::none;
  std::uint32_t samples_per_pixel = 1;  // in one block: 1 when planes are separate
  std::uint32_t bits_per_sample = 8;
  tiff::SampleFormat sample_format = tiff::SampleFormat::uint;
  tiff::Photometric photometric = tiff::Photometric::min_is_black;
  std::uint32_t extra_samples = 0;      // how many of the block's samples are ExtraSamples
  bool last_sample_is_alpha = false;
  bool convert_ycbcr_to_rgb = true;     // JPEG and JPEG 2000 only; GDAL's default
  std::endian byte_order = std::endian::little;       // of the file
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

// The byte order of multi-byte samples in a decoder's output.
enum class OutputOrder : std::uint8_t {
  stored,  // the file's: byte-stream codecs know nothing of samples
  native,  // the machine's: the codec knows samples (JPEG, LERC, ...)
};

// What became of two blocks. decode() has to be asked for each unless they are done.
enum class TwoBlocks : std::uint8_t {
  done,      // both came out whole, and nothing was left over
  unsuited,  // one after the other is faster; nothing was lost by asking
  failed,    // something is not as it should be, which took as long as decoding them; `out` may have been written to
};

struct Codec {
  using Decode = tile::TileResult (*)(BlockFormat const&, BlockShape, std::span<std::byte const> in,
                                      std::span<std::byte> out, Workspace&) noexcept;
  // Two blocks at once, where that is faster than one after the other.
  using DecodeTwo = TwoBlocks (*)(std::array<std::span<std::byte const>, 2> const& in,
                                  std::array<std::span<std::byte>, 2> const& out, Workspace&) noexcept;
  tiff::Compression compression;
  std::string_view library;    // "libdeflate"; empty for our own
  Decode decode = nullptr;     // null: known, but this build lacks the library
  OutputOrder output_order = OutputOrder::stored;
  bool lossy = false;          // may be lossy: pixels can differ between decoders
  DecodeTwo decode_two = nullptr;  // null: never faster
  std::uint64_t two_from_bytes = 0;  // decoded blocks of fewer are never worth it
};

// Null when no host codec of ours decodes this compression (see LibtiffDecoder for the long tail).
[[nodiscard]] Codec const* find_codec(tiff::Compression compression) noexcept;

// Every entry of the table, for `info --codecs`, docs and tests.
[[nodiscard]] std::span<Codec const> all_codecs() noexcept;

}  // namespace terrazzo::codec
