// SPDX-License-Identifier: Apache-2.0
//
// A sample at a time, as the device finishes rows, against the host's row functions. tests/read/device/placing_test.cpp
// compares with RowFinisher and whole reads.
#include "tile/row_format.hpp"

#include "tile/noise_rows.hpp"
#include "tile/place_twin.hpp"
#include "tile/undo_predictor.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

namespace terrazzo::tile {
namespace {

using Bytes = std::vector<std::byte>;
using test::format_of;
using test::noise;

// Every sample of a noisy row, in memory of exactly the row's size, so that the sanitizers see a byte too many.
void expect_row(RowFormat const& format, std::function<void(std::byte*, std::byte*)> const& finish_row) {
  SCOPED_TRACE(::testing::Message() << "step " << static_cast<int>(format.step) << ", " << format.bits << " bits, "
                                    << format.width_px << " x " << format.samples
                                    << (format.swapped ? " swapped" : ""));
  std::size_t const bytes = static_cast<std::size_t>(format.decoded_row_bytes);
  Bytes const encoded = noise(bytes, format.bits * 1000 + format.width_px);
  auto const for_host = std::make_unique<std::byte[]>(bytes), for_device = std::make_unique<std::byte[]>(bytes);
  std::memcpy(for_host.get(), encoded.data(), bytes);
  std::memcpy(for_device.get(), encoded.data(), bytes);
  Bytes wanted(static_cast<std::size_t>(format.finished_row_bytes));
  finish_row(for_host.get(), wanted.data());
  sum_row_scalar(for_device.get(), format);
  Bytes finished(wanted.size());
  for (std::size_t i = 0; i < std::size_t{format.width_px} * format.samples; ++i) {
    RawSample const sample = finished_sample(for_device.get(), format, i);
    test::store_sample(finished.data() + i * format.sample_bytes, sample, format.sample_bytes);
  }
  EXPECT_EQ(finished, wanted);
}

struct Whole {
  DType dtype;
  std::uint32_t bits, parts;
};
constexpr Whole kWhole[] = {{DType::u8, 8, 1},    {DType::i8, 8, 1},    {DType::u16, 16, 1},  {DType::f16, 16, 1},
                            {DType::i32, 32, 1},  {DType::f32, 32, 1},  {DType::u64, 64, 1},  {DType::f64, 64, 1},
                            {DType::ci16, 32, 2}, {DType::cf16, 32, 2}, {DType::ci32, 64, 2}, {DType::cf32, 64, 2},
                            {DType::cf64, 128, 2}};
constexpr std::uint32_t kWidths[] = {1, 2, 7, 31, 32, 33, 100};

TEST(FinishedSample, CopiesSamplesInTheMachinesOrder) {
  for (Whole const& w : kWhole) {
    for (std::uint32_t const width : kWidths) {
      RowFormat const format = format_of(FinishStep::copy, w.dtype, w.bits, width, 3);
      expect_row(format, [&](std::byte* in, std::byte* out) { std::memcpy(out, in, format.finished_row_bytes); });
    }
  }
}

TEST(FinishedSample, SwapsEachPartOfASample) {
  for (Whole const& w : kWhole) {
    if (w.bits == 8) { continue; }
    for (std::uint32_t const width : kWidths) {
      RowFormat const format = format_of(FinishStep::swap, w.dtype, w.bits, width, 2, true);
      expect_row(format, [&](std::byte* in, std::byte* out) {
        swap_samples(in, out, std::size_t{width} * 2 * w.parts, w.bits / 8 / w.parts);
      });
    }
  }
}

TEST(FinishedSample, FollowsHorizontalSumsOfEveryWidth) {
  for (Whole const& w : kWhole) {
    if (w.bits == 128) { continue; }
    for (std::uint32_t const width : kWidths) {
      for (std::uint32_t const samples : {1u, 3u, 5u}) {
        RowFormat format = format_of(FinishStep::horizontal, w.dtype, w.bits, width, samples);
        expect_row(format,
                   [&](std::byte* in, std::byte* out) { undo_horizontal_row(in, out, width, samples, w.bits); });
        if (w.bits == 8) { continue; }
        format.step = FinishStep::horizontal_swapped;
        format.swapped = true;
        expect_row(format, [&](std::byte* in, std::byte* out) {
          undo_horizontal_row_swapped(in, out, width, samples, w.bits);
        });
      }
    }
  }
}

TEST(FinishedSample, JoinsTheBytePlanesOfTheFloatPredictor) {
  for (Whole const& w : {Whole{DType::f16, 16, 1}, Whole{DType::f32, 32, 1}, Whole{DType::f64, 64, 1}}) {
    for (std::uint32_t const width : kWidths) {
      for (std::uint32_t const samples : {1u, 3u}) {
        expect_row(format_of(FinishStep::floating, w.dtype, w.bits, width, samples),
                   [&](std::byte* in, std::byte* out) { undo_float_row(in, out, width, samples, w.bits / 8); });
      }
    }
  }
}

TEST(FinishedSample, WidensFloatsOf24BitsInEitherOrderAndBehindThePredictor) {
  for (std::uint32_t const width : kWidths) {
    for (bool const swapped : {false, true}) {
      expect_row(format_of(FinishStep::widen_float24, DType::f32, 24, width, 2, swapped),
                 [&](std::byte* in, std::byte* out) { widen_float24_row(in, out, std::size_t{width} * 2, swapped); });
    }
    expect_row(format_of(FinishStep::floating_then_widen, DType::f32, 24, width, 2),
               [&](std::byte* in, std::byte* out) {
                 Bytes narrow(std::size_t{width} * 2 * 3);
                 undo_float_row(in, narrow.data(), width, 2, 3);
                 widen_float24_row(narrow.data(), out, std::size_t{width} * 2, false);
               });
  }
}

TEST(FinishedSample, UnpacksEveryNumberOfBits) {
  for (std::uint32_t bits = 1; bits < 32; ++bits) {
    if (bits == 8 || bits == 16) { continue; }
    DType const dtype = bits < 8 ? DType::u8 : bits < 16 ? DType::u16 : DType::u32;
    for (std::uint32_t const width : kWidths) {
      for (bool const swapped : {false, true}) {
        expect_row(
            format_of(FinishStep::unpack_bits, dtype, bits, width, 3, swapped),
            [&](std::byte* in, std::byte* out) { unpack_bits_row(in, out, std::size_t{width} * 3, bits, swapped); });
      }
    }
  }
}

TEST(SumRowScalar, LeavesRowsWithoutPredictorAlone) {
  for (FinishStep const step :
       {FinishStep::copy, FinishStep::swap, FinishStep::unpack_bits, FinishStep::widen_float24}) {
    RowFormat const format = format_of(step, DType::u16, 16, 9, 2);
    EXPECT_FALSE(format.is_predicted());
    Bytes row = noise(static_cast<std::size_t>(format.decoded_row_bytes), 5);
    Bytes const before = row;
    sum_row_scalar(row.data(), format);
    EXPECT_EQ(row, before);
  }
}

}  // namespace
}  // namespace terrazzo::tile
