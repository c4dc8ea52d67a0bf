// SPDX-License-Identifier: Apache-2.0
//
// Rasters to write, in any order of memory, and other helpers of the writer's tests.
#pragma once

#include "support/sinks.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/sink.hpp"
#include "terrazzo/write.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace terrazzo::writing {

using terrazzo::testing::kPlaces;
using terrazzo::testing::Place;
using terrazzo::testing::Target;

// bands x height x width, one after another.
struct Image {
  DType dtype = DType::u8;
  std::uint32_t bands = 1, height = 0, width = 0;
  std::vector<std::byte> bytes{};
  std::vector<std::byte> mask{};  // height x width of 0 and 255; empty: none

  [[nodiscard]] std::size_t sample_bytes() const { return size_bytes(dtype); }
  [[nodiscard]] HostView view() {
    auto const sample = static_cast<std::int64_t>(sample_bytes());
    return {bytes.data(), dtype, bands, height, width, sample * width * height, sample * width, sample};
  }
  [[nodiscard]] HostView mask_view() {
    return {mask.data(), DType::u8, 1, height, width, 0, static_cast<std::int64_t>(width), 1};
  }
};

namespace detail {

inline void store_part(DType dtype, std::uint32_t value, std::byte* out) {
  auto const put = [out](auto number) { std::memcpy(out, &number, sizeof number); };
  switch (dtype) {
    case DType::u8:
    case DType::i8: return put(static_cast<std::uint8_t>(value));
    case DType::u16:
    case DType::i16: return put(static_cast<std::uint16_t>(value * 17));
    case DType::u32:
    case DType::i32: return put(value * 2654435);
    case DType::u64:
    case DType::i64: return put(std::uint64_t{value} * 26544357999ULL);
    case DType::f16: return put(static_cast<std::uint16_t>(0x3C00 + (value & 0x7FF)));  // 1 to 4
    case DType::f32: return put(static_cast<float>(value) / 8 - 20);
    case DType::f64: return put(static_cast<double>(value) / 8 - 20);
    case DType::ci16: put(static_cast<std::int16_t>(value)); return store_part(DType::i16, value + 1, out + 2);
    case DType::ci32: put(static_cast<std::int32_t>(value)); return store_part(DType::i32, value + 1, out + 4);
    case DType::cf16:
      put(static_cast<std::uint16_t>(0x3C00 + (value & 0x3FF)));
      return store_part(DType::f16, value + 1, out + 2);
    case DType::cf32: put(static_cast<float>(value)); return store_part(DType::f32, value + 1, out + 4);
    case DType::cf64: put(static_cast<double>(value)); return store_part(DType::f64, value + 1, out + 8);
  }
}

}  // namespace detail

// A slope with a little noise: it compresses, and no two tiles are equal.
[[nodiscard]] inline Image make_image(DType dtype, std::uint32_t bands, std::uint32_t height, std::uint32_t width) {
  Image image{dtype, bands, height, width, {}, {}};
  std::size_t const sample = image.sample_bytes();
  image.bytes.resize(sample * bands * height * width);
  std::uint32_t state = 99;
  std::byte* out = image.bytes.data();
  for (std::uint32_t b = 0; b < bands; ++b) {
    for (std::uint32_t y = 0; y < height; ++y) {
      for (std::uint32_t x = 0; x < width; ++x, out += sample) {
        state = state * 1664525U + 1013904223U;
        detail::store_part(dtype, 40 * b + 2 * x + 3 * y + (state >> 30), out);
      }
    }
  }
  return image;
}

// Some pixels invalid: single ones, and everything right of a slanted line.
inline void add_mask(Image& image) {
  image.mask.assign(std::size_t{image.height} * image.width, std::byte{255});
  for (std::uint32_t y = 0; y < image.height; ++y) {
    for (std::uint32_t x = 0; x < image.width; ++x) {
      if ((x * 7 + y * 3) % 11 == 0 || x > 60 + y / 2) { image.mask[std::size_t{y} * image.width + x] = std::byte{0}; }
    }
  }
}

// Samples at single pixels and in the top left corner, `side` wide, become `value`.
template <class T>
void punch_holes(Image& image, std::type_identity_t<T> value, std::uint32_t side) {
  std::size_t at = 0;
  for (std::uint32_t b = 0; b < image.bands; ++b) {
    for (std::uint32_t y = 0; y < image.height; ++y) {
      for (std::uint32_t x = 0; x < image.width; ++x, ++at) {
        if ((x < side && y < side) || (x * 5 + y * 3 + b) % 17 == 0) {
          std::memcpy(image.bytes.data() + at * sizeof(T), &value, sizeof value);
        }
      }
    }
  }
}

enum class Order { band_first, band_last, padded, upside_down, mirrored };
constexpr Order kOrders[] = {Order::band_first, Order::band_last, Order::padded, Order::upside_down, Order::mirrored};

// The same pixels in other memory. `view` points into `memory`.
struct Arranged {
  std::vector<std::byte> memory{};
  HostView view{};
};

