// SPDX-License-Identifier: Apache-2.0
//
// A raster of noise in device memory, cut in tiles, for the tests of gpu/encode/cut.hpp; and the same in host memory,
// where the tests make what they expect. The device's memory ends with the raster, so that compute-sanitizer sees a
// read behind it.
#pragma once

#include "gpu/decode/decoder_batch.hpp"
#include "gpu/encode/cut.hpp"

#include <algorithm>
#include <cstring>
#include <ostream>
#include <random>
#include <vector>

namespace terrazzo::gpu::test {

inline constexpr DType kAllTypes[] = {DType::u8,   DType::i8,   DType::u16,  DType::i16, DType::u32, DType::i32,
                                      DType::u64,  DType::i64,  DType::f16,  DType::f32, DType::f64, DType::ci16,
                                      DType::ci32, DType::cf16, DType::cf32, DType::cf64};

enum class Layout { band_first, band_last, longer_rows, pixels_apart, upside_down, mirrored };
inline constexpr Layout kAllLayouts[] = {Layout::band_first,   Layout::band_last,   Layout::longer_rows,
                                         Layout::pixels_apart, Layout::upside_down, Layout::mirrored};

struct SceneOptions {
  DType dtype = DType::u8;
  std::uint32_t width = 1, height = 1, bands = 1;
  std::uint32_t tile_width = 16, tile_height = 16;
  bool separate = false;  // a tile of its own for every band
  bool strips = false;  // the last one is as high as the rows that are left
  Layout layout = Layout::band_first;
  std::uint32_t offset_samples = 0;  // of the first pixel from an aligned address
  std::uint32_t first_row = 0;  // of the level, the first in memory
  bool mask = false;
  std::uint32_t mask_stride = 1;  // of its pixels
  std::uint32_t seed = 1;

  friend std::ostream& operator<<(std::ostream& out, SceneOptions const& o) {
    return out << to_string(o.dtype) << ", " << o.bands << " bands of " << o.width << " x " << o.height
               << " in tiles of " << o.tile_width << " x " << o.tile_height << (o.separate ? ", separate" : "")
               << (o.strips ? ", strips" : "") << ", layout " << static_cast<int>(o.layout) << " from "
               << o.offset_samples << ", mask " << o.mask << " by " << o.mask_stride;
  }
};

// Finished samples are made by the tests: this is where they are and what belongs to whom.
class Scene {
 public:
  explicit Scene(SceneOptions const& options) : o(options), bytes(size_bytes(options.dtype)) {
    std::int64_t const sample = static_cast<std::int64_t>(bytes);
    std::int64_t const w = o.width, h = o.height, b = o.bands;
    std::int64_t const apart = o.layout == Layout::pixels_apart ? 2 : 0;
    std::int64_t const extra = o.layout == Layout::longer_rows ? 5 : 0;
    bool const first = o.layout == Layout::band_first;
    view.dtype = o.dtype;
    view.bands = o.bands;
    view.height = o.height;
    view.width = o.width;
    view.pixel_stride_bytes = first ? sample : sample * (b + apart);
    view.row_stride_bytes = view.pixel_stride_bytes * w + extra * sample;
    view.band_stride_bytes = first ? view.row_stride_bytes * h : sample;
    std::int64_t const total = (first ? view.band_stride_bytes * b : view.row_stride_bytes * h) - extra * sample;
    origin = o.offset_samples * sample;
    memory.resize(static_cast<std::size_t>(origin + total));
    if (o.layout == Layout::upside_down) {
      origin += view.row_stride_bytes * (h - 1);
      view.row_stride_bytes = -view.row_stride_bytes;
    } else if (o.layout == Layout::mirrored) {
      origin += view.pixel_stride_bytes * (w - 1);
      view.pixel_stride_bytes = -view.pixel_stride_bytes;
    }
    std::mt19937 engine(o.seed);
    for (std::byte& at : memory) { at = static_cast<std::byte>(engine() & 0xFFU); }
    if (o.mask) {
      mask_memory.resize(std::size_t{o.width} * o.height * o.mask_stride - (o.mask_stride - 1));
      for (std::byte& at : mask_memory) { at = static_cast<std::byte>(engine() % 3 == 0 ? 0 : engine() & 0xFFU); }
      mask = {.data = nullptr,
              .dtype = DType::u8,
              .bands = 1,
              .height = o.height,
              .width = o.width,
              .band_stride_bytes = 0,
              .row_stride_bytes = std::int64_t{o.width} * o.mask_stride,
              .pixel_stride_bytes = o.mask_stride};
    }
    for (std::uint32_t band = 0; band < (o.separate ? o.bands : 1); ++band) {
      for (std::uint32_t y = 0; y < o.height; y += o.tile_height) {
        for (std::uint32_t x = 0; x < o.width; x += o.tile_width) {
          CutTile tile;
          tile.first_row = o.first_row + y;
          tile.first_column = x;
          tile.real_rows = std::min(o.tile_height, o.height - y);
          tile.real_columns = std::min(o.tile_width, o.width - x);
          tile.height = o.strips ? tile.real_rows : o.tile_height;
          tile.width = o.tile_width;
          tile.first_band = band;
          tiles.push_back(tile);
        }
      }
    }
  }

  [[nodiscard]] std::uint32_t samples() const { return o.separate ? 1 : o.bands; }

