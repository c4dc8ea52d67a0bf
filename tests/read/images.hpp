// SPDX-License-Identifier: Apache-2.0
//
// Whole TIFF files in memory for tests of reading: any layout, with values that tell where they belong.
#pragma once

#include "base/byte_view.hpp"
#include "base/checked.hpp"
#include "read/open/dataset.hpp"
#include "support/failure.hpp"
#include "support/tiff_builder.hpp"
#include "terrazzo/read.hpp"
#include "tile/bit_reverse.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace terrazzo::reading {

inline constexpr std::uint16_t kNone = 1, kPackBits = 32773;

struct ImageSpec {
  std::uint32_t width = 0, height = 0;
  std::uint16_t bands = 1;
  std::uint32_t tile_width = 0, tile_height = 0;  // 0: strips
  std::uint32_t rows_per_strip = 0;               // 0: one strip
  bool separate = false;
  std::uint16_t compression = kNone;
  std::endian order = std::endian::little;
  bool big = false;
  bool reversed_bits = false;
  std::uint32_t subfile_type = 0;
  // May change the bytes of a block as they go into the file; a block left empty is sparse.
  std::function<void(std::uint64_t block, std::vector<std::byte>& bytes)> edit{};
};

// Of band (0-based), row and column: different for neighbours in every direction.
template <class T>
T value_at(std::uint32_t band, std::uint32_t row, std::uint32_t column) {
  std::uint32_t const v = row * 31 + column * 7 + band * 101 + 1;
  return static_cast<T>(v % 251);
}

inline std::vector<std::byte> packbits(std::vector<std::byte> const& bytes) {
  std::vector<std::byte> out;
  for (std::size_t at = 0; at < bytes.size(); at += 128) {  // literal runs only
    std::size_t const count = std::min<std::size_t>(128, bytes.size() - at);
    out.push_back(static_cast<std::byte>(count - 1));
    out.insert(out.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
               bytes.begin() + static_cast<std::ptrdiff_t>(at + count));
  }
  return out;
}

template <class T>
void put_sample(std::vector<std::byte>& out, T value, std::endian order) {
  std::byte raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  if (order != std::endian::native) { std::reverse(raw, raw + sizeof(T)); }
  out.insert(out.end(), raw, raw + sizeof(T));
}

// Adds the image to the builder's current directory, block by block. Padding of tiles is 0xEE: it must not show.
template <class T>
void add_image(testing::TiffBuilder& builder, ImageSpec const& spec,
               std::function<T(std::uint32_t, std::uint32_t, std::uint32_t)> const& value = value_at<T>) {
  bool const tiled = spec.tile_width != 0;
  std::uint32_t const block_width = tiled ? spec.tile_width : spec.width;
  std::uint32_t const block_height = tiled                      ? spec.tile_height
                                     : spec.rows_per_strip != 0 ? spec.rows_per_strip
                                                                : spec.height;
  std::uint32_t const across = ceil_div(spec.width, block_width), down = ceil_div(spec.height, block_height);
  std::uint32_t const planes = spec.separate ? spec.bands : 1, samples = spec.separate ? 1 : spec.bands;
  std::vector<std::uint32_t> offsets, counts;
  for (std::uint32_t plane = 0; plane < planes; ++plane) {
    for (std::uint32_t block = 0; block < across * down; ++block) {
      std::uint32_t const top = block / across * block_height, left = block % across * block_width;
      std::uint32_t const rows = tiled ? block_height : std::min(block_height, spec.height - top);
      std::vector<std::byte> bytes;
      for (std::uint32_t r = top; r < top + rows; ++r) {
        for (std::uint32_t c = left; c < left + block_width; ++c) {
          for (std::uint32_t s = 0; s < samples; ++s) {
            if (r >= spec.height || c >= spec.width) {
              bytes.insert(bytes.end(), sizeof(T), std::byte{0xEE});
            } else {
              put_sample<T>(bytes, value(spec.separate ? plane : s, r, c), spec.order);
            }
          }
        }
      }
      if (spec.compression == kPackBits) { bytes = packbits(bytes); }
      if (spec.reversed_bits) { tile::reverse_bits(bytes, bytes); }
      if (spec.edit) { spec.edit(std::uint64_t{plane} * across * down + block, bytes); }
      offsets.push_back(bytes.empty() ? 0 : static_cast<std::uint32_t>(builder.data(bytes)));
      counts.push_back(static_cast<std::uint32_t>(bytes.size()));
    }
  }
  constexpr std::uint16_t kFormat = std::is_floating_point_v<T> ? 3 : std::is_signed_v<T> ? 2 : 1;
  if (spec.subfile_type != 0) { builder.longs(254, {spec.subfile_type}); }
  builder.longs(256, {spec.width})
      .longs(257, {spec.height})
      .shorts(258, std::vector<std::uint16_t>(spec.bands, static_cast<std::uint16_t>(8 * sizeof(T))))
      .shorts(259, {spec.compression})
      .shorts(262, {static_cast<std::uint16_t>(1)})
      .shorts(277, {spec.bands})
      .shorts(284, {static_cast<std::uint16_t>(spec.separate ? 2 : 1)})
      .shorts(339, std::vector<std::uint16_t>(spec.bands, kFormat));
  if (spec.reversed_bits) { builder.shorts(266, {2}); }
  if (tiled) {
    builder.longs(322, {spec.tile_width}).longs(323, {spec.tile_height}).longs(324, offsets).longs(325, counts);
  } else {
    builder.longs(273, offsets).longs(278, {block_height}).longs(279, counts);
  }
}

template <class T>
testing::TiffBuilder image(ImageSpec const& spec,
                           std::function<T(std::uint32_t, std::uint32_t, std::uint32_t)> const& value = value_at<T>) {
  testing::TiffBuilder builder(spec.order, spec.big);
  add_image<T>(builder, spec, value);
  return builder;
}

// A dataset with the bytes it borrows.
class Opened {
 public:
  explicit Opened(testing::TiffBuilder const& builder, OpenOptions const& options = {})
      : bytes_(std::make_unique<std::vector<std::byte>>(builder.bytes())),
        dataset_(open_memory(*bytes_, "memory.tif", options)) {}
  [[nodiscard]] Dataset const& operator*() const { return dataset_; }
  [[nodiscard]] Dataset const* operator->() const { return &dataset_; }

 private:
  std::unique_ptr<std::vector<std::byte>> bytes_;
  Dataset dataset_;
};

inline Level const& level_of(Opened const& opened) { return *opened->shared_impl()->levels[0]; }

template <class T>
std::vector<T> values_of(HostArray const& array) {
  std::vector<T> values(array.bytes().size() / sizeof(T));
  std::memcpy(values.data(), array.bytes().data(), array.bytes().size());
  return values;
}

// bands x height x width, as value_at gives them. Bands are 1-based, as in a request.
template <class T>
std::vector<T> expected(Window const& window, std::vector<std::uint32_t> const& bands) {
  std::vector<T> values;
  for (std::uint32_t const band : bands) {
    for (std::uint32_t r = 0; r < window.height; ++r) {
      for (std::uint32_t c = 0; c < window.width; ++c) {
        values.push_back(value_at<T>(band - 1, window.row + r, window.column + c));
      }
    }
  }
  return values;
}

using terrazzo::testing::failure_of;

}  // namespace terrazzo::reading
