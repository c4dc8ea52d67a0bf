// SPDX-License-Identifier: Apache-2.0
//
// What all encoder tests share: encoding with the promises of every encoder checked, the way back through our decoder,
// and a one-tile TIFF in memory for libtiff to read.
#pragma once

#include "codec/libtiff/decoder.hpp"
#include "codec/registry/encoder.hpp"
#include "codec/support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::codec::testing {

inline std::size_t bytes_of_block(BlockFormat const& format, BlockShape shape) {
  return (std::size_t{shape.width_px} * format.samples_per_pixel * format.bits_per_sample + 7) / 8 * shape.height_px;
}

inline Bytes encode(EncodeFormat const& format, BlockShape shape, Bytes const& samples, Workspace& workspace) {
  Encoder const* const encoder = find_encoder(format.block.compression);
  EXPECT_NE(encoder, nullptr);
  EXPECT_NE(encoder->encode, nullptr);
  EXPECT_EQ(encoder->refuse(format), "");
  EncodedBlock out;
  tile::TileResult const result = encoder->encode(format, shape, samples, out, workspace);
  EXPECT_EQ(result.status, TileStatus::ok) << (result.reason == nullptr ? "" : result.reason);
  EXPECT_EQ(result.bytes_written, out.bytes.size());
  EXPECT_LE(out.bytes.size(), encoder->bound(format, shape));
  return {out.bytes.begin(), out.bytes.end()};
}

inline Bytes encode(EncodeFormat const& format, BlockShape shape, Bytes const& samples) {
  Workspace workspace;
  return encode(format, shape, samples, workspace);
}

inline void expect_round_trip(EncodeFormat const& format, BlockShape shape, Bytes const& samples,
                              Workspace& workspace) {
  Bytes const stream = encode(format, shape, samples, workspace);
  Decoded const decoded = decode(format.block, shape, stream, samples.size(), workspace);
  ASSERT_EQ(decoded.result.status, TileStatus::ok) << decoded.result.reason;
  ASSERT_FALSE(decoded.result.surplus_input);
  ASSERT_EQ(decoded.bytes, samples);
}

// Bytes of four kinds: noise, slopes with a little noise, few values, one value.
inline std::vector<Bytes> samples_of_every_kind(std::size_t count) {
  Bytes smooth(count);
  std::mt19937 generator(5);
  for (std::size_t i = 0; i < count; ++i) { smooth[i] = static_cast<std::byte>((i / 7 + generator() % 3) & 0xFF); }
  Bytes few(count);
  for (std::byte& b : few) { b = static_cast<std::byte>(generator() % 3); }
  return {random_bytes(count, 3), smooth, few, Bytes(count, std::byte{42})};
}

// Noise, slopes and constants come back as they were from blocks of many shapes, one sample and several.
inline void expect_round_trips(EncodeFormat format) {
  Workspace workspace;
  for (BlockShape const shape : {BlockShape{1, 1}, {2, 1}, {3, 5}, {16, 16}, {17, 31}, {256, 64}, {1, 300}}) {
    for (auto const& [samples, bits] :
         {std::pair{1U, 8U}, {3U, 8U}, {1U, 16U}, {2U, 32U}, {1U, 64U}, {1U, 1U}, {4U, 16U}}) {
      format.block.samples_per_pixel = samples;
      format.block.bits_per_sample = bits;
      for (Bytes const& data : samples_of_every_kind(bytes_of_block(format.block, shape))) {
        SCOPED_TRACE(::testing::Message() << shape.width_px << " x " << shape.height_px << ", " << samples
                                          << " samples of " << bits << " bits");
        expect_round_trip(format, shape, data, workspace);
      }
    }
  }
}

// Files must not depend on which thread encoded which tile: a used workspace gives the bytes of a fresh one.
// `others` are formats of the same codec, such as other levels, used in between.
inline void expect_independent_of_history(EncodeFormat const& format, std::vector<EncodeFormat> const& others,
                                          BlockShape shape) {
  Workspace used;
  std::vector<Bytes> const kinds = samples_of_every_kind(bytes_of_block(format.block, shape));
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      for (EncodeFormat const& other : others) {
        static_cast<void>(encode(other, shape, kinds[(i + static_cast<std::size_t>(round)) % kinds.size()], used));
      }
      ASSERT_EQ(encode(format, shape, kinds[i], used), encode(format, shape, kinds[i]));
    }
  }
}

// A little-endian classic TIFF of one tile (or of one strip, where the shape is not a tile's).
class OneTileTiff {
 public:
  OneTileTiff(EncodeFormat const& format, BlockShape shape, Bytes const& stream) {
    BlockFormat const& block = format.block;
    add(256, shape.width_px);
    add(257, shape.height_px);
    add_all(258,
            std::vector<std::uint16_t>(block.samples_per_pixel, static_cast<std::uint16_t>(block.bits_per_sample)));
    add(259, static_cast<std::uint32_t>(block.compression), 3);
    add(262, static_cast<std::uint32_t>(block.photometric), 3);
    bool const tiled = shape.width_px % 16 == 0 && shape.height_px % 16 == 0;
    if (!tiled) { add(kStripOffsets, 0); }
    add(277, block.samples_per_pixel, 3);
    if (!tiled) {
      add(278, shape.height_px);
      add(279, static_cast<std::uint32_t>(stream.size()));
    }
    add(284, 1, 3);
    if (tiled) {
      add(322, shape.width_px);
      add(323, shape.height_px);
      add(kTileOffsets, 0);
      add(325, static_cast<std::uint32_t>(stream.size()));
    }
    std::uint32_t const colours = block.photometric == tiff::Photometric::rgb         ? 3
                                  : block.photometric == tiff::Photometric::ycbcr     ? 3
                                  : block.photometric == tiff::Photometric::separated ? 4
                                                                                      : 1;
    if (block.samples_per_pixel > colours) {
      std::vector<std::uint16_t> extra(block.samples_per_pixel - colours, 0);
      if (block.last_sample_is_alpha) { extra.back() = 2; }
      add_all(338, extra);
    }
    add_all(339, std::vector<std::uint16_t>(block.samples_per_pixel, static_cast<std::uint16_t>(block.sample_format)));
    if (!block.jpeg_tables.empty()) {
      add_bytes(347, 7, static_cast<std::uint32_t>(block.jpeg_tables.size()), block.jpeg_tables);
    }
    if (block.photometric == tiff::Photometric::ycbcr) {
      add_all(530, std::vector<std::uint16_t>{static_cast<std::uint16_t>(format.chroma_horizontal),
                                              static_cast<std::uint16_t>(format.chroma_vertical)});
    }
    if (block.compression == tiff::Compression::lerc) {
      std::uint32_t const parameters[2] = {4, block.lerc_additional_compression};
      add_bytes(50674, 4, 2, std::as_bytes(std::span(parameters)));
    }
    finish(stream);
  }

