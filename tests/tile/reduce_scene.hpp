// SPDX-License-Identifier: Apache-2.0
//
// A reduction of noise that may have a mask, a marker, an alpha band and any layout.
#pragma once

#include "tile/convert_sample.hpp"
#include "tile/reduce_convolution.hpp"
#include "tile/reduce_marker.hpp"
#include "tile/reduce_task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

namespace terrazzo::tile::test {

// One level in memory of its own, with guards around it.
struct SceneLevel {
  static constexpr std::size_t kGuard = 64;
  std::vector<std::byte> bytes{};
  std::size_t offset_bytes = 0;  // of band 0, column 0, row `first`
  std::int64_t band_stride_bytes = 0, row_stride_bytes = 0, pixel_stride_bytes = 0;
  std::uint32_t first = 0, row_count = 0, width = 0, bands = 1;

  // `data` is where `bytes` lie.
  template <class Byte>
  [[nodiscard]] LevelSamples<Byte> samples(Byte* data) const noexcept {
    return {data + offset_bytes, band_stride_bytes, row_stride_bytes, pixel_stride_bytes, first};
  }
  // The same as a HostView or a DeviceView.
  template <class View>
  [[nodiscard]] View view(std::byte* data, DType dtype) const noexcept {
    return {data + offset_bytes, dtype, bands, row_count, width, band_stride_bytes, row_stride_bytes,
            pixel_stride_bytes};
  }
};

enum class Layout : std::uint8_t { planar, interleaved, aligned, aligned_interleaved, upside_down, mirrored };
constexpr std::uint32_t kLayouts = 6;

[[nodiscard]] inline SceneLevel make_level(Layout layout, std::size_t sample_bytes, std::uint32_t bands,
                                           std::uint32_t width, std::uint32_t first, std::uint32_t row_count) {
  auto const sample = static_cast<std::int64_t>(sample_bytes);
  SceneLevel level;
  level.first = first;
  level.row_count = row_count;
  level.width = width;
  level.bands = bands;
  bool const aligned = layout == Layout::aligned || layout == Layout::aligned_interleaved;
  bool const together =
      layout == Layout::interleaved || layout == Layout::aligned_interleaved || layout == Layout::mirrored;
  // A mirrored level has a gap behind every pixel, and its bands backwards.
  std::int64_t const gap = layout == Layout::mirrored ? sample : 0;
  level.pixel_stride_bytes = together ? sample * bands + gap : sample;
  level.row_stride_bytes = level.pixel_stride_bytes * width;
  if (aligned) { level.row_stride_bytes = (level.row_stride_bytes + 15) / 16 * 16; }
  if (layout == Layout::upside_down) { level.row_stride_bytes += 3 * sample; }
  level.band_stride_bytes = together ? sample : level.row_stride_bytes * row_count;
  std::size_t const size =
      static_cast<std::size_t>(together ? level.row_stride_bytes * row_count : level.band_stride_bytes * bands);
  level.bytes.resize(size + 2 * SceneLevel::kGuard);
  level.offset_bytes = SceneLevel::kGuard;
  if (layout == Layout::upside_down) {
    level.offset_bytes += static_cast<std::size_t>(level.row_stride_bytes * (row_count - 1));
    level.row_stride_bytes = -level.row_stride_bytes;
  }
  if (layout == Layout::mirrored) {
    level.offset_bytes += static_cast<std::size_t>(level.band_stride_bytes * (bands - 1));
    level.band_stride_bytes = -level.band_stride_bytes;
  }
  return level;
}

struct ReduceScene {
  ReductionSpec spec{};
  SceneLevel source{}, mask{};  // mask.bytes is empty where there is none
  SceneLevel result{}, result_mask{};
  Layout source_layout{}, result_layout{};

