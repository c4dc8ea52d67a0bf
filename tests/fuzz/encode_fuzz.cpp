// SPDX-License-Identifier: Apache-2.0
//
// Encoders that lose nothing, and the predictors before them, on arbitrary samples: what comes back must be what went
// in, and the bytes must not depend on what the workspace did before.
//
// The first six bytes choose codec, level, predictor and shape; the rest is repeated to fill the block.
#include "codec/registry/codec.hpp"
#include "codec/registry/encoder.hpp"
#include "tile/apply_predictor.hpp"
#include "tile/undo_predictor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using namespace terrazzo;

constexpr std::size_t kHeaderBytes = 6;
// LZMA and zstd allocate by level; low ones keep the fuzzer fast.
constexpr int kHighestLevel = 9;

void require(bool condition) {
  if (!condition) { std::abort(); }
}

enum class Predictor : std::uint8_t { none, horizontal, floating_point };

using Bytes = std::vector<std::byte>;

Bytes predicted(Bytes const& block, codec::BlockFormat const& format, codec::BlockShape shape, Predictor predictor) {
  Bytes out = block;
  std::size_t const pitch = block.size() / shape.height_px;
  for (std::size_t y = 0; y < shape.height_px && predictor != Predictor::none; ++y) {
    std::byte const* const from = block.data() + y * pitch;
    std::byte* const to = out.data() + y * pitch;
    if (predictor == Predictor::horizontal) {
      tile::apply_horizontal_row(from, to, shape.width_px, format.samples_per_pixel, format.bits_per_sample);
    } else {
      tile::apply_float_row(from, to, shape.width_px, format.samples_per_pixel, format.bits_per_sample / 8);
    }
  }
  return out;
}

Bytes unpredicted(Bytes block, codec::BlockFormat const& format, codec::BlockShape shape, Predictor predictor) {
  Bytes out = block;
  std::size_t const pitch = block.size() / shape.height_px;
  for (std::size_t y = 0; y < shape.height_px && predictor != Predictor::none; ++y) {
    std::byte* const from = block.data() + y * pitch;
    std::byte* const to = out.data() + y * pitch;
    if (predictor == Predictor::horizontal) {
      tile::undo_horizontal_row(from, to, shape.width_px, format.samples_per_pixel, format.bits_per_sample);
    } else {
      tile::undo_float_row(from, to, shape.width_px, format.samples_per_pixel, format.bits_per_sample / 8);
    }
  }
  return out;
}

Bytes encoded(codec::Encoder const& encoder, codec::EncodeFormat const& format, codec::BlockShape shape,
              Bytes const& block, codec::Workspace& workspace) {
  codec::EncodedBlock out;
  tile::TileResult const result = encoder.encode(format, shape, block, out, workspace);
  require(result.status == tile::TileStatus::ok);
  require(out.bytes.size() <= encoder.bound(format, shape));
  return {out.bytes.begin(), out.bytes.end()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using tiff::Compression;
  constexpr std::array kCodecs = {Compression::none, Compression::packbits, Compression::lzw, Compression::deflate,
                                  Compression::zstd, Compression::lzma,     Compression::lz4, Compression::lzw};
  constexpr std::array<std::uint32_t, 4> kBits = {8, 16, 32, 64};
  if (size <= kHeaderBytes) { return 0; }
  codec::EncodeFormat format;
  format.block.compression = kCodecs[data[0] % kCodecs.size()];
  codec::Encoder const* const encoder = codec::find_encoder(format.block.compression);
  codec::Codec const* const codec = codec::find_codec(format.block.compression);
  if (encoder == nullptr || encoder->encode == nullptr || codec == nullptr) { return 0; }
  format.level = encoder->lowest_level + data[1] % (std::min(encoder->highest_level, kHighestLevel) + 1);
  format.level = std::clamp(format.level, encoder->lowest_level, encoder->highest_level);
  format.block.bits_per_sample = kBits[data[2] % kBits.size()];
  format.block.samples_per_pixel = data[3] % 5u + 1;
  bool const is_float = format.block.bits_per_sample != 8;
  auto const predictor = static_cast<Predictor>(data[2] / 4u % (is_float ? 3 : 2));
  codec::BlockShape const shape{data[4] % 128u + 1, data[5] % 32u + 1};
  data += kHeaderBytes;
  size -= kHeaderBytes;
  Bytes block(std::size_t{shape.width_px} * shape.height_px * format.block.samples_per_pixel *
              format.block.bits_per_sample / 8);
  for (std::size_t i = 0; i < block.size(); ++i) { block[i] = std::byte{data[i % size]}; }

  require(encoder->refuse(format).empty());
  Bytes const samples = predicted(block, format.block, shape, predictor);
  static codec::Workspace used;
  codec::Workspace fresh;
  Bytes const stream = encoded(*encoder, format, shape, samples, used);
  require(stream == encoded(*encoder, format, shape, samples, fresh));
  Bytes back(samples.size());
  tile::TileResult const result = codec->decode_block(format.block, shape, stream, back, used);
  require(result.status == tile::TileStatus::ok && !result.surplus_input);
  require(unpredicted(back, format.block, shape, predictor) == block);
  return 0;
}
