// SPDX-License-Identifier: Apache-2.0
//
// The kernels against the host's sums, to the last bit.
#include "gpu/encode/cut.hpp"
#include "gpu/encode/cut_scene.hpp"
#include "tile/convert_sample.hpp"
#include "tile/row_moments.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::DeviceCopy;
using test::DeviceScene;
using test::Layout;
using test::Scene;
using test::SceneOptions;

class TileMomentsOnDevice : public test::OnDevice {};

template <class T>
Moments expected_of(Scene& scene, CutFormat const& format, std::byte const* marker_bytes, CutTile const& tile,
                    std::uint32_t band) {
  T marker{};
  if (marker_bytes != nullptr) { std::memcpy(&marker, marker_bytes, sizeof marker); }
  Moments all;
  for (std::uint32_t y = 0; y < tile.real_rows; ++y) {
    tile::RowSums sums;
    for (std::uint32_t x = 0; x < tile.real_columns; ++x) {
      if (scene.o.mask && scene.mask_at(tile, y, x) == std::byte{0}) { continue; }
      std::byte const* at = scene.at(tile, band, y, x);
      if (format.replaces_nan && is_floating(format.dtype) && test::is_nan(format.dtype, at)) { at = format.empty; }
      T sample;
      std::memcpy(&sample, at, sizeof sample);
      if (marker_bytes != nullptr && tile::is_nodata_sample(sample, marker)) { continue; }
      sums.add(tile::value_of_sample(sample));
    }
    all.merge(sums.moments());
  }
  return all;
}

// Bit by bit; of NaN, which machines make with either sign, only that it is one.
bool is_same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }

void expect_same(Moments const& found, Moments const& wanted) {
  ASSERT_EQ(found.count, wanted.count);
  ASSERT_TRUE(is_same(found.mean, wanted.mean)) << found.mean << " and " << wanted.mean;
  ASSERT_TRUE(is_same(found.m2, wanted.m2)) << found.m2 << " and " << wanted.m2;
  ASSERT_TRUE(is_same(found.minimum, wanted.minimum)) << found.minimum << " and " << wanted.minimum;
  ASSERT_TRUE(is_same(found.maximum, wanted.maximum)) << found.maximum << " and " << wanted.maximum;
  ASSERT_TRUE(is_same(found.finite_minimum, wanted.finite_minimum));
  ASSERT_TRUE(is_same(found.finite_maximum, wanted.finite_maximum));
}

void expect_same_as_host(Scene& scene, CutFormat format, std::byte const* marker) {
  format.dtype = scene.o.dtype;
  format.samples = scene.samples();
  SCOPED_TRACE(::testing::Message() << scene.o << ", marker " << (marker != nullptr) << ", NaN "
                                    << format.replaces_nan);
  DeviceScene const device(scene, test::no_output);
  Moments garbage;
  garbage.count = 77;
  garbage.mean = 1e300;
  std::size_t const results = scene.tiles.size() * format.samples;
  DeviceCopy const row_moments(std::vector<Moments>(results * device.batch.max_height, garbage));
  DeviceCopy const moments(std::vector<Moments>(results + 1, garbage));
  StreamHandle const stream = make_stream();
  tile_moments(device.batch, format, marker, row_moments.get(), moments.get(), stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "moments");
  std::vector<Moments> const found = moments.back();
  for (std::size_t t = 0; t < scene.tiles.size(); ++t) {
    for (std::uint32_t band = 0; band < format.samples; ++band) {
      Moments wanted;
      tile::with_part_type(format.dtype, [&]<class T>(std::type_identity<T>) {
        wanted = expected_of<T>(scene, format, marker, scene.tiles[t], band);
      });
      expect_same(found[t * format.samples + band], wanted);
      if (::testing::Test::HasFatalFailure()) { return; }
    }
  }
  EXPECT_EQ(found.back().count, garbage.count) << "wrote behind the results";
}

// Some samples are the marker, some NaN, some infinite; noise has them rarely or not at all.
void punch_holes(Scene& scene, Bytes const& marker) {
  std::mt19937 engine(11);
  Bytes const nan = test::nan_of(scene.o.dtype);
  scene.for_each_sample([&](std::byte* at) {
    auto const dice = engine() % 7;
    if (dice == 0) { std::ranges::copy(marker, at); }
    if (dice == 1 && is_floating(scene.o.dtype)) { std::ranges::copy(nan, at); }
  });
}

