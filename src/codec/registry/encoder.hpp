// SPDX-License-Identifier: Apache-2.0
//
// Host encoders: encode the samples of one tile or strip to compressed bytes. No files, no threads, no exceptions.
//
// The input is the output of a decoder: rows top-down, samples interleaved as stored, little-endian, predictor already
// applied (byte-stream codecs) or plain samples (JPEG, LERC, ...). The same input and settings give the same bytes for
// any state of the workspace: files must not depend on threads.
//
// Thread rule: as for decoders, a Workspace belongs to one thread at a time.
#pragma once

#include "base/scratch.hpp"
#include "codec/registry/block.hpp"
#include "terrazzo/codecs.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::tiff {
class TagSet;
}

namespace terrazzo::codec {

// The properties that encoding needs; the same for all tiles of a file. `block` is the format for its decoder.
struct EncodeFormat {
  BlockFormat block{};
  bool is_predicted = false;         // the input has differences of samples: a predictor was applied
  int level = 0;                     // deflate 1-12, zstd 1-22, lzma 0-9, lz4 0-16; LERC: that of its wrapper
  bool checksum = false;             // ZSTD
  double lerc_max_error = 0;
  int quality = 75;                  // JPEG, lossy WebP
  bool lossless = true;              // JPEG 2000, WebP
  double jpeg2000_rate = 0;          // lossy: compression ratio
  std::uint32_t chroma_horizontal = 2, chroma_vertical = 2;  // JPEG of YCbCr
};

// Growable output of one tile; its owner reuses it.
struct EncodedBlock {
  Scratch memory{};
  std::span<std::byte const> bytes{};  // inside `memory`
};

struct Encoder {
  using Encode = tile::TileResult (*)(EncodeFormat const&, BlockShape, std::span<std::byte const> in, EncodedBlock& out,
                                      Workspace&) noexcept;
  // Throws nothing; empty if the format can be encoded, otherwise the reason ("JPEG holds 8-bit samples").
  using Refuse = std::string (*)(EncodeFormat const&);
  // Checks a shape of one of the file's blocks in the same way.
  using RefuseShape = std::string (*)(EncodeFormat const&, BlockShape);
  // Sets the tags that a decoder needs in addition to those of every image.
  using SetTags = void (*)(EncodeFormat const&, tiff::TagSet&);
  // Upper bound of one encoded block, for the choice of BigTIFF. It may be generous.
  using Bound = std::uint64_t (*)(EncodeFormat const&, BlockShape) noexcept;

  tiff::Compression compression = tiff::Compression::none;
  std::string_view library{};        // empty for our own
  Encode encode = nullptr;           // null: the build lacks the library
  Refuse refuse = nullptr;
  RefuseShape refuse_shape = nullptr;  // null: any shape is accepted
  Bound bound = nullptr;
  SetTags set_tags = nullptr;        // null: there are none
  int lowest_level = 0, highest_level = 0, default_level = 0;  // both 0: the codec has no levels
  CompressionSettings settings{};    // settings that it accepts, except levels
};

// Null if we do not write this compression.
[[nodiscard]] Encoder const* find_encoder(tiff::Compression compression) noexcept;
// The contents of tag 347 for JPEG tiles of this format: quantisation tables, which the tiles omit. Throws Error.
[[nodiscard]] std::vector<std::byte> make_jpeg_tables(EncodeFormat const& format);

}  // namespace terrazzo::codec
