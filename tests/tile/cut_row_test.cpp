// SPDX-License-Identifier: Apache-2.0
#include "tile/cut_row.hpp"

#include "tile/apply_predictor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace terrazzo::tile {
namespace {

using tiff::Predictor;
using Bytes = std::vector<std::byte>;

enum class Layout { packed, packed_in_longer_row, band_first, pixels_apart, backwards };
constexpr Layout kLayouts[] = {Layout::packed, Layout::packed_in_longer_row, Layout::band_first, Layout::pixels_apart,
                               Layout::backwards};

template <class T>
constexpr T kNan = static_cast<T>(sizeof(T) == 2   ? 0xFE01U
                                  : sizeof(T) == 4 ? 0x7FA00001U
                                                   : 0xFFF0000000000001U);

// Pixels in memory that ends where the last one does, so that a sanitiser sees a read behind them.
template <class T>
struct Scene {
  CutRow row{};
  NanRule<T> rule{};
  std::vector<std::byte> memory{};

  Scene(Layout layout, int columns, int width, int samples, int offset_samples, bool with_nan, std::uint32_t seed) {
    std::mt19937 engine(seed);
    bool const longer = layout == Layout::packed_in_longer_row;
    std::int64_t const sample = sizeof(T);
    std::int64_t const apart = layout == Layout::pixels_apart ? 2 : 0;
    int const there = columns + (longer ? 9 : 0);
    std::size_t const count = static_cast<std::size_t>(there * (samples + apart));
    std::int64_t const offset = offset_samples * sample;
    memory.resize(static_cast<std::size_t>(offset) + count * sizeof(T));
    for (std::byte& b : memory) { b = static_cast<std::byte>(engine() & 0xFFU); }
    row.columns = columns;
    row.width_px = width;
    row.samples = samples;
    row.first = memory.data() + offset;
    row.pixel_stride_bytes = sample * (samples + apart);
    row.band_stride_bytes = sample;
    if (layout == Layout::band_first) {
      row.pixel_stride_bytes = sample;
      row.band_stride_bytes = sample * columns;
    } else if (layout == Layout::backwards) {
      row.first = memory.data() + memory.size() - sizeof(T);
      row.pixel_stride_bytes = -sample * samples;
      row.band_stride_bytes = -sample;
    } else if (layout != Layout::pixels_apart) {
      row.packed_bytes = there * row.pixel_stride_bytes;
    }
    if (with_nan) {
      for (std::size_t i = 0; i < count; i += 1 + engine() % 4) {
        T const nan = kNan<T>;
        std::memcpy(memory.data() + offset + i * sizeof(T), &nan, sizeof(T));
      }
      rule.replaces = true;
      rule.sentinel = static_cast<T>(0x3412);
    }
  }

  // As the host's writer does it: gathered, replaced, the last column repeated.
  [[nodiscard]] Bytes finished() const {
    Bytes out;
    for (int x = 0; x < row.width_px; ++x) {
      int const column = std::min(x, row.columns - 1);
      for (int s = 0; s < row.samples; ++s) {
        T value;
        std::memcpy(&value, row.first + column * row.pixel_stride_bytes + s * row.band_stride_bytes, sizeof(T));
        if (rule.replaces && is_nan(value)) { value = rule.sentinel; }
        auto const* const bytes = reinterpret_cast<std::byte const*>(&value);
        out.insert(out.end(), bytes, bytes + sizeof(T));
      }
    }
    return out;
  }