  [[nodiscard]] Bytes const& file() const { return file_; }

  [[nodiscard]] LibtiffDecoder open() const {
    return LibtiffDecoder(
        [this](std::uint64_t offset, std::span<std::byte> target) {
          std::size_t const from = std::min<std::size_t>(file_.size(), static_cast<std::size_t>(offset));
          std::size_t const count = std::min(target.size(), file_.size() - from);
          std::copy_n(file_.begin() + static_cast<std::ptrdiff_t>(from), count, target.begin());
          return count;
        },
        file_.size(), kDirectoryAt, "tile");
  }

 private:
  static constexpr std::uint32_t kDirectoryAt = 8;
  static constexpr std::uint16_t kStripOffsets = 273, kTileOffsets = 324;  // 0 until finish() knows better
  struct Entry {
    std::uint16_t tag, type;
    std::uint32_t count;
    Bytes value;
  };

  void add_bytes(std::uint16_t tag, std::uint16_t type, std::uint32_t count, std::span<std::byte const> value) {
    entries_.push_back({tag, type, count, Bytes(value.begin(), value.end())});
  }
  void add(std::uint16_t tag, std::uint32_t value, std::uint16_t type = 4) {
    add_bytes(tag, type, 1, std::as_bytes(std::span(&value, 1)).first(type == 3 ? 2 : 4));
  }
  void add_all(std::uint16_t tag, std::vector<std::uint16_t> const& values) {
    add_bytes(tag, 3, static_cast<std::uint32_t>(values.size()), std::as_bytes(std::span(values)));
  }
  template <class T>
  void put(std::size_t at, T value) {
    std::memcpy(file_.data() + at, &value, sizeof value);
  }
  // Header, directory, values that are longer than their entries, stream.
  void finish(Bytes const& stream) {
    std::size_t values = kDirectoryAt + 2 + 12 * entries_.size() + 4;
    std::size_t stream_at = values;
    for (Entry const& entry : entries_) { stream_at += bytes_outside(entry); }
    file_.assign(stream_at + stream.size(), std::byte{0});
    std::memcpy(file_.data(), "II\x2A\0\x08\0\0\0", 8);
    put(kDirectoryAt, static_cast<std::uint16_t>(entries_.size()));
    std::size_t at = kDirectoryAt + 2;
    for (Entry const& entry : entries_) {
      put(at, entry.tag);
      put(at + 2, entry.type);
      put(at + 4, entry.count);
      std::size_t const outside = bytes_outside(entry);
      if (outside != 0) { put(at + 8, static_cast<std::uint32_t>(values)); }
      std::ranges::copy(entry.value, file_.begin() + static_cast<std::ptrdiff_t>(outside == 0 ? at + 8 : values));
      if (entry.tag == kStripOffsets || entry.tag == kTileOffsets) {
        put(at + 8, static_cast<std::uint32_t>(stream_at));
      }
      values += outside;
      at += 12;
    }
    std::ranges::copy(stream, file_.begin() + static_cast<std::ptrdiff_t>(stream_at));
  }
  // Up to four bytes lie in the entry itself; others begin at even offsets.
  static std::size_t bytes_outside(Entry const& entry) {
    return entry.value.size() <= 4 ? 0 : (entry.value.size() + 1) & ~std::size_t{1};
  }

  std::vector<Entry> entries_;
  Bytes file_;
};

// What libtiff makes of the stream; nothing where libtiff is not to be had.
inline std::optional<Bytes> decode_by_libtiff(EncodeFormat const& format, BlockShape shape, Bytes const& stream) {
  if (!LibtiffDecoder::available()) { return std::nullopt; }
  OneTileTiff const file(format, shape, stream);
  LibtiffDecoder decoder = file.open();
  Bytes out(bytes_of_block(format.block, shape), std::byte{0xA5});
  tile::TileResult const result = decoder.decode_block(0, out);
  EXPECT_EQ(result.status, TileStatus::ok) << result.reason << "; " << decoder.messages();
  EXPECT_EQ(decoder.messages(), "");
  return out;
}

inline void expect_libtiff_reads(EncodeFormat const& format, BlockShape shape, Bytes const& samples) {
  auto const back = decode_by_libtiff(format, shape, encode(format, shape, samples));
  if (!back) { GTEST_SKIP() << "libtiff is not here"; }
  EXPECT_EQ(*back, samples);
}

}  // namespace terrazzo::codec::testing
