// SPDX-License-Identifier: Apache-2.0
//
// Parses the headers of a TIFF tile's JPEG stream before a vendor decoder gets it, and inserts the image's JPEGTables
// before it. Reads headers only, in host memory; for any bytes, nothing outside them is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace terrazzo::gpu {

// The tables that a stream defines or uses, one bit for each number 0..3.
struct JpegTableSet {
  std::uint8_t quantisation = 0;
  std::uint8_t dc = 0;
  std::uint8_t ac = 0;

  [[nodiscard]] bool covers(JpegTableSet const& used) const noexcept {
    return (used.quantisation & ~quantisation) == 0 && (used.dc & ~dc) == 0 && (used.ac & ~ac) == 0;
  }
  [[nodiscard]] JpegTableSet with(JpegTableSet const& more) const noexcept {
    return {static_cast<std::uint8_t>(quantisation | more.quantisation), static_cast<std::uint8_t>(dc | more.dc),
            static_cast<std::uint8_t>(ac | more.ac)};
  }
};

struct JpegComponent {
  std::uint8_t id = 0;
  std::uint8_t across = 0;  // sampling factors
  std::uint8_t down = 0;
};

inline constexpr std::size_t kMaxJpegComponents = 4;

// The headers of one stream, up to its first scan.
struct JpegSummary {
  std::uint8_t frame_marker = 0;  // 0xC0 baseline, 0xC1 extended, 0xC2 progressive, ...
  std::uint8_t precision = 0;
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t component_count = 0;
  std::array<JpegComponent, kMaxJpegComponents> components{};
  bool one_scan = false;  // the first scan holds every component
  bool has_jfif = false;
  std::optional<std::uint8_t> adobe_transform;
  JpegTableSet defined;
  JpegTableSet used;
  bool has_end = false;  // the end marker ends the stream, except for padding
};

// Empty if the headers are damaged, have more than four components, or end before the first scan.
[[nodiscard]] std::optional<JpegSummary> summarise_jpeg(std::span<std::byte const> stream) noexcept;

// JPEGTables in the form that is inserted before a tile: a start marker and the DQT and DHT segments. Restart intervals
// and application markers of the tables do not apply to the tiles (libjpeg resets them at the tile's start marker).
struct JpegTables {
  std::vector<std::byte> front;
  JpegTableSet defined;
};

// Empty if the tag is damaged. An empty tag gives empty tables.
[[nodiscard]] std::optional<JpegTables> parse_jpeg_tables(std::span<std::byte const> tag);

// The image's properties; the same for all tiles of a batch.
struct JpegFormat {
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t samples = 1;
  bool is_ycbcr = false;  // from the photometric tag; markers in the stream are ignored
  bool to_rgb = true;  // YCbCr becomes RGB
  std::span<std::byte const> tables{};  // tag 347
};

enum class JpegRoute : std::uint8_t {
  corrupt,  // not a JPEG stream
  unsupported,  // left to the host
  gray,  // one component
  rgb,  // three components in YCbCr, converted
  planes,  // three components of equal size, not converted
};

// The way to decode a tile with the host codec's result. `tables` are those of `format`.
[[nodiscard]] JpegRoute route_jpeg(std::span<std::byte const> tile, JpegFormat const& format, JpegTables const& tables,
                                   bool& needs_tables) noexcept;

// A stream with tables is `jpeg_front_bytes(tables)` longer than the tile. In place: overwrites that many bytes before
// the tile and no byte of the tile: its start marker becomes the text of a comment.
[[nodiscard]] std::size_t jpeg_front_bytes(JpegTables const& tables) noexcept;
void put_jpeg_front(JpegTables const& tables, std::byte* tile) noexcept;

}  // namespace terrazzo::gpu