  static bool is_nan(T value) {
    if constexpr (sizeof(T) == 4) {
      float number;
      std::memcpy(&number, &value, 4);
      return number != number;
    } else if constexpr (sizeof(T) == 8) {
      double number;
      std::memcpy(&number, &value, 8);
      return number != number;
    } else {
      return sizeof(T) == 2 && (value >> 10 & 0x1F) == 0x1F && (value & 0x3FF) != 0;
    }
  }
};

template <class T, Predictor P>
Bytes predicted(Bytes const& row, Scene<T> const& scene) {
  Bytes out(row.size());
  auto const width = static_cast<std::size_t>(scene.row.width_px);
  auto const samples = static_cast<std::uint32_t>(scene.row.samples);
  if constexpr (P == Predictor::floating_point) {
    apply_float_row(row.data(), out.data(), width, samples, sizeof(T));
  } else if constexpr (P == Predictor::horizontal) {
    apply_horizontal_row(row.data(), out.data(), width, samples, 8 * sizeof(T));
  } else {
    out = row;
  }
  return out;
}

// Chunks in any order, between guards, with the output at every alignment that its samples can have.
template <class T, Predictor P, int Samples>
void expect_same_as_host(Scene<T> const& scene, int out_offset) {
  RowCutter<T, Samples> const cutter{scene.row, scene.rule};
  Bytes const wanted = predicted<T, P>(scene.finished(), scene);
  constexpr std::size_t kGuard = 32;
  Bytes memory(kGuard + 48 + wanted.size() + kGuard, std::byte{0xA5});
  std::byte* const out = memory.data() + kGuard + static_cast<std::size_t>(out_offset);
  ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 16, 0U);
  Bytes expected = memory;
  std::ranges::copy(wanted, expected.data() + (out - memory.data()));
  std::int32_t const chunks = cutter.template chunk_count<P>(out);
  for (std::int32_t chunk = chunks; chunk-- > 0;) { cutter.template cut<P>(chunk, out); }
  ASSERT_TRUE(memory == expected) << sizeof(T) << " bytes, predictor " << static_cast<int>(P) << ", "
                                  << scene.row.columns << " of " << scene.row.width_px << " columns, "
                                  << scene.row.samples << " samples, to " << out_offset;
  Bytes cleared = expected;
  std::ranges::fill(cleared.begin() + (out - memory.data()),
                    cleared.begin() + (out - memory.data()) + static_cast<std::ptrdiff_t>(wanted.size()), std::byte{0});
  for (std::int32_t chunk = 0; chunk < chunks; ++chunk) { cutter.template clear<P>(chunk, out); }
  ASSERT_TRUE(memory == cleared);
}

template <class T, Predictor P>
void expect_same_for_all_shapes() {
  constexpr int kBytes = static_cast<int>(sizeof(T));
  for (Layout const layout : kLayouts) {
    for (int const samples : {1, 2, 3, 4, 5, 37}) {
      for (int const columns : {1, 2, 3, 5, 8, 15, 16, 17, 33, 64, 101}) {
        for (int const padding : {0, 1, 15}) {
          int const offset = columns % (16 / kBytes + 1);
          bool const with_nan = sizeof(T) >= 2 && sizeof(T) <= 8 && columns % 2 == 1;
          Scene<T> const scene(layout, columns, columns + padding, samples, offset, with_nan,
                               static_cast<std::uint32_t>(columns * 64 + samples));
          for (int out_offset = 0; out_offset < 16; out_offset += columns == 17 ? kBytes : 16) {
            switch (samples) {
              case 1: expect_same_as_host<T, P, 1>(scene, out_offset); break;
              case 3: expect_same_as_host<T, P, 3>(scene, out_offset); break;
              case 4: expect_same_as_host<T, P, 4>(scene, out_offset); break;
              default: break;
            }
            expect_same_as_host<T, P, 0>(scene, out_offset);
            if (::testing::Test::HasFatalFailure()) { return; }
          }
        }
      }
    }
  }
}

TEST(CutRow, CopiesSamplesOfEverySize) {
  expect_same_for_all_shapes<std::uint8_t, Predictor::none>();
  expect_same_for_all_shapes<std::uint16_t, Predictor::none>();
  expect_same_for_all_shapes<std::uint32_t, Predictor::none>();
  expect_same_for_all_shapes<std::uint64_t, Predictor::none>();
}

TEST(CutRow, TakesHorizontalDifferencesAsTheHostDoes) {
  expect_same_for_all_shapes<std::uint8_t, Predictor::horizontal>();
  expect_same_for_all_shapes<std::uint16_t, Predictor::horizontal>();
  expect_same_for_all_shapes<std::uint32_t, Predictor::horizontal>();
  expect_same_for_all_shapes<std::uint64_t, Predictor::horizontal>();
}

