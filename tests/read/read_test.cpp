// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/read.hpp"

#include "read/images.hpp"
#include "support/temp_folder.hpp"
#include "terrazzo/write.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

namespace terrazzo::reading {
namespace {

// ---------------------------------------------------------------------------------------------------------------
// Every layout, every corner

struct LayoutCase {
  char const* name;
  ImageSpec spec;
};

std::vector<LayoutCase> layouts() {
  using std::endian;
  return {
      {"OneStrip", {.width = 37, .height = 29}},
      {"StripsOfOneRow", {.width = 37, .height = 29, .rows_per_strip = 1}},
      {"StripsOfFourPackBits", {.width = 37, .height = 29, .rows_per_strip = 4, .compression = kPackBits}},
      {"Tiles", {.width = 37, .height = 29, .tile_width = 16, .tile_height = 16}},
      {"TilesPackBits", {.width = 37, .height = 29, .tile_width = 16, .tile_height = 16, .compression = kPackBits}},
      {"TileLargerThanImage", {.width = 5, .height = 3, .tile_width = 64, .tile_height = 64, .compression = kPackBits}},
      {"ThreeBands", {.width = 37, .height = 29, .bands = 3, .rows_per_strip = 5}},
      {"ThreeBandTiles",
       {.width = 37, .height = 29, .bands = 3, .tile_width = 16, .tile_height = 32, .compression = kPackBits}},
      {"SeparatePlanes", {.width = 37, .height = 29, .bands = 4, .rows_per_strip = 6, .separate = true}},
      {"SeparatePlaneTiles",
       {.width = 37,
        .height = 29,
        .bands = 4,
        .tile_width = 16,
        .tile_height = 16,
        .separate = true,
        .compression = kPackBits}},
      {"BigEndian", {.width = 37, .height = 29, .bands = 2, .rows_per_strip = 7, .order = endian::big}},
      {"BigEndianTiles",
       {.width = 37,
        .height = 29,
        .bands = 2,
        .tile_width = 16,
        .tile_height = 16,
        .compression = kPackBits,
        .order = endian::big}},
      {"BigTiff", {.width = 37, .height = 29, .tile_width = 16, .tile_height = 16, .big = true}},
      {"BigEndianBigTiff", {.width = 37, .height = 29, .rows_per_strip = 3, .order = endian::big, .big = true}},
      {"FillOrderTwo", {.width = 37, .height = 29, .bands = 2, .rows_per_strip = 4, .reversed_bits = true}},
      {"FillOrderTwoPackBits",
       {.width = 37, .height = 29, .rows_per_strip = 4, .compression = kPackBits, .reversed_bits = true}},
      {"OnePixel", {.width = 1, .height = 1}},
      {"OneColumn", {.width = 1, .height = 29, .rows_per_strip = 3}},
      {"ManyBands", {.width = 9, .height = 5, .bands = 17, .rows_per_strip = 2}},
  };
}

class EveryLayout : public ::testing::TestWithParam<LayoutCase> {
 protected:
  template <class T>
  void expect_windows() {
    ImageSpec const& spec = GetParam().spec;
    Opened const opened(image<T>(spec));
    std::vector<std::uint32_t> all(spec.bands);
    std::iota(all.begin(), all.end(), 1u);
    std::uint32_t const w = spec.width, h = spec.height;
    for (Window const& window :
         {Window{0, 0, w, h}, Window{0, 0, 1, 1}, Window{w - 1, h - 1, 1, 1}, Window{w / 3, h / 4, w - w / 3, 1},
          Window{w / 2, 0, 1, h}, Window{w / 5, h / 5, (w + 1) / 2, (h + 1) / 2}}) {
      for (unsigned const threads : {1u, 3u}) {
        HostArray const array = read(*opened, {.window = window, .threads = threads});
        EXPECT_EQ(array.width(), window.width);
        EXPECT_EQ(array.height(), window.height);
        EXPECT_EQ(array.bands(), spec.bands);
        ASSERT_EQ(values_of<T>(array), expected<T>(window, all))
            << window.column << "," << window.row << " " << window.width << "x" << window.height << " threads "
            << threads;
      }
    }
    HostArray const whole = read(*opened);
    EXPECT_EQ(values_of<T>(whole), (expected<T>({0, 0, w, h}, all)));
  }
};

INSTANTIATE_TEST_SUITE_P(Read, EveryLayout, ::testing::ValuesIn(layouts()),
                         [](auto const& test) { return std::string(test.param.name); });

TEST_P(EveryLayout, GivesEveryWindowOfBytes) { expect_windows<std::uint8_t>(); }
TEST_P(EveryLayout, GivesEveryWindowOfShorts) { expect_windows<std::int16_t>(); }
TEST_P(EveryLayout, GivesEveryWindowOfFloats) { expect_windows<float>(); }
TEST_P(EveryLayout, GivesEveryWindowOfDoubles) { expect_windows<double>(); }

TEST_P(EveryLayout, GivesBandsInAnyOrderAndMoreThanOnce) {
  ImageSpec const& spec = GetParam().spec;
  Opened const opened(image<std::uint16_t>(spec));
  std::uint32_t const last = spec.bands;
  for (std::vector<std::uint32_t> const& bands :
       {std::vector<std::uint32_t>{last}, {last, 1}, {1, 1}, {last, 1, last, (last + 1) / 2}}) {
    Window const window{spec.width / 3, spec.height / 3, (spec.width + 1) / 2, (spec.height + 1) / 2};
    HostArray const array = read(*opened, {.window = window, .bands = bands});
    EXPECT_EQ(array.bands(), bands.size());
    EXPECT_EQ(values_of<std::uint16_t>(array), expected<std::uint16_t>(window, bands));
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Errors of the request

TEST(Read, RefusesAWindowOutsideTheRaster) {
  Opened const opened(image<std::uint8_t>({.width = 10, .height = 8}));
  constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();
  for (Window const& window :
       {Window{0, 0, 11, 1}, Window{10, 0, 1, 1}, Window{0, 8, 1, 1}, Window{5, 5, 1, 4}, Window{1, 1, kMax, kMax},
        Window{kMax, kMax, 2, 2}, Window{0, 0, 0, 1}, Window{0, 0, 1, 0}}) {
    Error const error = failure_of([&] { static_cast<void>(read(*opened, {.window = window})); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.where().source, "memory.tif");
  }
}

TEST(Read, RefusesBandsThatAreNotThere) {
  Opened const opened(image<std::uint8_t>({.width = 10, .height = 8, .bands = 2}));
  for (std::uint32_t const band : {0u, 3u, 4'000'000'000u}) {
    EXPECT_EQ(failure_of([&] { static_cast<void>(read(*opened, {.bands = {1, band}})); }).kind(), ErrorKind::usage);
  }
}

TEST(Read, RefusesLevelsThatAreNotThereAndTwoWaysToChooseOne) {
  Opened const opened(image<std::uint8_t>({.width = 10, .height = 8}));
  EXPECT_EQ(failure_of([&] { static_cast<void>(read(*opened, {.level = 1})); }).kind(), ErrorKind::usage);
  testing::TiffBuilder pyramid = image<std::uint8_t>({.width = 10, .height = 8});
  pyramid.next_ifd();
  add_image<std::uint8_t>(pyramid, {.width = 5, .height = 4, .subfile_type = 1});
  Opened const with_overview(pyramid);
  EXPECT_NO_THROW(static_cast<void>(read(*with_overview, {.level = 1})));
  EXPECT_EQ(failure_of([&] {
              static_cast<void>(read(*with_overview, {.level = 1, .target_size = TargetSize{2, 2}}));
            }).kind(),
            ErrorKind::usage);
  EXPECT_EQ(failure_of([&] {
              static_cast<void>(read(*with_overview, {.target_size = TargetSize{0, 2}}));
            }).kind(),
            ErrorKind::usage);
}

// ---------------------------------------------------------------------------------------------------------------
// Types

TEST(ReadDType, ConvertsAsGdalDoes) {
  auto const value = [](std::uint32_t, std::uint32_t, std::uint32_t column) {
    return std::vector<float>{-3.f, 0.4f, 1.5f, 254.6f, 300.f, NAN}[column];
  };
  Opened const opened(image<float>({.width = 6, .height = 1}, value));
  HostArray const array = read(*opened, {.dtype = DType::u8});
  EXPECT_EQ(array.dtype(), DType::u8);
  EXPECT_EQ(values_of<std::uint8_t>(array), (std::vector<std::uint8_t>{0, 0, 2, 255, 255, 0}));
  EXPECT_EQ(result_dtype(*opened, {.dtype = DType::i64}), DType::i64);
}

TEST(ReadDType, IsThatOfTheBandsUnlessValuesChange) {
  Opened const ints(image<std::int16_t>({.width = 2, .height = 2})), floats(image<float>({.width = 2, .height = 2}));
  EXPECT_EQ(result_dtype(*ints, {}), DType::i16);
  EXPECT_EQ(result_dtype(*ints, {.masked = true}), DType::f64);
  EXPECT_EQ(result_dtype(*ints, {.unpack = true}), DType::f64);
  EXPECT_EQ(result_dtype(*floats, {.masked = true, .unpack = true}), DType::f32);
  EXPECT_EQ(result_dtype(*ints, {.masked = true, .dtype = DType::f32}), DType::f32);
}

TEST(ReadUnpack, ScalesAndShiftsEachBandByItsOwn) {
  testing::TiffBuilder builder = image<std::uint8_t>({.width = 3, .height = 1, .bands = 2});
  builder.ascii(42112,
                "<GDALMetadata><Item name='SCALE' sample='0' role='scale'>0.5</Item>"
                "<Item name='OFFSET' sample='0' role='offset'>10</Item>"
                "<Item name='SCALE' sample='1' role='scale'>2</Item></GDALMetadata>");
  Opened const opened(builder);
  auto const values = values_of<double>(read(*opened, {.unpack = true}));
  for (std::uint32_t c = 0; c < 3; ++c) {
    EXPECT_EQ(values[c], value_at<double>(0, 0, c) * 0.5 + 10);
    EXPECT_EQ(values[3 + c], value_at<double>(1, 0, c) * 2);
  }
  EXPECT_EQ(values_of<std::uint8_t>(read(*opened)), (expected<std::uint8_t>({0, 0, 3, 1}, {1, 2})))
      << "only when asked";
}

// Stored value_at() times `scale`, nodata as given.
testing::TiffBuilder scaled_image(std::string const& nodata, std::string const& scale) {
  testing::TiffBuilder builder = image<std::int16_t>({.width = 3, .height = 2});
  builder.ascii(42112, "<GDALMetadata><Item name='SCALE' sample='0' role='scale'>" + scale + "</Item></GDALMetadata>");
  builder.ascii(42113, nodata);
  return builder;
}

TEST(ReadUnpack, KeepsWhatIsMissing) {
  auto const marker = value_at<double>(0, 1, 1);
  Opened const opened(scaled_image(std::to_string(value_at<int>(0, 1, 1)), "0.001"));
  auto const values = values_of<double>(read(*opened, {.unpack = true}));
  auto const masked = values_of<double>(read(*opened, {.masked = true, .unpack = true}));
  for (std::uint32_t i = 0; i < 6; ++i) {
    auto const stored = value_at<double>(0, i / 3, i % 3);
    if (i == 4) {
      EXPECT_EQ(values[i], marker) << "thousandths of int16 do not reach it";
      EXPECT_TRUE(std::isnan(masked[i]));
    } else {
      EXPECT_EQ(values[i], stored * 0.001);
      EXPECT_EQ(masked[i], stored * 0.001);
    }
  }
}

TEST(ReadUnpack, MakesNanOfNodataThatOtherPixelsMayBecome) {
  auto const marker = value_at<int>(0, 1, 1);
  ASSERT_EQ(marker % 3, 0) << "a valid pixel may become it";
  Opened const opened(scaled_image(std::to_string(marker), "3"));
  auto const values = values_of<double>(read(*opened, {.unpack = true}));
  EXPECT_TRUE(std::isnan(values[4]));
  EXPECT_EQ(values[0], value_at<double>(0, 0, 0) * 3);
}

TEST(ReadMasked, MakesWhatIsAskedForOfMissingPixels) {
  testing::TiffBuilder builder = image<std::int16_t>({.width = 3, .height = 2});
  builder.ascii(42113, std::to_string(value_at<int>(0, 1, 1)));
  Opened const opened(builder);
  ReadRequest request{.masked = true, .missing = make_nodata("-7", DType::i16), .dtype = DType::i16};
  auto wanted = expected<std::int16_t>({0, 0, 3, 2}, {1});
  wanted[4] = -7;
  EXPECT_EQ(values_of<std::int16_t>(read(*opened, request)), wanted);
  request.dtype = DType::u8;
  EXPECT_EQ(failure_of([&] { (void)read(*opened, request); }).kind(), ErrorKind::usage) << "-7 is no uint8";
}

TEST(ReadMasked, MakesNanOfNodata) {
  testing::TiffBuilder builder = image<std::int16_t>({.width = 3, .height = 2});
  builder.ascii(42113, std::to_string(value_at<int>(0, 1, 1)));
  Opened const opened(builder);
  auto const values = values_of<double>(read(*opened, {.masked = true}));
  for (std::uint32_t i = 0; i < 6; ++i) {
    if (i == 4) {
      EXPECT_TRUE(std::isnan(values[i]));
    } else {
      EXPECT_EQ(values[i], value_at<double>(0, i / 3, i % 3));
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// The caller's memory

struct View {
  char const* name;
  std::int64_t band, row, pixel, first;  // strides and start, in samples
};

// 3 bands of 5 x 4 pixels, in memory of 200 samples; whatever the strides, nothing else is touched.
class IntoAnyMemory : public ::testing::TestWithParam<View> {};

INSTANTIATE_TEST_SUITE_P(Read, IntoAnyMemory,
                         ::testing::Values(View{"BandFirst", 20, 5, 1, 0}, View{"BandLast", 1, 15, 3, 0},
                                           View{"RowThenBand", 5, 15, 1, 0}, View{"PaddedRows", 40, 9, 1, 3},
                                           View{"BottomUp", 20, -5, 1, 15}, View{"RightToLeft", 20, 5, -1, 4},
                                           View{"BandsBackwards", -20, 5, 1, 40},
                                           View{"BandLastBottomUp", 1, -15, 3, 45}, View{"PaddedPixels", 1, 30, 6, 2},
                                           View{"Transposed", 20, 1, 4, 0}, View{"AllBackwards", -20, -5, -1, 59}),
                         [](auto const& test) { return std::string(test.param.name); });

TEST_P(IntoAnyMemory, WritesTheWindowAndNothingElse) {
  View const& v = GetParam();
  for (bool const separate : {false, true}) {
    for (std::uint16_t const compression : {kNone, kPackBits}) {
      for (std::endian const order : {std::endian::little, std::endian::big}) {
        for (DType const dtype : {DType::u16, DType::f32}) {
          Opened const opened(image<std::uint16_t>({.width = 12,
                                                    .height = 10,
                                                    .bands = 3,
                                                    .tile_width = 4,
                                                    .tile_height = 4,
                                                    .separate = separate,
                                                    .compression = compression,
                                                    .order = order}));
          Window const window{3, 2, 5, 4};
          std::int64_t const bytes = static_cast<std::int64_t>(size_bytes(dtype));
          std::vector<std::byte> memory(static_cast<std::size_t>(200 * bytes), std::byte{0xCD});
          HostView const view{
              memory.data() + v.first * bytes, dtype, 3, 4, 5, v.band * bytes, v.row * bytes, v.pixel * bytes};
          read_into(*opened, {.window = window, .threads = 2}, view);
          std::vector<std::byte> wanted(memory.size(), std::byte{0xCD});
          for (std::uint32_t b = 0; b < 3; ++b) {
            for (std::uint32_t r = 0; r < 4; ++r) {
              for (std::uint32_t c = 0; c < 5; ++c) {
                std::byte* const at = wanted.data() + (v.first + v.band * b + v.row * r + v.pixel * c) * bytes;
                auto const stored = value_at<std::uint16_t>(b, 2 + r, 3 + c);
                auto const real = static_cast<float>(stored);
                std::memcpy(at, dtype == DType::u16 ? static_cast<void const*>(&stored) : &real,
                            static_cast<std::size_t>(bytes));
              }
            }
          }
          ASSERT_EQ(memory, wanted) << "separate " << separate << " compression " << compression << " "
                                    << to_string(dtype) << (order == std::endian::big ? " big-endian" : "");
        }
      }
    }
  }
}

TEST(ReadInto, RefusesAViewThatIsNotOfTheResult) {
  Opened const opened(image<std::uint8_t>({.width = 4, .height = 3, .bands = 2}));
  std::vector<std::byte> memory(64);
  HostView const good{memory.data(), DType::u8, 2, 3, 4, 12, 4, 1};
  EXPECT_NO_THROW(read_into(*opened, {}, good));
  auto const expect_usage = [&](HostView const& view, ReadRequest const& request = {}) {
    EXPECT_EQ(failure_of([&] { read_into(*opened, request, view); }).kind(), ErrorKind::usage);
  };
  for (int part = 0; part < 4; ++part) {
    HostView bad = good;
    if (part == 0) { bad.data = nullptr; }
    if (part == 1) { bad.bands = 1; }
    if (part == 2) { bad.height = 4; }
    if (part == 3) { bad.width = 3; }
    expect_usage(bad);
  }
  expect_usage(good, {.dtype = DType::u16});
}

TEST(ReadInto, TakesTheTypeOfTheView) {
  Opened const opened(image<std::uint8_t>({.width = 4, .height = 1}));
  std::vector<double> memory(4);
  read_into(*opened, {}, {memory.data(), DType::f64, 1, 1, 4, 32, 32, 8});
  EXPECT_EQ(memory, expected<double>({0, 0, 4, 1}, {1}));
}

TEST(ReadInto, TakesAViewWithoutStridesForPacked) {
  Opened const opened(image<std::uint8_t>({.width = 4, .height = 3, .bands = 2}));
  std::vector<std::uint8_t> memory(24);
  read_into(*opened, {}, {memory.data(), DType::u8, 2, 3, 4});
  EXPECT_EQ(memory, (expected<std::uint8_t>({0, 0, 4, 3}, {1, 2})));
}

TEST(ReadInto, RefusesAViewWithOneAddressForSeveralPixels) {
  Opened const opened(image<std::uint8_t>({.width = 4, .height = 3, .bands = 2}));
  std::vector<std::byte> memory(64);
  for (HostView const& view :
       {HostView{memory.data(), DType::u8, 2, 3, 4, 0, 4, 1}, HostView{memory.data(), DType::u8, 2, 3, 4, 12, 0, 1},
        HostView{memory.data(), DType::u8, 2, 3, 4, 12, 4, 0}}) {
    EXPECT_EQ(failure_of([&] { read_into(*opened, {}, view); }).kind(), ErrorKind::usage);
  }
  read_into(*opened, {.window = Window{1, 1, 1, 1}, .bands = {2}}, {memory.data(), DType::u8, 1, 1, 1, 0, 0, 5});
  EXPECT_EQ(static_cast<std::uint8_t>(memory[0]), value_at<std::uint8_t>(1, 1, 1)) << "one pixel has one address";
}

TEST(HostArrays, AreOfTheirShapeAndAligned) {
  HostArray const array(DType::f32, 2, 3, 5);
  EXPECT_EQ(array.bytes().size(), 120u);
  EXPECT_EQ(array.view().band_stride_bytes, 60);
  EXPECT_EQ(array.view().row_stride_bytes, 20);
  EXPECT_EQ(array.view().pixel_stride_bytes, 4);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.view().data) % 64, 0u);
  EXPECT_EQ(array.view().data, array.bytes().data());
}

TEST(HostArrays, ThatNoAddressSpaceHoldsAreALimitError) {
  constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(failure_of([] { HostArray const array(DType::cf64, kMax, kMax, kMax); }).kind(), ErrorKind::limit);
  EXPECT_EQ(failure_of([] { HostArray const array(DType::u8, 2, kMax, kMax); }).kind(), ErrorKind::limit);
}

TEST(HostArrays, Move) {
  HostArray a(DType::u8, 1, 2, 2);
  a.bytes()[3] = std::byte{7};
  HostArray const b = std::move(a);
  EXPECT_EQ(b.bytes()[3], std::byte{7});
}

// ---------------------------------------------------------------------------------------------------------------
// Memory limits

TEST(ReadLimit, RefusesAResultThatIsTooLargeBeforeItIsMade) {
  // A PiB of pixels that the file does not have: sparse, so that only the result costs.
  testing::TiffBuilder strips;
  strips.longs(256, {0x7FFFFFFF})
      .longs(257, {500'000})
      .shorts(258, {8})
      .longs(278, {1})
      .longs(273, {0})
      .longs(279, {0});
  Opened const opened(strips);
  Error const error = failure_of([&] { static_cast<void>(read(*opened, {.memory_limit_bytes = 1 << 30})); });
  EXPECT_EQ(error.kind(), ErrorKind::limit);
  EXPECT_NE(error.message().find("the result"), std::string::npos) << error.message();
}

TEST(ReadLimit, CountsResultAndScratch) {
  Opened const opened(image<std::uint8_t>(
      {.width = 256, .height = 256, .tile_width = 256, .tile_height = 256, .compression = kPackBits}));
  EXPECT_NO_THROW(static_cast<void>(read(*opened, {.memory_limit_bytes = 4 * 65536})));
  Error const error = failure_of([&] { static_cast<void>(read(*opened, {.memory_limit_bytes = 65536 + 1000})); });
  EXPECT_EQ(error.kind(), ErrorKind::limit);
  EXPECT_NE(error.message().find("block"), std::string::npos) << error.message();
}

// Scratch is per thread: a limit that feeds one must not make a read fail because eight were asked for.
TEST(ReadLimit, TakesFewerThreadsRatherThanFail) {
  Opened const opened(image<std::uint8_t>(
      {.width = 1024, .height = 1024, .tile_width = 64, .tile_height = 1024, .compression = kPackBits}));
  std::uint64_t const result = 1024 * 1024, block = 64 * 1024;
  EXPECT_EQ(plan(*opened, {.threads = 8}).threads(), 8u);
  for (int round = 0; round < 10; ++round) {
    EXPECT_NO_THROW(static_cast<void>(read(*opened, {.threads = 8, .memory_limit_bytes = result + 3 * block})));
  }
  EXPECT_EQ(plan(*opened, {.threads = 8, .memory_limit_bytes = result + 3 * block}).threads(), 1u);
}

TEST(ReadLimit, RefusesATargetWhoseVeryRowsAreTooMany) {
  Opened const opened(image<std::uint8_t>({.width = 4, .height = 4}));
  Error const error = failure_of([&] {
    static_cast<void>(
        plan(*opened, {.target_size = TargetSize{0xFFFFFFFF, 0xFFFFFFFF}, .memory_limit_bytes = 64 << 20}));
  });
  EXPECT_EQ(error.kind(), ErrorKind::limit);
}

TEST(ReadLimit, CountsTheRowsAndColumnsOfATarget) {
  Opened const opened(image<std::uint8_t>({.width = 4, .height = 4}));
  constexpr std::uint32_t kWidth = 1'000'000;
  auto const read_wide = [&](std::uint64_t limit_bytes) {
    static_cast<void>(
        read(*opened, {.target_size = TargetSize{kWidth, 1}, .threads = 1, .memory_limit_bytes = limit_bytes}));
  };
  // The result; four bytes for every column; and of the one block its columns and their pixels.
  constexpr std::uint64_t kNeeded = kWidth * (1 + 4 + 4 + 1);
  EXPECT_NO_THROW(read_wide(kNeeded + (2 << 20)));
  EXPECT_EQ(failure_of([&] { read_wide(kNeeded - 1); }).kind(), ErrorKind::limit);
  EXPECT_EQ(failure_of([&] { read_wide(kWidth * 5 - 1); }).kind(), ErrorKind::limit);
}

TEST(ReadLimit, TakesFewerThreadsForAMaskRatherThanFail) {
  testing::TiffBuilder builder = image<std::uint8_t>(
      {.width = 1024, .height = 1024, .tile_width = 16, .tile_height = 16, .compression = kPackBits});
  builder.next_ifd();
  add_image<std::uint8_t>(builder, {.width = 1024,
                                    .height = 1024,
                                    .tile_width = 1024,
                                    .tile_height = 256,
                                    .compression = kPackBits,
                                    .subfile_type = 4});
  Opened const opened(builder);
  constexpr std::uint64_t kPixels = 1024 * 1024, kMaskBlock = 1024 * 256;
  constexpr std::uint64_t kLimit = kPixels * (8 + 1) + 3 * kMaskBlock;  // the result, the mask, and one thread
  for (int round = 0; round < 10; ++round) {
    EXPECT_NO_THROW(static_cast<void>(read(*opened, {.masked = true, .threads = 8, .memory_limit_bytes = kLimit})));
  }
}

TEST(ReadLimit, CountsTheMaskOfAMaskedRead) {
  testing::TiffBuilder builder = image<float>({.width = 1024, .height = 32});  // rows that are read in place
  builder.next_ifd();
  add_image<std::uint8_t>(builder, {.width = 1024, .height = 32, .subfile_type = 4});
  Opened const opened(builder);
  std::uint64_t const pixels = 1024 * 32, result = pixels * 4;
  EXPECT_NO_THROW(static_cast<void>(read(*opened, {.memory_limit_bytes = result + 1000})));
  EXPECT_EQ(failure_of([&] {
              static_cast<void>(read(*opened, {.masked = true, .memory_limit_bytes = result + 1000}));
            }).kind(),
            ErrorKind::limit);
  EXPECT_NO_THROW(static_cast<void>(read(*opened, {.masked = true, .memory_limit_bytes = result + 3 * pixels})));
}

// ---------------------------------------------------------------------------------------------------------------
// Threads

TEST(ReadFromManyThreads, GivesEachItsOwnPixels) {
  Opened const opened(image<std::uint16_t>(
      {.width = 200, .height = 150, .bands = 2, .tile_width = 32, .tile_height = 32, .compression = kPackBits}));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 10; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < 12; ++i) {
        Window const window{(i * 37 + t * 11) % 140, (i * 29 + t * 17) % 100, 20 + (i + t) % 40, 10 + (i * t) % 40};
        HostArray const array = read(*opened, {.window = window, .threads = 1 + t % 4});
        wrong += values_of<std::uint16_t>(array) != expected<std::uint16_t>(window, {1, 2});
      }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  EXPECT_EQ(wrong, 0);
}

TEST(ReadFromManyThreads, WorksOnAFile) {
  testing::TempFolder const folder;
  std::string const path = folder.write(
      "a.tif", image<float>({.width = 120, .height = 90, .tile_width = 16, .tile_height = 16, .compression = kPackBits})
                   .bytes());
  Dataset const dataset = open(path);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 10; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < 8; ++i) {
        Window const window{(i * 13 + t) % 80, (i * 7 + t) % 50, 40, 40};
        wrong += values_of<float>(read(dataset, {.window = window, .threads = 2})) != expected<float>(window, {1});
      }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace terrazzo::reading
