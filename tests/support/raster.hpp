// SPDX-License-Identifier: Apache-2.0
//
// Small uncompressed rasters for tests of code that reads.
#pragma once

#include "support/tiff_builder.hpp"

#include "terrazzo/read.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace terrazzo::testing {

// A TIFF in memory with its dataset; the bytes live as long as this object.
class Raster {
 public:
  explicit Raster(TiffBuilder const& builder)
      : bytes_(std::make_unique<std::vector<std::byte>>(builder.bytes())), dataset_(open_memory(*bytes_)) {}
  [[nodiscard]] Dataset const& dataset() const { return dataset_; }

 private:
  std::unique_ptr<std::vector<std::byte>> bytes_;
  Dataset dataset_;
};

template <class T>
std::vector<std::byte> as_bytes(std::vector<T> const& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// An ASCII tag with its terminating zero; the count is passed before the bytes are moved.
inline TiffBuilder& text_tag(TiffBuilder& builder, std::uint16_t tag, std::string const& text) {
  std::vector<std::byte> bytes(text.size() + 1);
  std::memcpy(bytes.data(), text.data(), text.size());
  std::uint64_t const count = bytes.size();
  return builder.raw(tag, 2, count, std::move(bytes));
}

// Samples of type T, pixel-interleaved, in strips of `rows_per_strip` rows. Add tags before making a Raster of it.
template <class T>
TiffBuilder raster_builder(std::uint32_t width, std::uint32_t height, std::vector<T> const& samples,
                           std::uint32_t rows_per_strip, std::uint16_t bands = 1) {
  TiffBuilder builder;
  std::size_t const row_samples = std::size_t{width} * bands;
  std::vector<std::uint32_t> offsets, counts;
  for (std::uint32_t row = 0; row < height; row += rows_per_strip) {
    std::uint32_t const rows = std::min(rows_per_strip, height - row);
    auto const first = samples.begin() + static_cast<std::ptrdiff_t>(row * row_samples);
    std::vector<T> const strip(first, first + static_cast<std::ptrdiff_t>(rows * row_samples));
    offsets.push_back(static_cast<std::uint32_t>(builder.data(as_bytes(strip))));
    counts.push_back(static_cast<std::uint32_t>(strip.size() * sizeof(T)));
  }
  constexpr std::uint16_t kFormat = std::is_floating_point_v<T> ? 3 : std::is_signed_v<T> ? 2 : 1;
  builder.longs(256, {width})
      .longs(257, {height})
      .shorts(258, std::vector<std::uint16_t>(bands, static_cast<std::uint16_t>(8 * sizeof(T))))
      .shorts(259, {1})
      .shorts(262, {static_cast<std::uint16_t>(bands >= 3 ? 2 : 1)})
      .longs(273, offsets)
      .shorts(277, {bands})
      .longs(278, {rows_per_strip})
      .longs(279, counts)
      .shorts(339, std::vector<std::uint16_t>(bands, kFormat));
  return builder;
}

}  // namespace terrazzo::testing
