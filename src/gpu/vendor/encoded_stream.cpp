// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/encoded_stream.hpp"

#include "gpu/vendor/jpeg_stream.hpp"

#include <algorithm>
#include <vector>

namespace terrazzo::gpu {
namespace {

// Marker codes, ITU-T T.81 table B.1.
constexpr unsigned kBaseline = 0xC0, kHuffman = 0xC4, kEndOfImage = 0xD9, kStartOfScan = 0xDA, kQuantisation = 0xDB,
                   kRestartInterval = 0xDD;
// ITU-T T.800 table A.2.
constexpr unsigned kStartOfCodestream = 0xFF4F, kSize = 0xFF51, kCodingStyle = 0xFF52, kStartOfTilePart = 0xFF90,
                   kEndOfCodestream = 0xFFD9;

unsigned at(std::span<std::byte const> bytes, std::size_t i) noexcept { return static_cast<unsigned>(bytes[i]); }
unsigned pair_at(std::span<std::byte const> bytes, std::size_t i) noexcept {
  return at(bytes, i) << 8 | at(bytes, i + 1);
}
std::uint32_t four_at(std::span<std::byte const> bytes, std::size_t i) noexcept {
  return std::uint32_t{pair_at(bytes, i)} << 16 | pair_at(bytes, i + 2);
}

struct Segment {
  unsigned marker = 0;  // its second byte
  std::size_t begin = 0, end = 0;
  [[nodiscard]] std::size_t body() const noexcept { return begin + 4; }
};

// The segments from the start marker to the first scan (included) or to the end marker. nullopt unless they are
// contiguous.
std::optional<std::vector<Segment>> segments_of(std::span<std::byte const> stream) {
  if (stream.size() < 4 || pair_at(stream, 0) != 0xFFD8) { return std::nullopt; }
  std::vector<Segment> segments;
  for (std::size_t i = 2;;) {
    if (stream.size() - i < 2 || at(stream, i) != 0xFF) { return std::nullopt; }
    unsigned const marker = at(stream, i + 1);
    if (marker == kEndOfImage) { return segments; }
    bool const has_length = marker >= kBaseline && (marker < 0xD0 || marker > 0xD8);
    if (!has_length || stream.size() - i < 4) { return std::nullopt; }
    std::size_t const length = pair_at(stream, i + 2);
    if (length < 2 || length > stream.size() - i - 2) { return std::nullopt; }
    segments.push_back({marker, i, i + 2 + length});
    i = segments.back().end;
    if (marker == kStartOfScan) { return segments; }
  }
}

// Calls visit(number, offset of its 64 values) for each table of a DQT segment.
template <class Visit>
bool each_table(std::span<std::byte const> stream, Segment const& segment, Visit const& visit) {
  for (std::size_t i = segment.body(); i < segment.end; i += 65) {
    unsigned const head = at(stream, i);
    if (head > 3 || segment.end - i < 65) { return false; }  // upper half not 0: values of 16 bits
    visit(head, i + 1);
  }
  return true;
}

std::span<std::byte const> without_padding(std::span<std::byte> stream, std::size_t begin) noexcept {
  std::size_t end = stream.size();
  while (end > begin && at(stream, end - 1) == 0) { --end; }
  return stream.subspan(begin, end - begin);
}

// True if every component uses a table that is equal in stream and tag.
bool agree(std::span<std::byte const> stream, Segment const& frame, QuantisationTables const& own,
           QuantisationTables const& tag) {
  std::size_t const components = at(stream, frame.body() + 5);
  for (std::size_t i = 0; i < components; ++i) {
    unsigned const number = at(stream, frame.body() + 8 + 3 * i);
    if (number > 3 || !own[number] || own[number] != tag[number]) { return false; }
  }
  return true;
}

}  // namespace

std::optional<QuantisationTables> quantisation_tables(std::span<std::byte const> stream) {
  auto const segments = segments_of(stream);
  if (!segments) { return std::nullopt; }
  QuantisationTables tables;
  for (Segment const& segment : *segments) {
    if (segment.marker != kQuantisation) { continue; }
    bool const fine = each_table(stream, segment, [&](unsigned number, std::size_t begin) {
      std::span<std::byte const> const values = stream.subspan(begin, 64);
      std::copy(values.begin(), values.end(), tables[number].emplace().begin());
    });
    if (!fine) { return std::nullopt; }
  }
  return tables;
}

bool replace_quantisation_tables(std::span<std::byte> stream, QuantisationTables const& tables) {
  auto const segments = segments_of(stream);
  if (!segments) { return false; }
  bool all_known = true;
  for (Segment const& segment : *segments) {
    if (segment.marker != kQuantisation) { continue; }
    bool const fine = each_table(stream, segment, [&](unsigned number, std::size_t begin) {
      all_known = all_known && tables[number].has_value();
      if (!all_known) { return; }
      std::copy(tables[number]->begin(), tables[number]->end(), stream.begin() + static_cast<std::ptrdiff_t>(begin));
    });
    if (!fine) { return false; }
  }
  return all_known;
}

std::span<std::byte const> abbreviate_jpeg(std::span<std::byte> stream, JpegShape const& shape,
                                           QuantisationTables const& tables) {
  std::optional<JpegSummary> const summary = summarise_jpeg(stream);
  bool const is_right = summary && summary->frame_marker == kBaseline && summary->precision == 8 &&
                        summary->width_px == shape.width_px && summary->height_px == shape.height_px &&
                        summary->component_count == shape.components && summary->one_scan && summary->has_end &&
                        summary->defined.covers(summary->used);
  if (!is_right) { return {}; }
  for (std::size_t i = 0; i < shape.components && shape.components > 1; ++i) {
    JpegComponent const& component = summary->components[i];
    if (component.across != (i == 0 ? shape.across : 1) || component.down != (i == 0 ? shape.down : 1)) { return {}; }
  }
  auto const segments = segments_of(stream);
  auto const own = quantisation_tables(stream);
  if (!segments || segments->empty() || segments->back().marker != kStartOfScan || !own) { return {}; }
  for (Segment const& segment : *segments) {
    if (segment.marker != kBaseline) { continue; }
    if (!agree(stream, segment, *own, tables)) { return {}; }
    // The blocks of a single component come row by row for any factors (T.81, A.2.2), but readers expect factors of 1.
    if (shape.components == 1) { stream[segment.body() + 7] = std::byte{0x11}; }
  }
  // The kept segments move towards the scan, so that the scan, nearly all of the stream, stays in place.
  std::size_t begin = segments->back().end;
  for (auto segment = segments->rbegin(); segment != segments->rend(); ++segment) {
    bool const is_kept = segment->marker == kBaseline || segment->marker == kHuffman ||
                         segment->marker == kRestartInterval || segment->marker == kStartOfScan;
    if (!is_kept) { continue; }
    begin -= segment->end - segment->begin;
    std::move_backward(stream.data() + segment->begin, stream.data() + segment->end,
                       stream.data() + begin + (segment->end - segment->begin));
  }
  begin -= 2;
  stream[begin] = std::byte{0xFF};
  stream[begin + 1] = std::byte{0xD8};
  return without_padding(stream, begin);
}

bool is_lossless_codestream(std::span<std::byte const> stream, CodestreamShape const& shape) noexcept {
  if (stream.size() < 4 || pair_at(stream, 0) != kStartOfCodestream ||
      pair_at(stream, stream.size() - 2) != kEndOfCodestream) {
    return false;
  }
  bool has_size = false, is_reversible = false;
  for (std::size_t i = 2; stream.size() - i >= 4;) {
    unsigned const marker = pair_at(stream, i);
    if (marker == kStartOfTilePart) { return has_size && is_reversible; }
    std::size_t const length = pair_at(stream, i + 2);
    if (marker < 0xFF00 || length < 2 || length > stream.size() - i - 2) { return false; }
    std::span<std::byte const> const body = stream.subspan(i + 4, length - 2);
    if (marker == kSize) {
      if (body.size() < 36 + 3 * std::size_t{shape.components}) { return false; }
      bool const is_plain = four_at(body, 10) == 0 && four_at(body, 14) == 0 && four_at(body, 26) == 0 &&
                            four_at(body, 30) == 0;  // image and tiles begin at 0
      has_size = is_plain && four_at(body, 2) == shape.width_px && four_at(body, 6) == shape.height_px &&
                 four_at(body, 18) >= shape.width_px && four_at(body, 22) >= shape.height_px &&
                 pair_at(body, 34) == shape.components;
      for (std::size_t c = 0; c < shape.components; ++c) {
        has_size &= at(body, 36 + 3 * c) == ((shape.bits - 1) | (shape.is_signed ? 0x80u : 0u)) &&
                    at(body, 37 + 3 * c) == 1 && at(body, 38 + 3 * c) == 1;
      }
    } else if (marker == kCodingStyle) {
      is_reversible = body.size() >= 10 && at(body, 9) == 1;
    }
    i += 2 + length;
  }
  return false;
}

}  // namespace terrazzo::gpu
