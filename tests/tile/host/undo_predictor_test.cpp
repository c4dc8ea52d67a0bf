// SPDX-License-Identifier: Apache-2.0
#include "tile/undo_predictor.hpp"

#include "tile/host/stream_copy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <tuple>
#include <vector>

namespace terrazzo::tile {
namespace {

using Bytes = std::vector<std::byte>;

// Bytes behind the row that no function may touch.
constexpr std::size_t kGuard = 64;
constexpr std::byte kGuardByte{0xA5};

Bytes random_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  Bytes bytes(count);
  for (std::byte& b : bytes) { b = static_cast<std::byte>(engine() & 0xFFU); }
  return bytes;
}

Bytes guarded(std::size_t count) { return Bytes(count + kGuard, kGuardByte); }

void expect_guard(Bytes const& bytes) {
  for (std::size_t i = bytes.size() - kGuard; i < bytes.size(); ++i) {
    ASSERT_EQ(bytes[i], kGuardByte) << "byte " << i - (bytes.size() - kGuard) << " behind the row was written";
  }
}

// The encoder, written from the specification's words: each sample minus the one a pixel before.
template <class T>
Bytes difference(Bytes const& row, std::size_t samples, bool swapped) {
  Bytes out(row.size());
  for (std::size_t i = 0; i < row.size() / sizeof(T); ++i) {
    T value = load_unaligned<T>(row.data() + i * sizeof(T));
    if (i >= samples) { value = static_cast<T>(value - load_unaligned<T>(row.data() + (i - samples) * sizeof(T))); }
    std::array<std::byte, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof(T));
    for (std::size_t b = 0; b < sizeof(T); ++b) { out[i * sizeof(T) + b] = bytes[swapped ? sizeof(T) - 1 - b : b]; }
  }
  return out;
}

Bytes encode_horizontal(Bytes const& row, std::size_t samples, std::uint32_t bits, bool swapped) {
  switch (bits) {
    case 8: return difference<std::uint8_t>(row, samples, swapped);
    case 16: return difference<std::uint16_t>(row, samples, swapped);
    case 32: return difference<std::uint32_t>(row, samples, swapped);
    default: return difference<std::uint64_t>(row, samples, swapped);
  }
}

Bytes encode_float(Bytes const& row, std::size_t width_px, std::size_t samples, std::size_t bytes_per_sample) {
  std::size_t const count = width_px * samples;
  Bytes planes(row.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t b = 0; b < bytes_per_sample; ++b) {
      planes[b * count + i] = row[i * bytes_per_sample + bytes_per_sample - 1 - b];
    }
  }
  return difference<std::uint8_t>(planes, samples, false);
}

constexpr std::array<std::size_t, 18> kWidths{0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 100, 256, 513};

class HorizontalRow : public ::testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t>> {};

TEST_P(HorizontalRow, IsUndoneInPlaceAndIntoAnotherBuffer) {
  auto const [samples, bits] = GetParam();
  for (std::size_t const width : kWidths) {
    std::size_t const size = width * samples * bits / 8;
    Bytes const expected = random_bytes(size, static_cast<std::uint32_t>(width + samples + bits));
    for (bool const swapped : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "width " << width << " swapped " << swapped);
      Bytes const encoded = encode_horizontal(expected, samples, bits, swapped);
      auto const undo =
          swapped
              ? undo_horizontal_row_swapped
              : static_cast<void (*)(std::byte const*, std::byte*, std::size_t, std::uint32_t, std::uint32_t) noexcept>(
                    undo_horizontal_row);
      Bytes out = guarded(size);
      undo(encoded.data(), out.data(), width, samples, bits);
      expect_guard(out);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin()));

      Bytes row = guarded(size);
      std::copy(encoded.begin(), encoded.end(), row.begin());
      undo(row.data(), row.data(), width, samples, bits);
      expect_guard(row);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), row.begin()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(StrideAndBits, HorizontalRow,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U, 13U, 16U, 17U,
                                                              25U, 40U, 64U, 65U, 100U),
                                            ::testing::Values(8U, 16U, 32U, 64U)));

TEST(HorizontalRowTest, WrapsModuloTheSampleSize) {
  std::array<std::uint16_t, 4> row{0xFFFF, 2, 0xFFFF, 1};
  undo_horizontal_row(reinterpret_cast<std::byte*>(row.data()), 4, 1, 16);
  EXPECT_EQ(row, (std::array<std::uint16_t, 4>{0xFFFF, 1, 0, 1}));
}

TEST(HorizontalRowTest, KeepsChannelsApart) {
  std::array<std::uint8_t, 9> row{1, 10, 100, 1, 1, 1, 255, 0, 156};
  undo_horizontal_row(reinterpret_cast<std::byte*>(row.data()), 3, 3, 8);
  EXPECT_EQ(row, (std::array<std::uint8_t, 9>{1, 10, 100, 2, 11, 101, 1, 11, 1}));
}

TEST(HorizontalRowTest, LeavesWidthsWithoutADefinitionAlone) {
  std::array<std::uint8_t, 4> const row{1, 2, 3, 4};
  std::array<std::uint8_t, 4> out{9, 9, 9, 9};
  undo_horizontal_row(reinterpret_cast<std::byte const*>(row.data()), reinterpret_cast<std::byte*>(out.data()), 2, 1,
                      12);
  EXPECT_EQ(out, (std::array<std::uint8_t, 4>{1, 2, 3, 9}));
}