  [[nodiscard]] std::byte* at(std::uint32_t band, std::uint32_t y, std::uint32_t x) {
    return memory.data() + origin + band * view.band_stride_bytes + y * view.row_stride_bytes +
           x * view.pixel_stride_bytes;
  }
  // One sample of a tile that is there.
  [[nodiscard]] std::byte* at(CutTile const& tile, std::uint32_t sample, std::uint32_t y, std::uint32_t x) {
    return at(tile.first_band + sample, tile.first_row - o.first_row + y, tile.first_column + x);
  }
  [[nodiscard]] std::byte& mask_at(CutTile const& tile, std::uint32_t y, std::uint32_t x) {
    return mask_memory[(std::size_t{tile.first_row - o.first_row + y} * o.width + tile.first_column + x) *
                       o.mask_stride];
  }
  template <class F>
  void for_each_sample(F const& f) {
    for (std::uint32_t band = 0; band < o.bands; ++band) {
      for (std::uint32_t y = 0; y < o.height; ++y) {
        for (std::uint32_t x = 0; x < o.width; ++x) { f(at(band, y, x)); }
      }
    }
  }

  SceneOptions o;
  std::size_t bytes;  // of a sample
  DeviceView view{}, mask{};
  std::int64_t origin = 0;  // of band 0, row 0, column 0 in memory
  Bytes memory{}, mask_memory{};
  std::vector<CutTile> tiles{};
};

// Samples that are empty, and into which NaN is turned, are of bytes that differ.
inline CutFormat cut_format_of(Scene const& scene) {
  CutFormat format;
  format.dtype = scene.o.dtype;
  format.samples = scene.samples();
  for (std::size_t i = 0; i < sizeof format.empty; ++i) { format.empty[i] = static_cast<std::byte>(0x21 + i); }
  return format;
}

inline Bytes nan_of(DType dtype) {
  auto const bytes_of = [](auto bits) {
    Bytes out(sizeof bits);
    std::memcpy(out.data(), &bits, sizeof bits);
    return out;
  };
  switch (dtype) {
    case DType::f16: return bytes_of(std::uint16_t{0xFD01});
    case DType::f32: return bytes_of(std::uint32_t{0x7FA00001});  // signalling
    case DType::f64: return bytes_of(std::uint64_t{0xFFF0000000000001});
    default: return Bytes(size_bytes(dtype), std::byte{0xFF});
  }
}

inline bool is_nan(DType dtype, std::byte const* sample) {
  auto const load = [&](auto value) {
    std::memcpy(&value, sample, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::f16: return (load(std::uint16_t{}) & 0x7FFF) > 0x7C00;
    case DType::f32: return load(float{}) != load(float{});
    case DType::f64: return load(double{}) != load(double{});
    default: return false;
  }
}

// For kernels that only look.
inline std::uint64_t no_output(CutTile const&) { return 0; }

// A scene on the device, and an output between guards. `tile_bytes(tile)` is the size of its output.
class DeviceScene {
 public:
  template <class TileBytes>
  DeviceScene(Scene const& scene, TileBytes const& tile_bytes)
      : pixels_(scene.memory),
        mask_(scene.mask_memory),
        rows_(rows_of(scene)),
        tiles_(placed(scene, tile_bytes)),
        output_(Bytes(output_bytes_, kPoison)) {
    batch.rows = rows_.get();
    batch.tiles = tiles_.get();
    batch.count = static_cast<std::uint32_t>(scene.tiles.size());
    for (CutTile const& tile : scene.tiles) {
      batch.max_height = std::max(batch.max_height, tile.height);
      batch.max_width = std::max(batch.max_width, tile.width);
    }
    batch.output = output_.get();
  }

  // The outputs, one after the other as placed; everything else must be as it was.
  [[nodiscard]] std::vector<Bytes> outputs() const {
    Bytes all = output_.back();
    std::vector<Bytes> result;
    for (auto const& [offset, bytes] : places_) {
      auto const begin = all.begin() + static_cast<std::ptrdiff_t>(offset);
      auto const end = begin + static_cast<std::ptrdiff_t>(bytes);
      result.emplace_back(begin, end);
      std::fill(begin, end, kPoison);
    }
    EXPECT_TRUE(std::ranges::all_of(all, [](std::byte b) { return b == kPoison; })) << "wrote outside the outputs";
    return result;
  }

  CutBatch batch{};

 private:
  static constexpr std::byte kPoison{0xA5};

  // The second of two, so that the index is looked at.
  std::vector<ConstDeviceRows> rows_of(Scene const& scene) const {
    ConstDeviceRows rows;
    rows.first = scene.o.first_row;
    rows.pixels = scene.view;
    rows.pixels.data = pixels_.get() + scene.origin;
    if (scene.o.mask) {
      rows.mask = scene.mask;
      rows.mask.data = mask_.get();
    }
    return {ConstDeviceRows{}, rows};
  }

  template <class TileBytes>
  std::vector<CutTile> placed(Scene const& scene, TileBytes const& tile_bytes) {
    std::vector<CutTile> tiles = scene.tiles;
    std::uint64_t offset = 32;
    for (CutTile& tile : tiles) {
      tile.rows = 1;
      tile.output_offset = offset;
      places_.emplace_back(offset, tile_bytes(tile));
      offset = (offset + tile_bytes(tile) + 15) / 16 * 16 + 16;
    }
    output_bytes_ = offset;
    return tiles;
  }

  DeviceCopy<std::byte> pixels_, mask_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places_{};
  std::uint64_t output_bytes_ = 0;
  DeviceCopy<ConstDeviceRows> rows_;
  DeviceCopy<CutTile> tiles_;
  DeviceCopy<std::byte> output_;
};

}  // namespace terrazzo::gpu::test