[[nodiscard]] inline Arranged arrange(Image const& image, Order order) {
  auto const sample = static_cast<std::int64_t>(image.sample_bytes());
  std::int64_t const bands = image.bands, height = image.height, width = image.width;
  HostView view{nullptr, image.dtype, image.bands, image.height, image.width, 0, 0, 0};
  std::int64_t origin = 0, size = sample * bands * height * width;
  switch (order) {
    case Order::band_first:
      view.pixel_stride_bytes = sample;
      view.row_stride_bytes = sample * width;
      view.band_stride_bytes = sample * width * height;
      break;
    case Order::band_last:
      view.band_stride_bytes = sample;
      view.pixel_stride_bytes = sample * bands;
      view.row_stride_bytes = sample * bands * width;
      break;
    case Order::padded:  // and not aligned
      view.band_stride_bytes = sample + 1;
      view.pixel_stride_bytes = (sample + 1) * bands + 3;
      view.row_stride_bytes = view.pixel_stride_bytes * width + 5;
      origin = 1;
      size = view.row_stride_bytes * height + 1;
      break;
    case Order::upside_down:
      view.pixel_stride_bytes = sample;
      view.row_stride_bytes = -sample * width;
      view.band_stride_bytes = sample * width * height;
      origin = sample * width * (height - 1);
      break;
    case Order::mirrored:
      view.pixel_stride_bytes = -sample * bands;
      view.band_stride_bytes = sample;
      view.row_stride_bytes = sample * bands * width;
      origin = sample * bands * (width - 1);
      break;
  }
  Arranged result;
  result.memory.assign(static_cast<std::size_t>(size), std::byte{0xA5});
  result.view = view;
  result.view.data = result.memory.data() + origin;
  std::byte const* from = image.bytes.data();
  for (std::int64_t b = 0; b < bands; ++b) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x, from += sample) {
        std::memcpy(result.memory.data() + origin + b * view.band_stride_bytes + y * view.row_stride_bytes +
                        x * view.pixel_stride_bytes,
                    from, static_cast<std::size_t>(sample));
      }
    }
  }
  return result;
}

[[nodiscard]] inline HostView some_rows(HostView view, std::uint32_t first, std::uint32_t count) {
  view.data = static_cast<std::byte*>(view.data) + std::int64_t{first} * view.row_stride_bytes;
  view.height = count;
  return view;
}

// Row counts of the calls that bring a raster of so many rows.
using Schedule = std::vector<std::uint32_t>;
[[nodiscard]] inline Schedule steps(std::uint32_t height, std::uint32_t step) {
  Schedule schedule;
  for (std::uint32_t at = 0; at < height; at += step) { schedule.push_back(std::min(step, height - at)); }
  return schedule;
}
[[nodiscard]] inline Schedule ragged(std::uint32_t height, unsigned seed) {
  Schedule schedule;
  std::mt19937 random(seed);
  for (std::uint32_t at = 0; at < height;) {
    schedule.push_back(std::min(static_cast<std::uint32_t>(random() % 50), height - at));  // 0 rows are allowed
    at += schedule.back();
  }
  return schedule;
}

inline void write_rows(Writer& writer, HostView const& pixels, HostView const* mask, Schedule const& schedule) {
  std::uint32_t at = 0;
  for (std::uint32_t const rows : schedule) {
    if (mask != nullptr) {
      writer.write_rows(some_rows(pixels, at, rows), some_rows(*mask, at, rows));
    } else {
      writer.write_rows(some_rows(pixels, at, rows));
    }
    at += rows;
  }
}

// Options with small tiles and fast compression, changed by `change`.
[[nodiscard]] inline WriteOptions with(std::function<void(WriteOptions&)> const& change) {
  WriteOptions options;
  options.tile_size = {32, 48};
  options.level = 1;
  change(options);
  constexpr Compression kWithLevels[] = {Compression::deflate,      Compression::zstd,      Compression::lzma,
                                         Compression::lerc_deflate, Compression::lerc_zstd, Compression::lz4};
  if (std::ranges::find(kWithLevels, options.compression) == std::ranges::end(kWithLevels)) { options.level.reset(); }
  return options;
}

// In memory, all rows at once or by a schedule.
[[nodiscard]] inline std::vector<std::byte> written(Image image, WriteOptions options,
                                                    std::optional<Schedule> const& schedule = std::nullopt) {
  options.dtype = image.dtype;
  options.bands = image.bands;
  options.mask = !image.mask.empty();
  std::vector<std::byte> bytes;
  Writer writer = create(memory_sink(bytes), image.width, image.height, options);
  HostView const mask = image.mask_view();
  write_rows(writer, image.view(), options.mask ? &mask : nullptr, schedule.value_or(Schedule{image.height}));
  writer.close();
  return bytes;
}

// In memory, from tiles that encode_tiles() compressed, brought in a random order.
[[nodiscard]] inline std::vector<std::byte> from_tiles(Image image, WriteOptions options, unsigned seed) {
  options.dtype = image.dtype;
  options.bands = image.bands;
  EncodedTiles tiles = encode_tiles(image.view(), {}, image.width, image.height, options);
  std::mt19937 random(seed);
  std::ranges::shuffle(tiles.tiles, random);
  std::vector<std::byte> bytes;
  Writer writer = create(memory_sink(bytes), image.width, image.height, options);
  for (EncodedTile const& tile : tiles.tiles) { writer.write_encoded(tile.id, tiles.bytes_of(tile)); }
  writer.close();
  return bytes;
}

[[nodiscard]] inline std::vector<std::byte> pixels_of(std::span<std::byte const> file,
                                                      ReadRequest const& request = {}) {
  HostArray const array = read(open_memory(file), request);
  return {array.bytes().begin(), array.bytes().end()};
}

[[nodiscard]] inline std::vector<std::byte> mask_of(std::span<std::byte const> file, ReadRequest request = {}) {
  request.bands = {1};
  HostArray const array = read_mask(open_memory(file), request);
  return {array.bytes().begin(), array.bytes().end()};
}

}  // namespace terrazzo::writing