  [[nodiscard]] ReduceTask task() {
    ReduceTask task = reduce_task(spec);
    task.source = source.samples<std::byte const>(source.bytes.data());
    task.result = result.samples(result.bytes.data());
    if (spec.mask) {
      task.source_mask = mask.samples<std::byte const>(mask.bytes.data());
      task.result_mask = result_mask.samples(result_mask.bytes.data());
    }
    task.first_row = result.first;
    task.row_count = result.row_count;
    return task;
  }
};

inline std::ostream& operator<<(std::ostream& out, ReduceScene const& scene) {
  ReductionSpec const& spec = scene.spec;
  out << "method " << static_cast<int>(spec.method) << ' ' << to_string(spec.dtype) << " x " << spec.bands << ", "
      << spec.source_width << " x " << spec.source_height << " to " << spec.width << " x " << spec.height << ", rows "
      << scene.result.first << " +" << scene.result.row_count << " of rows from " << scene.source.first << ", layouts "
      << static_cast<int>(scene.source_layout) << ' ' << static_cast<int>(scene.result_layout);
  if (spec.mask) { out << ", mask"; }
  if (spec.alpha_band) { out << ", alpha " << *spec.alpha_band << (spec.alpha_is_mask() ? " of all" : ""); }
  if (spec.nodata) { out << ", nodata " << spec.nodata->value << (spec.nodata->representable ? "" : " (never)"); }
  return out;
}

class SceneMaker {
 public:
  explicit SceneMaker(std::uint32_t seed) : engine_(seed) {}

  // The result is at most of the given size.
  [[nodiscard]] ReduceScene make(Resampling method, DType dtype, std::uint32_t widest, std::uint32_t highest) {
    ReduceScene scene;
    ReductionSpec& spec = scene.spec;
    spec.method = method;
    spec.dtype = dtype;
    spec.bands = 1 + below(4);
    spec.width = 1 + below(widest);
    spec.height = 1 + below(highest);
    spec.source_width = source_size(spec.width);
    spec.source_height = source_size(spec.height);
    if (one_in(3)) {
      // The commonest case: an even level halved.
      spec.source_width = 2 * spec.width;
      spec.source_height = 2 * spec.height;
    }
    spec.mask = one_in(3);
    if (one_in(4)) {
      spec.alpha_band = below(spec.bands);
      spec.alpha_masks_others = !one_in(3);
    }
    if (one_in(2)) { spec.nodata = some_nodata(dtype); }
    if (one_in(4)) {
      spec.mask = false;
      spec.nodata.reset();
      spec.alpha_band.reset();
    }
    scene.source_layout = static_cast<Layout>(below(kLayouts));
    scene.result_layout = static_cast<Layout>(below(kLayouts));
    make_levels(scene);
    return scene;
  }

  // An average that reduce_halves.hpp takes.
  [[nodiscard]] ReduceScene make_halved(DType dtype, std::uint32_t widest, std::uint32_t highest) {
    ReduceScene scene;
    ReductionSpec& spec = scene.spec;
    spec.dtype = dtype;
    spec.width = 1 + below(widest);
    spec.height = 1 + below(highest);
    spec.source_width = 2 * spec.width;
    spec.source_height = 2 * spec.height;
    auto const most_together = static_cast<std::uint32_t>(8 / size_bytes(dtype));
    bool const together = most_together > 1 && one_in(2);
    spec.bands = together ? std::min(one_in(2) ? 2U : 4U, most_together) : 1 + below(3);
    if (one_in(2)) { spec.nodata = some_nodata(dtype); }
    scene.source_layout = together ? Layout::aligned_interleaved : Layout::aligned;
    scene.result_layout = together    ? one_in(2) ? Layout::interleaved : Layout::aligned_interleaved
                          : one_in(3) ? Layout::upside_down
                          : one_in(2) ? Layout::planar
                                      : Layout::aligned;
    make_levels(scene);
    return scene;
  }

  [[nodiscard]] std::uint32_t below(std::uint32_t limit) {
    return static_cast<std::uint32_t>(std::uint64_t{engine_()} * limit >> 32);
  }
  [[nodiscard]] bool one_in(std::uint32_t count) { return below(count) == 0; }

 private:
  // Some rows of the result, and all rows of the source or no more than are needed.
  void make_levels(ReduceScene& scene) {
    ReductionSpec const& spec = scene.spec;
    std::uint32_t const first = one_in(2) ? 0 : below(spec.height);
    std::uint32_t const count = one_in(2) ? spec.height - first : 1 + below(spec.height - first);
    bool const trimmed = one_in(2);
    std::uint32_t const from = trimmed ? needed_rows(spec, first).first : 0;
    std::uint32_t const end = trimmed ? needed_rows(spec, first + count - 1).last : spec.source_height;
    std::size_t const bytes = size_bytes(spec.dtype);
    std::uint32_t const source_rows = end - from;
    scene.source = make_level(scene.source_layout, bytes, spec.bands, spec.source_width, from, source_rows);
    scene.result = make_level(scene.result_layout, bytes, spec.bands, spec.width, first, count);
    fill(scene.source, spec);
    if (spec.mask) {
      scene.mask = make_level(scene.source_layout, 1, 1, spec.source_width, from, source_rows);
      scene.result_mask = make_level(scene.result_layout, 1, 1, spec.width, first, count);
      std::uint32_t const share = 1 + below(8);
      for (std::byte& b : scene.mask.bytes) { b = one_in(share) ? std::byte{0} : static_cast<std::byte>(engine_()); }
    }
  }

