// SPDX-License-Identifier: Apache-2.0
#include "tile/apply_predictor.hpp"

#include "tile/undo_predictor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace terrazzo::tile {
namespace {

using Bytes = std::vector<std::byte>;

// Bytes behind the row that no function may touch.
constexpr std::size_t kGuard = 64;
constexpr std::byte kGuardByte{0xA5};
// Around one vector, two vectors and their remainders, for every size of pixel.
constexpr std::array<std::size_t, 18> kWidths = {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 34, 63, 64, 65, 100, 257, 512};
constexpr std::array<std::uint32_t, 9> kSamples = {1, 2, 3, 4, 5, 8, 13, 33, 100};

Bytes random_row(std::size_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  Bytes bytes(count);
  for (std::byte& b : bytes) { b = static_cast<std::byte>(engine() & 0xFFU); }
  return bytes;
}

void expect_guard(Bytes const& bytes) {
  for (std::size_t i = bytes.size() - kGuard; i < bytes.size(); ++i) {
    ASSERT_EQ(bytes[i], kGuardByte) << "byte " << i - (bytes.size() - kGuard) << " behind the row was written";
  }
}

template <class T>
Bytes horizontal_by_definition(Bytes const& row, std::size_t samples) {
  Bytes out(row.size());
  for (std::size_t i = 0; i < row.size() / sizeof(T); ++i) {
    store_unaligned<T>(out.data() + i * sizeof(T), horizontal_difference<T>(row.data(), i, samples));
  }
  return out;
}

Bytes horizontal_by_definition(Bytes const& row, std::size_t samples, std::uint32_t bits) {
  switch (bits) {
    case 8: return horizontal_by_definition<std::uint8_t>(row, samples);
    case 16: return horizontal_by_definition<std::uint16_t>(row, samples);
    case 32: return horizontal_by_definition<std::uint32_t>(row, samples);
    default: return horizontal_by_definition<std::uint64_t>(row, samples);
  }
}

// From the words of the technical note: planes first, then differences over the whole row.
Bytes float_by_the_note(Bytes const& row, std::size_t samples, std::size_t bytes_per_sample) {
  std::size_t const count = row.size() / bytes_per_sample;
  Bytes planes(row.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t b = 0; b < bytes_per_sample; ++b) {
      planes[(bytes_per_sample - 1 - b) * count + i] = row[i * bytes_per_sample + b];
    }
  }
  Bytes out = planes;
  for (std::size_t i = samples; i < out.size(); ++i) {
    out[i] = static_cast<std::byte>(static_cast<unsigned>(planes[i]) - static_cast<unsigned>(planes[i - samples]));
  }
  return out;
}

TEST(Predict, HorizontalDifferencesOfAKnownRow) {
  Bytes const rgb = {std::byte{10}, std::byte{20}, std::byte{30}, std::byte{13}, std::byte{19}, std::byte{30}};
  Bytes out(6);
  apply_horizontal_row(rgb.data(), out.data(), 2, 3, 8);
  EXPECT_EQ(out, (Bytes{std::byte{10}, std::byte{20}, std::byte{30}, std::byte{3}, std::byte{255}, std::byte{0}}));
}

TEST(Predict, HorizontalIsUndoneByTheDecoderForEveryShape) {
  for (std::uint32_t const bits : {8U, 16U, 32U, 64U}) {
    for (std::uint32_t const samples : kSamples) {
      for (std::size_t const width : kWidths) {
        SCOPED_TRACE(::testing::Message() << bits << " bits, " << samples << " samples, " << width << " pixels");
        std::size_t const size = width * samples * bits / 8;
        Bytes const row = random_row(size, static_cast<std::uint32_t>(width * samples + bits));
        Bytes out(size + kGuard, kGuardByte);
        apply_horizontal_row(row.data(), out.data(), width, samples, bits);
        expect_guard(out);
        out.resize(size);
        ASSERT_EQ(out, horizontal_by_definition(row, samples, bits));
        Bytes back(size);
        undo_horizontal_row(out.data(), back.data(), width, samples, bits);
        ASSERT_EQ(back, row);
        Bytes in_place = row;
        in_place.resize(size + kGuard, kGuardByte);
        apply_horizontal_row(in_place.data(), width, samples, bits);
        expect_guard(in_place);
        in_place.resize(size);
        ASSERT_EQ(in_place, out);
      }
    }
  }
}

TEST(Predict, HorizontalCopiesWidthsThatTiffDoesNotDefine) {
  Bytes const row = random_row(20, 3);
  Bytes out(20 + kGuard, kGuardByte);
  apply_horizontal_row(row.data(), out.data(), 160, 1, 1);
  expect_guard(out);
  out.resize(20);
  EXPECT_EQ(out, row);
}

TEST(Predict, FloatIsUndoneByTheDecoderForEveryShape) {
  for (std::uint32_t const bytes : {2U, 3U, 4U, 8U}) {
    for (std::uint32_t const samples : kSamples) {
      for (std::size_t const width : kWidths) {
        SCOPED_TRACE(::testing::Message() << bytes << " bytes, " << samples << " samples, " << width << " pixels");
        std::size_t const size = width * samples * bytes;
        Bytes const row = random_row(size, static_cast<std::uint32_t>(width * samples + bytes));
        Bytes out(size + kGuard, kGuardByte);
        apply_float_row(row.data(), out.data(), width, samples, bytes);
        expect_guard(out);
        out.resize(size);
        ASSERT_EQ(out, float_by_the_note(row, samples, bytes));
        Bytes back(size);
        undo_float_row(out.data(), back.data(), width, samples, bytes);
        ASSERT_EQ(back, row);
      }
    }
  }
}

TEST(Predict, LeavesMemoryAloneWhenThereAreNoPixels) {
  Bytes out(kGuard, kGuardByte);
  apply_horizontal_row(out.data(), out.data(), 0, 3, 16);
  apply_float_row(nullptr, out.data(), 0, 1, 4);
  expect_guard(out);
}

}  // namespace
}  // namespace terrazzo::tile
