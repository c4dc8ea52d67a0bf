// SPDX-License-Identifier: Apache-2.0
//
// Host encoders: the samples of one tile or strip in, its compressed bytes out. No files, no threads, no exceptions.
//
// Input is what a decoder gives back: rows top-down, samples interleaved as stored, little-endian, predictor already
// applied (byte-stream codecs) or plain samples (JPEG, LERC, ...). The same input and settings give the same bytes,
// whatever the workspace did before: files must not depend on threads.
//
// Thread rule: as for decoders, a Workspace belongs to one thread at a time.
#pragma once

#include "base/scratch.hpp"
#include "codec/codec.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::codec {

// What encoding needs to know; the same for all tiles of a file. `block` as its decoder will see it.
struct EncodeFormat {
  BlockFormat block{};
  int level = 0;                     // deflate 1-12, zstd 1-22, lzma 0-9, lz4 0-16; LERC: of what is around it
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
  // Throws nothing; empty when the format can be encoded, else what is wrong with it ("JPEG holds 8-bit samples").
  using Refuse = std::string (*)(EncodeFormat const&);
  // Likewise, of a shape that one of the file's blocks has.
  using RefuseShape = std::string (*)(EncodeFormat const&, BlockShape);
  // Upper bound of one encoded block, for the choice of BigTIFF. It may be generous.
  using Bound = std::uint64_t (*)(EncodeFormat const&, BlockShape) noexcept;

  tiff::Compression compression;
  std::string_view library;          // empty for our own
  Encode encode = nullptr;           // null: known, but this build lacks the library
  Refuse refuse = nullptr;
  RefuseShape refuse_shape = nullptr;  // null: any shape will do
  Bound bound = nullptr;
  int lowest_level = 0, highest_level = 0, default_level = 0;  // both 0: the codec has no levels
};

// Null when we do not write this compression.
[[nodiscard]] Encoder const* find_encoder(tiff::Compression compression) noexcept;
[[nodiscard]] std::span<Encoder const> all_encoders() noexcept;

// The contents of tag 347 for tiles of this format: quantisation tables, which the tiles leave out. Throws Error.
[[nodiscard]] std::vector<std::byte> make_jpeg_tables(EncodeFormat const& format);

}  // namespace terrazzo::codec
