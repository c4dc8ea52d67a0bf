// SPDX-License-Identifier: Apache-2.0
//
// What must be known of a TIFF tile's JPEG stream before a decoder of the vendor gets it, and how the image's
// JPEGTables are put in front of it. Reads headers only, in host memory; whatever the bytes are, nothing outside them
// is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace terrazzo::gpu {

// Which tables a stream defines or uses, one bit for each number 0..3.
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
  bool has_end = false;  // the end marker is the last thing in the stream, padding aside
};

// Nothing when the headers are damaged, have more than four components, or end before the first scan.
[[nodiscard]] std::optional<JpegSummary> summarise_jpeg(std::span<std::byte const> stream) noexcept;

// JPEGTables as they go in front of a tile: a start marker and the DQT and DHT segments. Restart intervals and
// application markers of the tables do not hold for the tiles (libjpeg forgets them at the tile's start marker).
struct JpegTables {
  std::vector<std::byte> front;
  JpegTableSet defined;
};

// Nothing when the tag is damaged. An empty tag gives empty tables.
[[nodiscard]] std::optional<JpegTables> parse_jpeg_tables(std::span<std::byte const> tag);

// The image's side of the matter; the same for all tiles of a batch.
struct JpegFormat {
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t samples = 1;
  bool is_ycbcr = false;                  // by the photometric tag: markers in the stream do not count
  bool to_rgb = true;                     // YCbCr becomes RGB
  std::span<std::byte const> tables{};    // tag 347
};

enum class JpegRoute : std::uint8_t {
  corrupt,      // not a JPEG stream
  unsupported,  // left to the host
  gray,         // one component
  rgb,          // three components in YCbCr, converted
  planes,       // three components of equal size, left as they are
};

// How a tile is to be decoded so that the result is the host codec's. `tables` are those of `format`.
[[nodiscard]] JpegRoute route_jpeg(std::span<std::byte const> tile, JpegFormat const& format, JpegTables const& tables,
                                   bool& needs_tables) noexcept;

// A stream with tables is `jpeg_front_bytes(tables)` longer than the tile. In place: that many bytes before the tile
// are overwritten, and not one of the tile's own: its start marker becomes the text of a comment.
[[nodiscard]] std::size_t jpeg_front_bytes(JpegTables const& tables) noexcept;
void put_jpeg_front(JpegTables const& tables, std::byte* tile) noexcept;

}  // namespace terrazzo::gpu