  [[nodiscard]] std::uint32_t source_size(std::uint32_t size) {
    switch (below(6)) {
      case 0: return 2 * size;
      case 1: return 2 * size - (size > 1 ? 1 : 0);
      case 2: return 2 * size + 1;
      case 3: return 3 * size;
      case 4: return static_cast<std::uint32_t>(5.3 * size);
      default: return size + below(4 * size + 1);
    }
  }

  struct Rows {
    std::uint32_t first, last;
  };
  // Source rows of a row of the result.
  [[nodiscard]] static Rows needed_rows(ReductionSpec const& spec, std::uint32_t row) {
    double const ratio = static_cast<double>(spec.source_height) / spec.height;
    if (spec.method == Resampling::nearest) {
      std::uint32_t const nearest = nearest_pixel(row, ratio, spec.source_height);
      return {nearest, nearest + 1};
    }
    if (is_kernel(spec.method)) {
      KernelWindow const window = kernel_window(row, ratio, kernel_radius(spec.method), spec.source_height);
      return {window.first, window.last};
    }
    AxisWindow const window = is_complex(spec.dtype)
                                  ? rounded_pixels(row, ratio, spec.source_height, row + 1 == spec.height)
                                  : covered_pixels(row, ratio, spec.source_height);
    return {window.first, window.last};
  }

  [[nodiscard]] Nodata some_nodata(DType dtype) {
    Nodata nodata;
    nodata.representable = !one_in(5);
    nodata.value = static_cast<double>(below(4));
    if (is_floating(dtype) && one_in(3)) { nodata.value = std::numeric_limits<double>::quiet_NaN(); }
    if (is_floating(dtype) && one_in(4)) { nodata.value = -9999.25; }
    if (one_in(6) && dtype != DType::f16) { nodata.value = is_signed(dtype) ? -100 : 127; }
    if (dtype == DType::i64) { nodata.exact_i64 = static_cast<std::int64_t>(nodata.value); }
    if (dtype == DType::u64) { nodata.exact_u64 = static_cast<std::uint64_t>(nodata.value); }
    return nodata;
  }

  template <class T>
  [[nodiscard]] T some_value(std::uint32_t kind) {
    if (kind == 0 || one_in(12)) {  // any bits: NaNs of all kinds, infinities, subnormals
      std::uint64_t const bits = std::uint64_t{engine_()} << 32 | engine_();
      T value;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    }
    if (kind == 1) { return convert_value<T>(static_cast<double>(below(5)) - 1); }
    if (one_in(10)) { return convert_value<T>(-0.0); }
    if (one_in(10)) { return convert_value<T>(std::numeric_limits<double>::quiet_NaN()); }
    return convert_value<T>((static_cast<double>(below(1'000'000)) - 3e5) / (one_in(2) ? 7 : 70'000));
  }

  void fill(SceneLevel& level, ReductionSpec const& spec) {
    std::uint32_t const kind = below(3), gaps = 2 + below(12), zeros = 2 + below(6);
    with_part_type(spec.dtype, [&]<class T>(std::type_identity<T>) {
      T const marker = marker_of<T>(spec).value_or(T{});
      ResultSamples const samples = level.samples(level.bytes.data());
      for (std::uint32_t band = 0; band < level.bands; ++band) {
        for (std::uint32_t row = 0; row < level.row_count; ++row) {
          for (std::uint32_t column = 0; column < level.width; ++column) {
            auto* const parts = reinterpret_cast<T*>(samples.at(band, column, level.first + row));
            bool const is_zero = spec.alpha_band == band && one_in(zeros);
            parts[0] = is_zero ? T{} : one_in(gaps) ? marker : some_value<T>(kind);
            if (is_complex(spec.dtype)) { parts[1] = some_value<T>(kind); }
          }
        }
      }
    });
  }

  std::mt19937 engine_;
};

}  // namespace terrazzo::tile::test
