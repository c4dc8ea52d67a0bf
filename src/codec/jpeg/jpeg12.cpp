// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/jpeg12.hpp"

#include "codec/jpeg/jpeg12_stream.hpp"
#include "codec/registry/result.hpp"
#include "tile/host/jpeg_color.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace terrazzo::codec {
namespace {

using Row = std::vector<std::uint16_t>;

// libjpeg's "fancy" upsampling: each new sample is three quarters of the near one and one quarter of the far one. The
// rounding alternates, which avoids a bias.
void widen_twice(std::uint16_t const* in, std::uint32_t width, Row& out) {
  for (std::uint32_t x = 0; x < width; ++x) {
    std::uint32_t const left = in[x == 0 ? 0 : x - 1], right = in[x + 1 < width ? x + 1 : x];
    out[2 * x] = static_cast<std::uint16_t>(x == 0 ? in[0] : (in[x] * 3u + left + 1) >> 2);
    out[2 * x + 1] = static_cast<std::uint16_t>(x + 1 == width ? in[x] : (in[x] * 3u + right + 2) >> 2);
  }
}

// Upsamples in both directions; `far` is the row above or below.
void widen_twice_between(std::uint16_t const* near, std::uint16_t const* far, std::uint32_t width, Row& out) {
  auto const sum = [near, far](std::uint32_t x) { return near[x] * 3u + far[x]; };
  for (std::uint32_t x = 0; x < width; ++x) {
    std::uint32_t const here = sum(x);
    out[2 * x] = static_cast<std::uint16_t>(x == 0 ? (here * 4 + 8) >> 4 : (here * 3 + sum(x - 1) + 8) >> 4);
    out[2 * x + 1] =
        static_cast<std::uint16_t>(x + 1 == width ? (here * 4 + 7) >> 4 : (here * 3 + sum(x + 1) + 7) >> 4);
  }
}

// One row of a component at the image's resolution. `out` has room for the row rounded up to whole MCUs.
void upsample_row(Jpeg12Stream const& stream, Jpeg12Plane const& plane, std::uint32_t y, Row& out) {
  std::uint32_t const step_x = stream.max_h / plane.h, step_y = stream.max_v / plane.v;
  std::uint32_t const source = std::min(y / step_y, plane.height - 1);
  bool const smooth = step_x == 2 && plane.width > 2;
  if (smooth && step_y == 1) {
    widen_twice(plane.row(source), plane.width, out);
  } else if (smooth && step_y == 2) {
    std::uint32_t const far = y % 2 == 0 ? (source == 0 ? 0 : source - 1) : std::min(source + 1, plane.height - 1);
    widen_twice_between(plane.row(source), plane.row(far), plane.width, out);
  } else {
    std::uint16_t const* const row = plane.row(source);
    for (std::uint32_t x = 0; x < stream.width; ++x) { out[x] = row[x / step_x]; }
  }
}

void to_rgb(Row& red, Row& green, Row& blue, std::uint32_t width) {
  for (std::uint32_t x = 0; x < width; ++x) {
    int const luma = red[x], cb = green[x] - kJpeg12Centre, cr = blue[x] - kJpeg12Centre;
    auto const limit = [](int value) { return static_cast<std::uint16_t>(std::clamp(value, 0, kJpeg12Max)); };
    tile::JpegRgb const rgb = tile::jpeg_to_rgb(luma, cb, cr);
    red[x] = limit(rgb.red);
    green[x] = limit(rgb.green);
    blue[x] = limit(rgb.blue);
  }
}

// Interleaves and packs: two samples in three bytes. REQUIRES: `out` is zero.
void pack_row(std::span<Row const> components, std::uint32_t width, std::byte* out) {
  std::size_t index = 0;
  for (std::uint32_t x = 0; x < width; ++x) {
    for (Row const& component : components) {
      std::uint32_t const value = component[x];
      std::byte* const at = out + index / 2 * 3;
      if (index % 2 == 0) {
        at[0] = static_cast<std::byte>(value >> 4);
        at[1] = static_cast<std::byte>(value << 4 & 0xF0);
      } else {
        at[1] |= static_cast<std::byte>(value >> 8);
        at[2] = static_cast<std::byte>(value & 0xFF);
      }
      ++index;
    }
  }
}

bool has_whole_steps(Jpeg12Stream const& stream) {
  return std::ranges::all_of(stream.planes, [&stream](Jpeg12Plane const& plane) {
    return stream.max_h % plane.h == 0 && stream.max_v % plane.v == 0;
  });
}

void put_image(Jpeg12Stream const& stream, BlockFormat const& format, std::size_t pitch, std::span<std::byte> out) {
  std::size_t const room = std::size_t{stream.width} + 8 * stream.max_h;
  std::vector<Row> rows(stream.planes.size(), Row(room));
  bool const convert =
      format.photometric == tiff::Photometric::ycbcr && format.convert_ycbcr_to_rgb && rows.size() == 3;
  for (std::uint32_t y = 0; y < stream.height; ++y) {
    for (std::size_t i = 0; i < rows.size(); ++i) { upsample_row(stream, stream.planes[i], y, rows[i]); }
    if (convert) { to_rgb(rows[0], rows[1], rows[2], stream.width); }
    pack_row(rows, stream.width, out.data() + y * pitch);
  }
}

}  // namespace

tile::TileResult decode_jpeg12(BlockFormat const& format, BlockShape shape, std::span<std::byte const> in,
                               std::span<std::byte> out) {
  if (auto const refusal = refuse_shape(format, shape, out.size())) { return *refusal; }
  Jpeg12Stream stream({.width = shape.width_px, .height = shape.height_px, .components = format.samples_per_pixel});
  if (!format.jpeg_tables.empty() && stream.read(format.jpeg_tables, false) == Jpeg12Trouble::damaged) {
    return corrupt("the JPEGTables are damaged");
  }
  Jpeg12Trouble const trouble = stream.read(in, true);
  switch (trouble) {
    case Jpeg12Trouble::damaged: return corrupt("the JPEG stream is damaged");
    case Jpeg12Trouble::does_not_fit: return corrupt("the JPEG stream has another size or number of components");
    case Jpeg12Trouble::not_sequential_12_bit: return unsupported("12-bit JPEG is decoded when it is sequential only");
    case Jpeg12Trouble::ended_early:
      if (stream.planes.empty()) { return truncated(0, "the JPEG stream ends before its image"); }
      break;
    case Jpeg12Trouble::none: break;
  }
  if (!has_whole_steps(stream)) { return unsupported("12-bit JPEG with fractional subsampling"); }
  std::size_t const pitch = *row_bytes(format, shape);
  std::size_t const expected = pitch * shape.height_px;
  std::memset(out.data(), 0, expected);  // an image smaller than the block leaves the rest black, as in libtiff
  put_image(stream, format, pitch, out);
  if (trouble == Jpeg12Trouble::ended_early) {
    return truncated(std::min(expected, stream.good_rows * pitch), "the JPEG stream ends early");
  }
  return done_of(expected, out.size(), false);
}

}  // namespace terrazzo::codec
