// SPDX-License-Identifier: Apache-2.0
//
// The kernel against the host's predictors: all types, shapes and ways in which pixels can lie.
#include "gpu/encode/cut.hpp"

#include "gpu/encode/cut_scene.hpp"
#include "terrazzo/error.hpp"
#include "tile/apply_predictor.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::DeviceScene;
using test::Layout;
using test::Scene;
using test::SceneOptions;
using tiff::Predictor;

class CutOnDevice : public test::OnDevice {};

CutFormat format_of(Scene const& scene, Predictor predictor = Predictor::none) {
  CutFormat format = test::cut_format_of(scene);
  format.predictor = predictor;
  return format;
}

Bytes finished_row(Scene& scene, CutFormat const& format, CutTile const& tile, std::uint32_t y) {
  Bytes row;
  for (std::uint32_t x = 0; x < tile.width; ++x) {
    for (std::uint32_t s = 0; s < format.samples; ++s) {
      std::byte const* at = scene.at(tile, s, y, std::min(x, tile.real_columns - 1));
      if (format.replaces_nan && test::is_nan(format.dtype, at)) { at = format.empty; }
      row.insert(row.end(), at, at + scene.bytes);
    }
  }
  return row;
}

Bytes expected_tile(Scene& scene, CutFormat const& format, CutTile const& tile) {
  Bytes all;
  auto const sample_bytes = static_cast<std::uint32_t>(scene.bytes);
  Bytes out;
  for (std::uint32_t y = 0; y < tile.height; ++y) {
    if (y < tile.real_rows) {
      Bytes const row = finished_row(scene, format, tile, y);
      out = row;
      if (format.predictor == Predictor::horizontal) {
        tile::apply_horizontal_row(row.data(), out.data(), tile.width, format.samples, 8 * sample_bytes);
      } else if (format.predictor == Predictor::floating_point) {
        tile::apply_float_row(row.data(), out.data(), tile.width, format.samples, sample_bytes);
      }
    } else if (!format.repeats_last_row) {
      out.assign(out.size(), std::byte{0});
    }
    all.insert(all.end(), out.begin(), out.end());
  }
  return all;
}

void expect_same_as_host(Scene& scene, CutFormat const& format) {
  SCOPED_TRACE(::testing::Message() << scene.o << ", predictor " << static_cast<int>(format.predictor) << ", NaN "
                                    << format.replaces_nan << ", repeats " << format.repeats_last_row);
  DeviceScene const device(scene, [&](CutTile const& tile) {
    return std::uint64_t{tile.width} * tile.height * format.samples * scene.bytes;
  });
  StreamHandle const stream = make_stream();
  cut_tiles(device.batch, format, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "cutting");
  std::vector<Bytes> const found = device.outputs();
  for (std::size_t t = 0; t < scene.tiles.size(); ++t) {
    ASSERT_TRUE(found[t] == expected_tile(scene, format, scene.tiles[t])) << "tile " << t;
  }
}

std::vector<Predictor> predictors_of(DType dtype) {
  std::vector<Predictor> all = {Predictor::none};
  if (!is_complex(dtype)) { all.push_back(Predictor::horizontal); }
  if (is_floating(dtype)) { all.push_back(Predictor::floating_point); }
  return all;
}

void punch_nan(Scene& scene) {
  Bytes const nan = test::nan_of(scene.o.dtype);
  std::mt19937 engine(5);
  scene.for_each_sample([&](std::byte* at) {
    if (engine() % 3 == 0) { std::ranges::copy(nan, at); }
  });
}

// Tiles with an edge on both sides; the raster lies at a sample's alignment.
TEST_F(CutOnDevice, GivesTheHostsBytesForEveryTypePredictorAndLayout) {
  for (DType const dtype : test::kAllTypes) {
    for (Layout const layout : test::kAllLayouts) {
      for (std::uint32_t bands = 1; bands <= 5; ++bands) {
        SceneOptions options{.dtype = dtype,
                             .width = 77,
                             .height = 21,
                             .bands = bands,
                             .tile_width = 32,
                             .layout = layout,
                             .offset_samples = bands,
                             .first_row = 100};
        Scene scene(options);
        for (Predictor const predictor : predictors_of(dtype)) {
          expect_same_as_host(scene, format_of(scene, predictor));
          if (HasFatalFailure()) { return; }
        }
      }
    }
  }
}

TEST_F(CutOnDevice, CutsBandsThatAreStoredApart) {
  for (DType const dtype : test::kAllTypes) {
    for (Layout const layout : test::kAllLayouts) {
      Scene scene({.dtype = dtype,
                   .width = 50,
                   .height = 20,
                   .bands = 3,
                   .tile_width = 16,
                   .separate = true,
                   .layout = layout});
      for (Predictor const predictor : predictors_of(dtype)) {
        expect_same_as_host(scene, format_of(scene, predictor));
        if (HasFatalFailure()) { return; }
      }
    }
  }
}

