// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg2000/header.hpp"

#include <algorithm>

namespace terrazzo::codec {
namespace {

constexpr std::uint32_t kSoc = 0xFF4F, kSiz = 0xFF51, kCod = 0xFF52, kCoc = 0xFF53, kSot = 0xFF90;
constexpr std::uint32_t kBoxCodestream = 0x6A703263;  // "jp2c"
constexpr std::uint32_t kBoxSignature = 0x6A502020;   // "jP  "

std::uint32_t big_endian(std::span<std::byte const> in, std::size_t at, std::size_t bytes) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) { value = value << 8 | std::to_integer<std::uint32_t>(in[at + i]); }
  return value;
}

// The contents of the first codestream box; the input itself if it begins with a codestream.
std::optional<std::span<std::byte const>> find_codestream(std::span<std::byte const> in, bool& boxed) noexcept {
  if (in.size() >= 2 && big_endian(in, 0, 2) == kSoc) { return in; }
  if (in.size() < 12 || big_endian(in, 4, 4) != kBoxSignature) { return std::nullopt; }
  boxed = true;
  while (in.size() >= 8) {
    std::uint64_t length = big_endian(in, 0, 4);
    std::size_t header_bytes = 8;
    if (length == 1) {  // the length follows in 64 bits
      if (in.size() < 16) { return std::nullopt; }
      length = std::uint64_t{big_endian(in, 8, 4)} << 32 | big_endian(in, 12, 4);
      header_bytes = 16;
    } else if (length == 0) {  // the box extends to the end
      length = in.size();
    }
    if (length < header_bytes) { return std::nullopt; }
    if (big_endian(in, 4, 4) == kBoxCodestream) { return in.subspan(header_bytes); }
    if (length > in.size()) { return std::nullopt; }
    in = in.subspan(static_cast<std::size_t>(length));
  }
  return std::nullopt;
}

bool read_siz(std::span<std::byte const> body, Jpeg2000Header& header) noexcept {
  constexpr std::size_t kFixedBytes = 36;
  if (body.size() < kFixedBytes) { return false; }
  std::uint32_t const right = big_endian(body, 2, 4), bottom = big_endian(body, 6, 4);
  std::uint32_t const left = big_endian(body, 10, 4), top = big_endian(body, 14, 4);
  std::uint32_t const tile_width = big_endian(body, 18, 4), tile_height = big_endian(body, 22, 4);
  std::uint32_t const tile_left = big_endian(body, 26, 4), tile_top = big_endian(body, 30, 4);
  header.components = big_endian(body, 34, 2);
  if (right <= left || bottom <= top || tile_width == 0 || tile_height == 0 || tile_left > left || tile_top > top ||
      header.components == 0 || body.size() < kFixedBytes + 3 * std::size_t{header.components}) {
    return false;
  }
  header.width_px = right - left;
  header.height_px = bottom - top;
  auto const tiles = [](std::uint64_t end, std::uint64_t start, std::uint64_t size) {
    return (end - start + size - 1) / size;
  };
  header.inner_tile_count = tiles(right, tile_left, tile_width) * tiles(bottom, tile_top, tile_height);
  for (std::uint32_t i = 0; i < header.components; ++i) {
    std::uint32_t const depth = big_endian(body, kFixedBytes + 3 * std::size_t{i}, 1);
    header.max_bits = std::max(header.max_bits, (depth & 0x7F) + 1);
  }
  return true;
}

// Precinct sizes, one byte per resolution, the lowest first; the lowest one may be small.
void read_precincts(std::span<std::byte const> sizes, Jpeg2000Header& header) noexcept {
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    std::uint32_t const both = std::to_integer<std::uint32_t>(sizes[i]);
    header.smallest_precinct_log2 = std::min({header.smallest_precinct_log2, both & 15, both >> 4});
  }
}

}  // namespace

std::optional<Jpeg2000Header> parse_jpeg2000_header(std::span<std::byte const> in) noexcept {
  Jpeg2000Header header;
  auto const stream = find_codestream(in, header.in_jp2_boxes);
  if (!stream || stream->size() < 4 || big_endian(*stream, 0, 2) != kSoc || big_endian(*stream, 2, 2) != kSiz) {
    return std::nullopt;
  }
  constexpr std::size_t kCodSizesAt = 10;  // after style, progression, layers, transform, levels, code blocks
  bool has_siz = false;
  std::size_t at = 2;
  while (at + 4 <= stream->size()) {
    std::uint32_t const marker = big_endian(*stream, at, 2);
    if (marker == kSot || marker < 0xFF00) { break; }
    std::size_t const length = big_endian(*stream, at + 2, 2);
    if (length < 2 || length > stream->size() - at - 2) { break; }
    std::span<std::byte const> const body = stream->subspan(at + 4, length - 2);
    if (marker == kSiz && !has_siz) {
      if (!read_siz(body, header)) { return std::nullopt; }
      has_siz = true;
    } else if (marker == kCod && body.size() > kCodSizesAt && (body[0] & std::byte{1}) != std::byte{0}) {
      read_precincts(body.subspan(kCodSizesAt), header);
    } else if (marker == kCoc) {
      // One or two bytes of component number, then style, levels and four bytes of code blocks and transform.
      std::size_t const number_bytes = header.components < 257 ? 1 : 2;
      if (body.size() > number_bytes + 6 && (body[number_bytes] & std::byte{1}) != std::byte{0}) {
        read_precincts(body.subspan(number_bytes + 6), header);
      }
    }
    at += 2 + length;
  }
  return has_siz ? std::optional{header} : std::nullopt;
}

}  // namespace terrazzo::codec
