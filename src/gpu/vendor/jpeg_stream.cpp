// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/jpeg_stream.hpp"

#include <algorithm>
#include <cstring>

namespace terrazzo::gpu {
namespace {

// Marker codes, ITU-T T.81 table B.1.
constexpr unsigned kStartOfImage = 0xD8, kEndOfImage = 0xD9, kStartOfScan = 0xDA, kQuantisation = 0xDB, kHuffman = 0xC4,
                   kArithmetic = 0xCC, kExtension = 0xC8, kApp0 = 0xE0, kApp14 = 0xEE, kTemporary = 0x01;

bool is_frame(unsigned marker) noexcept {
  return marker >= 0xC0 && marker <= 0xCF && marker != kHuffman && marker != kArithmetic && marker != kExtension;
}
bool stands_alone(unsigned marker) noexcept { return (marker >= 0xD0 && marker <= 0xD7) || marker == kTemporary; }

unsigned at(std::span<std::byte const> bytes, std::size_t i) noexcept { return static_cast<unsigned>(bytes[i]); }
unsigned pair_at(std::span<std::byte const> bytes, std::size_t i) noexcept {
  return at(bytes, i) << 8 | at(bytes, i + 1);
}

std::uint8_t bit(unsigned number) noexcept { return static_cast<std::uint8_t>(1u << (number & 3)); }

// A segment of the stream; `body` is its content without its length.
struct Segment {
  unsigned marker = 0;
  std::size_t begin = 0;  // offset of the marker
  std::size_t end = 0;    // end of the segment
  std::span<std::byte const> body{};
};

// The segment at `at_byte`, after fill bytes. nullopt if the bytes end or are not a marker.
std::optional<Segment> next_segment(std::span<std::byte const> stream, std::size_t at_byte) noexcept {
  std::size_t i = at_byte;
  if (i >= stream.size() || at(stream, i) != 0xFF) { return std::nullopt; }
  while (i + 1 < stream.size() && at(stream, i + 1) == 0xFF) { ++i; }
  if (i + 1 >= stream.size()) { return std::nullopt; }
  Segment segment;
  segment.marker = at(stream, i + 1);
  segment.begin = i;
  segment.end = i + 2;
  if (segment.marker == 0 || segment.marker == kStartOfImage) { return std::nullopt; }
  if (segment.marker == kEndOfImage || stands_alone(segment.marker)) { return segment; }
  if (stream.size() - segment.end < 2) { return std::nullopt; }
  std::size_t const length = pair_at(stream, segment.end);
  if (length < 2 || length > stream.size() - segment.end) { return std::nullopt; }
  segment.body = stream.subspan(segment.end + 2, length - 2);
  segment.end += length;
  return segment;
}

bool read_quantisation(std::span<std::byte const> body, JpegTableSet& tables) noexcept {
  while (!body.empty()) {
    unsigned const head = at(body, 0);
    std::size_t const bytes = 1 + (head >> 4 != 0 ? 128u : 64u);
    if (head >> 4 > 1 || (head & 15) > 3 || body.size() < bytes) { return false; }
    tables.quantisation |= bit(head);
    body = body.subspan(bytes);
  }
  return true;
}

bool read_huffman(std::span<std::byte const> body, JpegTableSet& tables) noexcept {
  while (!body.empty()) {
    unsigned const head = at(body, 0);
    if (head >> 4 > 1 || (head & 15) > 3 || body.size() < 17) { return false; }
    std::size_t symbols = 0;
    for (std::size_t i = 1; i <= 16; ++i) { symbols += at(body, i); }
    if (symbols > 256 || body.size() < 17 + symbols) { return false; }
    (head >> 4 == 0 ? tables.dc : tables.ac) |= bit(head);
    body = body.subspan(17 + symbols);
  }
  return true;
}

bool read_frame(Segment const& segment, JpegSummary& summary) noexcept {
  std::span<std::byte const> const body = segment.body;
  if (summary.frame_marker != 0 || body.size() < 6) { return false; }
  summary.frame_marker = static_cast<std::uint8_t>(segment.marker);
  summary.precision = static_cast<std::uint8_t>(at(body, 0));
  summary.height_px = pair_at(body, 1);
  summary.width_px = pair_at(body, 3);
  summary.component_count = at(body, 5);
  if (summary.component_count == 0 || summary.component_count > kMaxJpegComponents ||
      body.size() < 6 + 3 * std::size_t{summary.component_count}) {
    return false;
  }
  for (std::size_t i = 0; i < summary.component_count; ++i) {
    unsigned const sampling = at(body, 7 + 3 * i);
    summary.components[i] = {static_cast<std::uint8_t>(at(body, 6 + 3 * i)), static_cast<std::uint8_t>(sampling >> 4),
                             static_cast<std::uint8_t>(sampling & 15)};
    if (at(body, 8 + 3 * i) > 3) { return false; }
    summary.used.quantisation |= bit(at(body, 8 + 3 * i));
  }
  return true;
}

bool read_scan(std::span<std::byte const> body, JpegSummary& summary) noexcept {
  if (summary.frame_marker == 0 || body.empty()) { return false; }
  std::size_t const count = at(body, 0);
  if (count == 0 || count > kMaxJpegComponents || body.size() < 4 + 2 * count) { return false; }
  for (std::size_t i = 0; i < count; ++i) {
    unsigned const tables = at(body, 2 + 2 * i);
    if (tables >> 4 > 3 || (tables & 15) > 3) { return false; }
    summary.used.dc |= bit(tables >> 4);
    summary.used.ac |= bit(tables & 15);
  }
  summary.one_scan = count == summary.component_count;
  return true;
}

void read_application(Segment const& segment, JpegSummary& summary) noexcept {
  auto const starts_with = [&](char const* name, std::size_t length) {
    return segment.body.size() >= length && std::memcmp(segment.body.data(), name, length) == 0;
  };
  if (segment.marker == kApp0 && starts_with("JFIF\0", 5)) { summary.has_jfif = true; }
  if (segment.marker == kApp14 && segment.body.size() >= 12 && starts_with("Adobe", 5)) {
    summary.adobe_transform = static_cast<std::uint8_t>(at(segment.body, 11));
  }
}

// Writers pad tiles with zeros, rarely with fill bytes.
bool ends_with_end_marker(std::span<std::byte const> stream) noexcept {
  std::size_t size = stream.size();
  while (size > 2 && at(stream, size - 1) == 0) { --size; }
  return size >= 2 && at(stream, size - 2) == 0xFF && at(stream, size - 1) == kEndOfImage;
}

bool starts_image(std::span<std::byte const> stream) noexcept {
  return stream.size() >= 2 && at(stream, 0) == 0xFF && at(stream, 1) == kStartOfImage;
}

JpegRoute route_colours(JpegSummary const& summary, JpegFormat const& format) noexcept {
  auto const& [first, second, third, fourth] = summary.components;
  bool const chroma_is_plain = second.across == 1 && second.down == 1 && third.across == 1 && third.down == 1;
  if (!chroma_is_plain || first.across < 1 || first.across > 2 || first.down < 1 || first.down > 2) {
    return JpegRoute::unsupported;
  }
  bool const is_subsampled = first.across != 1 || first.down != 1;
  if (!format.is_ycbcr || !format.to_rgb) { return is_subsampled ? JpegRoute::unsupported : JpegRoute::planes; }
  // The photometric tag says YCbCr. If the stream says RGB, decoders disagree about which of them counts.
  bool const has_rgb_ids = first.id == 'R' && second.id == 'G' && third.id == 'B';
  bool const says_rgb = summary.adobe_transform ? *summary.adobe_transform != 1 : has_rgb_ids && !summary.has_jfif;
  return says_rgb ? JpegRoute::unsupported : JpegRoute::rgb;
}

// A comment of two bytes: the tile's own start marker.
constexpr std::array<std::byte, 4> kCommentHead{std::byte{0xFF}, std::byte{0xFE}, std::byte{0x00}, std::byte{0x04}};

}  // namespace

std::optional<JpegSummary> summarise_jpeg(std::span<std::byte const> stream) noexcept {
  if (!starts_image(stream)) { return std::nullopt; }
  JpegSummary summary;
  for (std::size_t at_byte = 2;;) {
    std::optional<Segment> const segment = next_segment(stream, at_byte);
    if (!segment || segment->marker == kEndOfImage) { return std::nullopt; }
    at_byte = segment->end;
    bool fine = true;
    if (segment->marker == kQuantisation) {
      fine = read_quantisation(segment->body, summary.defined);
    } else if (segment->marker == kHuffman) {
      fine = read_huffman(segment->body, summary.defined);
    } else if (is_frame(segment->marker)) {
      fine = read_frame(*segment, summary);
    } else if (segment->marker == kStartOfScan) {
      if (!read_scan(segment->body, summary)) { return std::nullopt; }
      summary.has_end = ends_with_end_marker(stream.subspan(at_byte));
      return summary;
    } else {
      read_application(*segment, summary);
    }
    if (!fine) { return std::nullopt; }
  }
}

std::optional<JpegTables> parse_jpeg_tables(std::span<std::byte const> tag) {
  JpegTables tables;
  if (tag.empty()) { return tables; }
  if (!starts_image(tag)) { return std::nullopt; }
  tables.front.assign(tag.begin(), tag.begin() + 2);
  for (std::size_t at_byte = 2; at_byte < tag.size();) {
    std::optional<Segment> const segment = next_segment(tag, at_byte);
    if (!segment || is_frame(segment->marker) || segment->marker == kStartOfScan) { return std::nullopt; }
    if (segment->marker == kEndOfImage) { break; }
    at_byte = segment->end;
    bool const is_quantisation = segment->marker == kQuantisation;
    if (!is_quantisation && segment->marker != kHuffman) { continue; }
    bool const fine = is_quantisation ? read_quantisation(segment->body, tables.defined)
                                      : read_huffman(segment->body, tables.defined);
    if (!fine) { return std::nullopt; }
    std::span<std::byte const> const whole = tag.subspan(segment->begin, segment->end - segment->begin);
    tables.front.insert(tables.front.end(), whole.begin(), whole.end());
  }
  return tables;
}

JpegRoute route_jpeg(std::span<std::byte const> tile, JpegFormat const& format, JpegTables const& tables,
                     bool& needs_tables) noexcept {
  needs_tables = false;
  if (!starts_image(tile)) { return JpegRoute::corrupt; }
  std::optional<JpegSummary> const summary = summarise_jpeg(tile);
  if (!summary) { return JpegRoute::unsupported; }
  needs_tables = !summary->defined.covers(summary->used);
  bool const has_tables = summary->defined.with(tables.defined).covers(summary->used);
  bool const is_sequential = summary->frame_marker == 0xC0 || summary->frame_marker == 0xC1;
  if (!has_tables || !is_sequential || summary->precision != 8 || !summary->one_scan || !summary->has_end ||
      summary->width_px != format.width_px || summary->height_px != format.height_px ||
      summary->component_count != format.samples) {
    return JpegRoute::unsupported;
  }
  if (format.samples == 1) {
    bool const is_plain = summary->components[0].across == 1 && summary->components[0].down == 1;
    return is_plain ? JpegRoute::gray : JpegRoute::unsupported;
  }
  return format.samples == 3 ? route_colours(*summary, format) : JpegRoute::unsupported;
}

std::size_t jpeg_front_bytes(JpegTables const& tables) noexcept {
  return tables.front.empty() ? 0 : tables.front.size() + kCommentHead.size();
}

void put_jpeg_front(JpegTables const& tables, std::byte* tile) noexcept {
  std::byte* const comment = tile - kCommentHead.size();
  std::copy(kCommentHead.begin(), kCommentHead.end(), comment);
  std::copy(tables.front.begin(), tables.front.end(), comment - tables.front.size());
}

}  // namespace terrazzo::gpu