TEST_F(TileMomentsOnDevice, AreTheHostsToTheLastBitForEveryTypeAndLayout) {
  for (DType const dtype : test::kAllTypes) {
    for (Layout const layout : test::kAllLayouts) {
      for (std::uint32_t bands = 1; bands <= 5; ++bands) {
        Scene scene({.dtype = dtype,
                     .width = 77,
                     .height = 45,
                     .bands = bands,
                     .tile_width = 32,
                     .tile_height = 32,
                     .separate = bands == 2,
                     .layout = layout,
                     .offset_samples = 1,
                     .first_row = 9,
                     .mask = bands % 2 == 1,
                     .mask_stride = bands == 3 ? 3U : 1U});
        Bytes const marker(16, std::byte{0x11});
        punch_holes(scene, Bytes(marker.begin(), marker.begin() + static_cast<std::ptrdiff_t>(scene.bytes)));
        CutFormat format;
        std::ranges::fill(format.empty, std::byte{0x12});
        expect_same_as_host(scene, format, nullptr);
        expect_same_as_host(scene, format, marker.data());
        format.replaces_nan = true;
        expect_same_as_host(scene, format, marker.data());
        if (HasFatalFailure()) { return; }
      }
    }
  }
}

TEST_F(TileMomentsOnDevice, CountNoTileRowTwiceWhateverTheShape) {
  for (std::uint32_t const bands : {1U, 3U, 127U, 130U, 300U}) {
    for (std::uint32_t const height : {1U, 2U, 127U, 128U, 129U, 300U}) {
      Scene scene(
          {.dtype = DType::i16, .width = 35, .height = height, .bands = bands, .tile_width = 32, .tile_height = 256});
      expect_same_as_host(scene, {}, nullptr);
      if (HasFatalFailure()) { return; }
    }
  }
  Scene strip(
      {.dtype = DType::f64, .width = 20'003, .height = 5, .tile_width = 20'003, .tile_height = 2, .strips = true});
  expect_same_as_host(strip, {}, nullptr);
  Scene many({.dtype = DType::u8, .width = 70'000, .height = 2, .tile_width = 1, .tile_height = 2});
  expect_same_as_host(many, {}, nullptr);
}

TEST_F(TileMomentsOnDevice, KeepInfinitiesAndTheSignOfZero) {
  for (bool const with_infinity : {false, true}) {
    Scene scene({.dtype = DType::f32, .width = 40, .height = 33});
    std::mt19937 engine(2);
    scene.for_each_sample([&](std::byte* at) {
      float const infinity = std::numeric_limits<float>::infinity();
      float const choices[] = {0.0F, -0.0F, with_infinity ? infinity : 0.0F, with_infinity ? -infinity : -0.0F};
      std::memcpy(at, &choices[engine() % 4], 4);
    });
    expect_same_as_host(scene, {}, nullptr);
  }
}

TEST_F(TileMomentsOnDevice, LeaveOutNodataThatLostDigits) {
  Scene scene({.dtype = DType::f32, .width = 40, .height = 33});
  std::mt19937 engine(3);
  scene.for_each_sample([&](std::byte* at) {
    float const choices[] = {std::numeric_limits<float>::lowest(), -3.4028e38F, -3.4e38F, 5.0F};
    std::memcpy(at, &choices[engine() % 4], 4);
  });
  std::byte marker[16] = {};
  float const nodata = -3.40282306e38F;
  std::memcpy(marker, &nodata, sizeof nodata);
  expect_same_as_host(scene, {}, marker);
}

// Zero of either sign is nodata 0; all that is left of a tile may be nothing.
TEST_F(TileMomentsOnDevice, AreEmptyWithoutAValidSample) {
  Scene scene({.dtype = DType::f32, .width = 40, .height = 33});
  scene.for_each_sample([](std::byte* at) {
    float const zero = -0.0F;
    std::memcpy(at, &zero, 4);
  });
  std::byte const marker[16] = {};
  expect_same_as_host(scene, {}, marker);
}

TEST_F(TileMomentsOnDevice, DoNothingForNoTiles) {
  StreamHandle const stream = make_stream();
  EXPECT_NO_THROW(tile_moments({}, {}, nullptr, nullptr, nullptr, stream.get()));
}

}  // namespace
}  // namespace terrazzo::gpu
