// SPDX-License-Identifier: Apache-2.0
//
// Host codecs: decode tiles or strips to samples, span to span. No files, no threads, no exceptions.
//
// A decoder writes exactly the bytes that TIFF defines for the uncompressed tile, before the predictor is undone: rows
// top-down, samples interleaved as stored, rows of sub-byte samples padded to a byte. It never writes past `out`, never
// reads past `in`, and reports the outcome in a TileResult. Codecs of whole images (JPEG, LERC, ...) require `out` to
// hold the block's shape and fail if it is smaller; memory they allocate is bounded by the shape and a constant that
// each states. `ok` with a reason is a remark: the library warned and continued, as in GDAL. A truncated JPEG has
// libjpeg's fill after its good bytes, as in GDAL.
//
// Thread rule: a Workspace belongs to one thread at a time; everything else here is immutable.
#pragma once

#include "codec/registry/block.hpp"
#include "codec/registry/device_method.hpp"
#include "codec/registry/encoder.hpp"
#include "terrazzo/write.hpp"
#include "tiff/format.hpp"
#include "tile/tile_status.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace terrazzo::tile {
struct JpegPlanes;
}

namespace terrazzo::codec {

// The byte order of multi-byte samples in a decoder's output.
enum class OutputOrder : std::uint8_t {
  stored,  // the file's: byte-stream codecs do not interpret samples
  native,  // the machine's: the codec interprets samples (JPEG, LERC, ...)
};

// The meaning of tag 317 for a codec.
enum class PredictorUse : std::uint8_t {
  none,  // ignored, as in libtiff; the writer refuses a predictor
  read,  // applied if a file has one; the writer refuses a predictor
  read_write,  // the writer supports one, and uses one by default
};

// The meaning of FillOrder 2 for a codec.
enum class BitOrder : std::uint8_t {
  as_tagged,  // the bits of every byte are reversed before it is decoded
  own,  // the stream has its own order: the tag is ignored, as in libtiff
};

// The contents of the part of a tile below the raster.
enum class Padding : std::uint8_t {
  zeros,
  last_row,  // repeated: an edge would cost a transform codec bytes and quality
};

// The effect of encoding on an alpha band.
enum class Alpha : std::uint8_t {
  exact,  // kept exactly, even by a lossy encoder
  blurred,  // changed like the colours
  mask,  // changed like the colours; `convert` writes a mask instead
};

// The least trust in a source that a device decoder requires.
enum class DeviceTrust : std::uint8_t {
  any,  // our own kernels
  assumed,  // a local file is enough
  stated,  // the caller must vouch for the file: the decoder does not tolerate damage
};

// One of the compressions that a caller can choose for a file.
struct Choice {
  Compression value;
  std::string_view name;
  std::array<std::string_view, 2> other_names{};  // GDAL's spellings
  // LERC: the codec that wraps its blobs, whose levels are the choice's levels, and its number in LercParameters.
  std::optional<tiff::Compression> around{};
  std::uint32_t lerc_additional_compression = 0;
};

// A row of the table: all properties of a codec that the rest of the library uses.
struct Codec {
  // Decodes every block and sets its result, which is independent of the other blocks of the batch.
  using Decode = void (*)(BlockFormat const&, std::span<Block> blocks, Workspace&) noexcept;
  // Decodes one block to planes of YCbCr in `out`; nullopt if decode() must be used (jpeg/planes.hpp).
  using DecodePlanes = std::optional<tile::JpegPlanes> (*)(BlockFormat const&, BlockShape,
                                                           std::span<std::byte const> in, std::span<std::byte> out,
                                                           Workspace&) noexcept;
  // Loads a library that is not linked, once; false if it is not found.
  using IsLoaded = bool (*)() noexcept;
  // Memory of the decoder in addition to its input and its output, computed from the format.
  using ScratchBytes = std::uint64_t (*)(BlockFormat const&, BlockShape) noexcept;

  tiff::Compression compression;
  std::string_view library{};  // library that decodes: "libdeflate"; empty for our own
  Decode decode = nullptr;  // null: the build lacks the library
  IsLoaded is_loaded = nullptr;  // null: the library is linked
  OutputOrder output_order = OutputOrder::stored;
  bool lossy = false;  // may be lossy: pixels can differ between decoders
  PredictorUse predictor = PredictorUse::none;
  BitOrder bit_order = BitOrder::as_tagged;
  ScratchBytes scratch_bytes = nullptr;  // null: none
  DecodePlanes decode_planes = nullptr;  // null: never
  // A batch of this many blocks decodes faster than single blocks, if they have this many decoded bytes.
  std::uint32_t blocks_at_once = 1;
  std::uint64_t at_once_from_bytes = 0;

  DeviceMethod device_decoder = DeviceMethod::host;
  DeviceTrust device_trust = DeviceTrust::any;

  // Writing. Without choices, the codec is read-only.
  std::optional<tiff::Compression> written_as{};  // the number under which we write the stream
  std::span<Choice const> choices{};
  Encoder encoder{};
  DeviceMethod device_encoder = DeviceMethod::host;
  Padding padding = Padding::zeros;
  Alpha alpha = Alpha::exact;

  // False if this build or, for a library that is loaded at run time, this machine lacks the library.
  [[nodiscard]] bool is_available() const noexcept {
    return decode != nullptr && (is_loaded == nullptr || is_loaded());
  }

  // A batch of one. REQUIRES: decode is not null.
  [[nodiscard]] tile::TileResult decode_block(BlockFormat const& format, BlockShape shape,
                                              std::span<std::byte const> in, std::span<std::byte> out,
                                              Workspace& workspace) const noexcept {
    Block block{shape, in, out};
    decode(format, {&block, 1}, workspace);
    return block.result;
  }
};

// Every row of the table.
[[nodiscard]] std::span<Codec const> all_codecs() noexcept;

// Null if none of our host codecs decodes this compression (LibtiffDecoder decodes rare ones).
[[nodiscard]] Codec const* find_codec(tiff::Compression compression) noexcept;

// A choice and its codec. Null if the value is outside the enumeration.
struct ChosenCodec {
  Codec const* codec = nullptr;
  Choice const* choice = nullptr;
};
[[nodiscard]] ChosenCodec find_choice(Compression value) noexcept;

// Used for masks, and for rasters whose own codec cannot be written.
inline constexpr tiff::Compression kFallbackCompression = tiff::Compression::deflate;

}  // namespace terrazzo::codec