TEST(HorizontalRowTest, AgreesWithTheScalarDefinition) {
  Bytes const encoded = random_bytes(2 * 3 * 77, 5);
  Bytes vector(encoded.size());
  Bytes scalar(encoded.size());
  undo_horizontal_row(encoded.data(), vector.data(), 77, 3, 16);
  undo_horizontal_scalar<std::uint16_t>(encoded.data(), scalar.data(), 0, 3 * 77, 3);
  EXPECT_EQ(vector, scalar);
}

class FloatRow : public ::testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t>> {};

TEST_P(FloatRow, IsUndone) {
  auto const [samples, bytes_per_sample] = GetParam();
  for (std::size_t const width : kWidths) {
    SCOPED_TRACE(width);
    std::size_t const size = width * samples * bytes_per_sample;
    Bytes const expected = random_bytes(size, static_cast<std::uint32_t>(width * 7 + samples));
    Bytes encoded = encode_float(expected, width, samples, bytes_per_sample);
    encoded.resize(size + kGuard, kGuardByte);
    Bytes out = guarded(size);
    undo_float_row(encoded.data(), out.data(), width, samples, bytes_per_sample);
    expect_guard(encoded);
    expect_guard(out);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin()));
  }
}

INSTANTIATE_TEST_SUITE_P(SamplesAndSize, FloatRow,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U, 4U, 7U, 20U),
                                            ::testing::Values(2U, 3U, 4U, 8U)));

TEST(FloatRowTest, PutsTheMostSignificantPlaneLast) {
  // 1.0f = 3F 80 00 00 and 2.0f = 40 00 00 00; planes 3F 40, 80 00, 00 00, 00 00, then differences.
  std::array<std::uint8_t, 8> planes{0x3F, 0x01, 0x40, 0x80, 0x00, 0x00, 0x00, 0x00};
  std::array<float, 2> out{};
  undo_float_row(reinterpret_cast<std::byte*>(planes.data()), reinterpret_cast<std::byte*>(out.data()), 2, 1, 4);
  EXPECT_EQ(out[0], 1.0F);
  EXPECT_EQ(out[1], 2.0F);
}

class StreamedFloatRows : public ::testing::TestWithParam<std::uint32_t> {};

// Ends of a row in the middle of a line, rows side by side and rows apart, also from the bottom up; addresses that no
// sample could have are taken too.
TEST_P(StreamedFloatRows, AreTheRowsOneByOneWhereverTheyGo) {
  std::uint32_t const bytes_per_sample = GetParam();
  constexpr std::size_t kRows = 7;
  for (std::size_t const width : {0u, 1u, 5u, 31u, 32u, 33u, 64u, 100u, 512u, 1000u}) {
    std::size_t const row_bytes = width * bytes_per_sample;
    for (std::size_t const offset : {0u, 1u, 8u, 16u, 48u, 63u}) {
      for (std::ptrdiff_t const gap : {std::ptrdiff_t{0}, std::ptrdiff_t{24}, std::ptrdiff_t{129}}) {
        for (bool const upwards : {false, true}) {
          SCOPED_TRACE(::testing::Message() << width << " at " << offset << " gap " << gap << " upwards " << upwards);
          std::ptrdiff_t const stride = static_cast<std::ptrdiff_t>(row_bytes) + gap;
          Bytes const pixels = random_bytes(row_bytes * kRows, static_cast<std::uint32_t>(width + offset));
          Bytes encoded;
          Bytes wanted(64 + offset + static_cast<std::size_t>(stride) * kRows + kGuard, kGuardByte), out = wanted;
          std::size_t const start = (64 - reinterpret_cast<std::uintptr_t>(out.data()) % 64) % 64 + offset;
          for (std::size_t r = 0; r < kRows; ++r) {
            auto const row = pixels.begin() + static_cast<std::ptrdiff_t>(r * row_bytes);
            Bytes const planes =
                encode_float(Bytes(row, row + static_cast<std::ptrdiff_t>(row_bytes)), width, 1, bytes_per_sample);
            encoded.insert(encoded.end(), planes.begin(), planes.end());
            std::size_t const place = upwards ? kRows - 1 - r : r;
            std::copy_n(
                row, row_bytes,
                wanted.begin() + static_cast<std::ptrdiff_t>(start) + static_cast<std::ptrdiff_t>(place) * stride);
          }
          encoded.resize(encoded.size() + kGuard, kGuardByte);
          std::byte* const first = out.data() + start + (upwards ? (kRows - 1) * static_cast<std::size_t>(stride) : 0);
          stream_float_rows(encoded.data(), width, bytes_per_sample, kRows, first, upwards ? -stride : stride);
          fence_streamed_copies();
          expect_guard(encoded);
          ASSERT_EQ(out, wanted);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SampleSize, StreamedFloatRows, ::testing::Values(2U, 3U, 4U, 8U));

TEST(StreamedFloatRowsTest, MayBeAsLongAsTheHeaderSays) {
  std::size_t const width = kMaxStreamedRowBytes / 4;
  Bytes const pixels = random_bytes(2 * kMaxStreamedRowBytes, 3);
  Bytes encoded;
  for (std::size_t r = 0; r < 2; ++r) {
    auto const row = pixels.begin() + static_cast<std::ptrdiff_t>(r * kMaxStreamedRowBytes);
    Bytes const planes = encode_float(Bytes(row, row + kMaxStreamedRowBytes), width, 1, 4);
    encoded.insert(encoded.end(), planes.begin(), planes.end());
  }
  Bytes out(pixels.size());
  stream_float_rows(encoded.data(), width, 4, 2, out.data(), kMaxStreamedRowBytes);
  fence_streamed_copies();
  EXPECT_EQ(out, pixels);
}

}  // namespace
}  // namespace terrazzo::tile