TEST(CutRow, TakesFloatingPointDifferencesAsTheHostDoes) {
  expect_same_for_all_shapes<std::uint16_t, Predictor::floating_point>();
  expect_same_for_all_shapes<std::uint32_t, Predictor::floating_point>();
  expect_same_for_all_shapes<std::uint64_t, Predictor::floating_point>();
}

TEST(CutRow, CopiesComplexDoubles) {
  for (Layout const layout : kLayouts) {
    for (int const samples : {1, 2, 3}) {
      for (int const columns : {1, 2, 7}) {
        Scene<Sample16> const scene(layout, columns, columns + 2, samples, 1, false, 7);
        expect_same_as_host<Sample16, Predictor::none, 0>(scene, 0);
      }
    }
  }
}

// A complex sample is aligned as its parts are.
TEST(CutRow, ReadsComplexSamplesPartByPart) {
  Scene<std::uint32_t> scene(Layout::pixels_apart, 9, 16, 2, 0, false, 3);
  scene.row.has_two_parts = true;
  expect_same_as_host<std::uint32_t, Predictor::none, 0>(scene, 0);
  Scene<std::uint64_t> wide(Layout::pixels_apart, 9, 16, 2, 0, false, 3);
  wide.row.has_two_parts = true;
  expect_same_as_host<std::uint64_t, Predictor::none, 0>(wide, 0);
}

template <class T>
void expect_to_find_the_odd_one() {
  T const value = static_cast<T>(0x5AU * 0x01010101U);
  for (Layout const layout : kLayouts) {
    for (int const columns : {1, 7, 40}) {
      Scene<T> scene(layout, columns, columns + 5, 3, 1, false, 1);
      RowCutter<T, 0> const cutter{scene.row, scene.rule};
      constexpr int kCount = RowCutter<T, 0>::kCount;
      int const samples = columns * 3;
      auto* const memory = scene.memory.data();
      auto const place = [&](int i) {
        return memory + (scene.row.first - memory) + i / 3 * scene.row.pixel_stride_bytes +
               i % 3 * scene.row.band_stride_bytes;
      };
      for (int i = 0; i < samples; ++i) { std::memcpy(place(i), &value, sizeof(T)); }
      for (int odd = -1; odd < samples; ++odd) {
        if (odd >= 0) { *place(odd) ^= std::byte{1}; }
        for (int chunk = 0; chunk * kCount < samples; ++chunk) {
          // Behind the last column it is seen again, in the same band.
          bool seen = odd >= chunk * kCount && odd < (chunk + 1) * kCount;
          for (int i = chunk * kCount; i < (chunk + 1) * kCount; ++i) {
            seen = seen || (i >= samples && odd == (columns - 1) * 3 + i % 3);
          }
          ASSERT_EQ(cutter.is_filled_with(value, chunk), !seen) << odd << " of " << samples << ", chunk " << chunk;
        }
        if (odd >= 0) { *place(odd) ^= std::byte{1}; }
      }
    }
  }
}

TEST(CutRow, SeesOneSampleThatIsNotTheValue) {
  expect_to_find_the_odd_one<std::uint8_t>();
  expect_to_find_the_odd_one<std::uint16_t>();
  expect_to_find_the_odd_one<std::uint32_t>();
  expect_to_find_the_odd_one<std::uint64_t>();
  expect_to_find_the_odd_one<Sample16>();
}

TEST(CutRow, TakesReplacedNanForTheValue) {
  Scene<std::uint32_t> scene(Layout::packed, 8, 8, 1, 0, false, 1);
  for (std::size_t i = 0; i < 8; ++i) { std::memcpy(scene.memory.data() + 4 * i, &kNan<std::uint32_t>, 4); }
  scene.rule = {true, 77};
  RowCutter<std::uint32_t, 1> const cutter{scene.row, scene.rule};
  EXPECT_TRUE(cutter.is_filled_with(77, 0));
  EXPECT_FALSE(cutter.is_filled_with(kNan<std::uint32_t>, 0));
}

}  // namespace
}  // namespace terrazzo::tile