// Strips are as wide as the raster: their rows start at any address.
TEST_F(CutOnDevice, CutsStripsOfAnyWidth) {
  for (DType const dtype : {DType::u8, DType::u16, DType::f16, DType::f32, DType::f64, DType::cf64}) {
    for (std::uint32_t const width : {1U, 2U, 3U, 5U, 31U, 33U, 127U, 129U, 1001U}) {
      for (std::uint32_t const bands : {1U, 2U, 3U, 4U}) {
        for (Layout const layout : {Layout::band_first, Layout::band_last}) {
          Scene scene({.dtype = dtype,
                       .width = width,
                       .height = 19,
                       .bands = bands,
                       .tile_width = width,
                       .tile_height = 8,
                       .strips = true,
                       .layout = layout,
                       .offset_samples = width % 3});
          for (Predictor const predictor : predictors_of(dtype)) {
            expect_same_as_host(scene, format_of(scene, predictor));
            if (HasFatalFailure()) { return; }
          }
        }
      }
    }
  }
}

TEST_F(CutOnDevice, ReplacesNanBeforeThePredictor) {
  for (DType const dtype : {DType::f16, DType::f32, DType::f64, DType::cf32, DType::u16}) {
    for (Layout const layout : test::kAllLayouts) {
      for (std::uint32_t const bands : {1U, 2U, 3U, 4U}) {
        Scene scene({.dtype = dtype, .width = 75, .height = 18, .bands = bands, .tile_width = 32, .layout = layout});
        punch_nan(scene);
        for (Predictor const predictor : predictors_of(dtype)) {
          CutFormat format = format_of(scene, predictor);
          format.replaces_nan = true;  // of a type without NaN nothing is replaced
          expect_same_as_host(scene, format);
          if (HasFatalFailure()) { return; }
        }
      }
    }
  }
}

TEST_F(CutOnDevice, RepeatsTheLastRowWhereItIsWanted) {
  for (Predictor const predictor : {Predictor::none, Predictor::horizontal}) {
    Scene scene({.dtype = DType::u8,
                 .width = 40,
                 .height = 21,
                 .bands = 3,
                 .tile_width = 32,
                 .tile_height = 16,
                 .layout = Layout::band_last});
    CutFormat format = format_of(scene, predictor);
    format.repeats_last_row = true;
    expect_same_as_host(scene, format);
  }
}

TEST_F(CutOnDevice, CutsOnePixelAndLongRowsAndManySmallTiles) {
  for (DType const dtype : {DType::u8, DType::f32}) {
    for (Predictor const predictor : predictors_of(dtype)) {
      Scene pixel({.dtype = dtype});
      expect_same_as_host(pixel, format_of(pixel, predictor));
      Scene row({.dtype = dtype,
                 .width = 70'001,
                 .height = 3,
                 .bands = 2,
                 .tile_width = 70'001,
                 .tile_height = 2,
                 .strips = true});
      expect_same_as_host(row, format_of(row, predictor));
      // More than the second dimension of a grid has room for.
      Scene many({.dtype = dtype, .width = 70'000, .height = 2, .tile_width = 1, .tile_height = 2});
      expect_same_as_host(many, format_of(many, predictor));
      Scene wide_pixels({.dtype = dtype, .width = 9, .height = 3, .bands = 300, .tile_width = 16, .tile_height = 4});
      expect_same_as_host(wide_pixels, format_of(wide_pixels, predictor));
      if (HasFatalFailure()) { return; }
    }
  }
}

// Strips of several levels are in one batch; those of a narrow one can start at an odd address and have a chunk more
// than their width needs.
TEST_F(CutOnDevice, CutsTilesOfDifferentWidths) {
  for (DType const dtype : {DType::u8, DType::u16, DType::f32}) {
    for (Predictor const predictor : predictors_of(dtype)) {
      for (std::uint32_t const width : {32U, 16'384U}) {
        Scene scene({.dtype = dtype, .width = width, .height = 6, .tile_width = width, .tile_height = 2});
        scene.tiles[1].width = scene.tiles[1].real_columns = width - 1;
        scene.tiles[2].width = width - 2;
        scene.tiles[2].real_columns = width - 5;
        scene.tiles[2].height = scene.tiles[2].real_rows = 1;
        expect_same_as_host(scene, format_of(scene, predictor));
      }
    }
  }
}

TEST_F(CutOnDevice, DoesNothingForNoTiles) {
  StreamHandle const stream = make_stream();
  EXPECT_NO_THROW(cut_tiles({}, {}, stream.get()));
}

TEST_F(CutOnDevice, RefusesPredictor3ForIntegers) {
  CutFormat format;
  format.predictor = Predictor::floating_point;
  EXPECT_THROW(cut_tiles({}, format, nullptr), Error);
}

}  // namespace
}  // namespace terrazzo::gpu
