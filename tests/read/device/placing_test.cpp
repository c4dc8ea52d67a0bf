// SPDX-License-Identifier: Apache-2.0
//
// Requests of all kinds by the twin of a device read (read_twin.hpp), against the host engine.
#include "read/images.hpp"
#include "read/read_twin.hpp"
#include "support/lzw_stream.hpp"

#include <gtest/gtest.h>

#include <random>

namespace terrazzo::reading {
namespace {

using test::Bytes;
using test::contiguous;
using test::read_by_twin;
using test::TwinSplit;

void expect_read(Dataset const& dataset, ReadRequest const& request) {
  for (TwinSplit const& split : {TwinSplit{}, TwinSplit{.host_share = 0.4}, TwinSplit{.device = false}}) {
    test::expect_twin_read(dataset, request, split);
  }
}

// Windows, bands, sizes, types: all that a request can ask for, of a raster of at least 40 x 40 pixels.
void expect_every_request(Dataset const& dataset) {
  Info const& info = dataset.info();
  auto const bands = static_cast<std::uint32_t>(info.bands.size());
  std::vector<std::uint32_t> reversed;
  for (std::uint32_t b = bands; b > 0; --b) { reversed.push_back(b); }
  reversed.push_back(1);
  for (Window const& w : {Window{0, 0, info.width, info.height}, Window{17, 5, 23, 30}, Window{15, 15, 2, 2},
                          Window{info.width - 1, info.height - 1, 1, 1}}) {
    SCOPED_TRACE(::testing::Message() << "window " << w.column << "," << w.row << " " << w.width << "x" << w.height);
    expect_read(dataset, {.window = w});
    expect_read(dataset, {.window = w, .bands = reversed});
    expect_read(dataset, {.window = w, .bands = {bands}});
  }
  for (DType const dtype :
       {DType::u8, DType::i16, DType::u64, DType::f16, DType::f32, DType::f64, DType::ci16, DType::cf64}) {
    SCOPED_TRACE(to_string(dtype));
    expect_read(dataset, {.dtype = dtype});
    expect_read(dataset, {.window = Window{3, 20, 31, 9}, .bands = reversed, .dtype = dtype});
  }
  for (TargetSize const size : {TargetSize{7, 5}, TargetSize{100, 90}, TargetSize{info.width, 3}, TargetSize{1, 1}}) {
    SCOPED_TRACE(::testing::Message() << "to " << size.width << "x" << size.height);
    expect_read(dataset, {.target_size = size});
    expect_read(dataset,
                {.window = Window{13, 9, 20, 25}, .bands = reversed, .target_size = size, .dtype = DType::f32});
  }
  bool const complex = is_complex(info.bands[0].dtype);
  if (!complex) {
    expect_read(dataset, {.masked = true});
    expect_read(dataset, {.unpack = true});
    expect_read(dataset, {.masked = true, .unpack = true, .dtype = DType::f32});
    expect_read(dataset, {.masked = true, .unpack = true, .dtype = DType::i16});
  }
}

template <class T>
void expect_every_layout() {
  for (std::endian const order : {std::endian::little, std::endian::big}) {
    for (bool const separate : {false, true}) {
      for (std::uint16_t const compression : {kNone, kPackBits}) {
        for (std::uint32_t const tile : {0u, 16u}) {
          SCOPED_TRACE(::testing::Message() << (order == std::endian::big ? "big" : "little") << "-endian "
                                            << (separate ? "planes" : "pixels") << " compression " << compression
                                            << (tile == 0 ? " strips" : " tiles"));
          ImageSpec spec{.width = 41, .height = 43, .bands = 3};
          spec.tile_width = spec.tile_height = tile;
          spec.rows_per_strip = 7;
          spec.separate = separate;
          spec.compression = compression;
          spec.order = order;
          spec.edit = [](std::uint64_t block, Bytes& bytes) {
            if (block == 4) { bytes.clear(); }  // sparse
          };
          testing::TiffBuilder builder = image<T>(spec);
          builder.ascii(42113, "32");
          builder.ascii(42112,
                        "<GDALMetadata><Item name=\"SCALE\" sample=\"1\" role=\"scale\">0.25</Item>"
                        "<Item name=\"OFFSET\" sample=\"1\" role=\"offset\">-7.5</Item></GDALMetadata>");
          Opened const opened(builder);
          expect_every_request(*opened);
          if (::testing::Test::HasFailure()) { return; }
        }
      }
    }
  }
}

TEST(DevicePlacing, EqualsTheHostForBytes) { expect_every_layout<std::uint8_t>(); }
TEST(DevicePlacing, EqualsTheHostForShorts) { expect_every_layout<std::int16_t>(); }
TEST(DevicePlacing, EqualsTheHostForFloats) { expect_every_layout<float>(); }
TEST(DevicePlacing, EqualsTheHostForLongs) { expect_every_layout<std::uint64_t>(); }
TEST(DevicePlacing, EqualsTheHostForDoubles) { expect_every_layout<double>(); }

struct Samples {
  std::uint16_t bits, format, predictor;
};

// Noise as stored bytes: every pattern of a sample is as good as any other.
testing::TiffBuilder noise_image(Samples const& samples, std::uint16_t bands, bool separate, std::endian order) {
  constexpr std::uint32_t kWidth = 45, kHeight = 41, kTile = 32;
  testing::TiffBuilder builder(order);
  std::mt19937 engine(samples.bits * 10u + samples.predictor);
  std::vector<std::uint32_t> offsets, counts;
  std::uint32_t const per_block = separate ? 1u : bands;
  for (std::uint32_t block = 0; block < 4u * (separate ? bands : 1u); ++block) {
    Bytes bytes((kTile * per_block * samples.bits + 7) / 8 * kTile);
    for (std::byte& b : bytes) { b = static_cast<std::byte>(engine()); }
    Bytes const stream = testing::lzw_stream(bytes);
    offsets.push_back(static_cast<std::uint32_t>(builder.data(stream)));
    counts.push_back(static_cast<std::uint32_t>(stream.size()));
  }
  builder.longs(256, {kWidth})
      .longs(257, {kHeight})
      .shorts(258, std::vector<std::uint16_t>(bands, samples.bits))
      .shorts(259, {5})
      .shorts(262, {1})
      .shorts(277, {bands})
      .shorts(284, {static_cast<std::uint16_t>(separate ? 2 : 1)})
      .shorts(317, {samples.predictor})
      .longs(322, {kTile})
      .longs(323, {kTile})
      .longs(324, offsets)
      .longs(325, counts)
      .shorts(339, std::vector<std::uint16_t>(bands, samples.format));
  return builder;
}

void expect_noise(std::span<Samples const> cases) {
  for (Samples const& samples : cases) {
    for (std::endian const order : {std::endian::little, std::endian::big}) {
      for (bool const separate : {false, true}) {
        SCOPED_TRACE(::testing::Message()
                     << samples.bits << " bits, format " << samples.format << ", predictor " << samples.predictor
                     << (order == std::endian::big ? ", big-endian" : "") << (separate ? ", planes" : ""));
        Opened const opened(noise_image(samples, 2, separate, order));
        expect_every_request(*opened);
        if (::testing::Test::HasFailure()) { return; }
      }
    }
  }
}

TEST(DevicePlacing, EqualsTheHostBehindHorizontalDifferences) {
  constexpr Samples kCases[] = {{8, 1, 2}, {16, 1, 2}, {32, 2, 2}, {64, 1, 2}, {32, 3, 2}};
  expect_noise(kCases);
}

TEST(DevicePlacing, EqualsTheHostBehindFloatDifferences) {
  constexpr Samples kCases[] = {{16, 3, 3}, {24, 3, 3}, {32, 3, 3}, {64, 3, 3}};
  expect_noise(kCases);
}

TEST(DevicePlacing, EqualsTheHostForSamplesOfAnyBits) {
  constexpr Samples kCases[] = {{1, 1, 1}, {4, 1, 1}, {7, 1, 1}, {12, 1, 1}, {24, 1, 1}, {31, 1, 1}};
  expect_noise(kCases);
}

TEST(DevicePlacing, EqualsTheHostForSmallFloatsAndComplexSamples) {
  constexpr Samples kCases[] = {{16, 3, 1}, {24, 3, 1}, {32, 5, 1}, {64, 5, 1}, {32, 6, 1}, {64, 6, 1}, {128, 6, 1}};
  expect_noise(kCases);
}

TEST(DevicePlacing, FollowsTheStridesOfTheResult) {
  ImageSpec spec{.width = 41, .height = 43, .bands = 3, .tile_width = 16, .tile_height = 16};
  spec.compression = kPackBits;
  Opened const opened(image<std::uint16_t>(spec));
  Window const window{9, 11, 20, 30};
  ReadRequest const request{.window = window};
  HostArray const wanted = read(*opened, request);
  struct Strides {
    char const* name;
    std::int64_t band, row, pixel, first;
  };
  constexpr std::int64_t kBand = 20 * 30 * 2;
  for (Strides const& s : {Strides{"band last", 2, 20 * 6, 6, 0}, Strides{"padded", 64 * 30, 64, 2, 0},
                           Strides{"upside down", kBand, -40, 2, 40 * 29}, Strides{"mirrored", kBand, 40, -2, 38},
                           Strides{"bands backwards", -kBand, 40, 2, 2 * kBand}}) {
    SCOPED_TRACE(s.name);
    ReadJob const job{make_plan(opened->shared_impl(), request)};
    tile::ResultFormat result = contiguous(*job.plan);
    result.band_stride_bytes = s.band;
    result.row_stride_bytes = s.row;
    result.pixel_stride_bytes = s.pixel;
    std::size_t const bytes = 64 * 30 * 3;
    Bytes const got = read_by_twin({&job, 1}, result, bytes, s.first);
    Bytes want(bytes, std::byte{0xCD});
    read_into(*opened, request, HostView{want.data() + s.first, DType::u16, 3, 30, 20, s.band, s.row, s.pixel});
    EXPECT_EQ(got, want) << "and nothing is written between";
  }
}

TEST(DevicePlacing, PutsEachWindowOfManyInItsPlace) {
  ImageSpec spec{.width = 41, .height = 43, .bands = 2, .tile_width = 16, .tile_height = 16};
  spec.compression = kPackBits;
  Opened const first(image<std::uint8_t>(spec));
  Opened const second(image<std::uint8_t>(spec, [](std::uint32_t b, std::uint32_t r, std::uint32_t c) {
    return static_cast<std::uint8_t>(value_at<std::uint8_t>(b, c, r) + 1);
  }));
  struct Item {
    Opened const* from;
    Window window;
  };
  Item const items[] = {{&first, {0, 0, 20, 10}},
                        {&second, {0, 0, 20, 10}},
                        {&first, {5, 3, 20, 10}},
                        {&first, {0, 0, 20, 10}},
                        {&second, {21, 33, 20, 10}}};
  constexpr std::size_t kItem = 2 * 20 * 10;
  std::vector<ReadJob> jobs;
  Bytes wanted;
  for (std::size_t i = 0; i < std::size(items); ++i) {
    ReadRequest const request{.window = items[i].window, .bands = {2, 1}};
    jobs.push_back({make_plan((*items[i].from)->shared_impl(), request), static_cast<std::int64_t>(i * kItem)});
    HostArray const one = read(**items[i].from, request);
    wanted.insert(wanted.end(), one.bytes().begin(), one.bytes().end());
  }
  EXPECT_EQ(read_by_twin(jobs, contiguous(*jobs[0].plan), wanted.size(), 0), wanted);
}

}  // namespace
}  // namespace terrazzo::reading
