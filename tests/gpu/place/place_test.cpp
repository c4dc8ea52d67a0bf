// SPDX-License-Identifier: Apache-2.0
//
// The kernels against their host twin, on noise: every format, strides of all kinds, guards around the result.
#include "gpu/place/place.hpp"

#include "gpu/decode/decoder_batch.hpp"
#include "tile/noise_rows.hpp"
#include "tile/place_twin.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::DeviceCopy;
using tile::FinishStep;
using tile::Placement;
using tile::RowFormat;
using tile::TileStatus;
using tile::test::format_of;
using tile::test::noise;

class PlaceOnDevice : public test::OnDevice {};

// Tiles side by side, the last one narrower, of which one is bad.
struct Scene {
  RowFormat format{};
  DType result_dtype = DType::u8;
  std::uint32_t tile_rows = 9, tiles = 4;
  tile::ValueTransform transform{};
  bool band_last = false, upside_down = false;
  std::uint32_t result_offset = 0;  // unaligned results are allowed
  std::vector<std::uint32_t> source_columns{}, source_rows{};
  Bytes values{};  // instead of noise, over and over
};

void expect_equal_to_twin(Scene const& scene) {
  RowFormat const& format = scene.format;
  SCOPED_TRACE(::testing::Message() << "step " << static_cast<int>(format.step) << ", " << format.bits << " bits, "
                                    << to_string(format.dtype) << " to " << to_string(scene.result_dtype) << ", "
                                    << format.width_px << " x " << format.samples << ", last " << scene.band_last
                                    << ", upside down " << scene.upside_down << ", at " << scene.result_offset);
  std::uint64_t const tile_bytes = format.decoded_row_bytes * scene.tile_rows;
  std::uint64_t const stride = (tile_bytes + 15) / 16 * 16;
  Bytes decoded = noise(stride * scene.tiles, format.bits + format.width_px);
  for (std::size_t i = 0; i < decoded.size() && !scene.values.empty(); ++i) {
    decoded[i] = scene.values[i % scene.values.size()];
  }
  bool const resampled = !scene.source_rows.empty();
  std::uint32_t const part = format.width_px > 2 ? format.width_px - 2 : format.width_px;
  std::uint32_t const width =
      resampled ? static_cast<std::uint32_t>(scene.source_columns.size()) * scene.tiles : part * scene.tiles;
  std::uint32_t const height = resampled ? static_cast<std::uint32_t>(scene.source_rows.size()) : scene.tile_rows - 1;
  tile::ResultFormat result;
  result.dtype = scene.result_dtype;
  result.sample_bytes = static_cast<std::uint32_t>(size_bytes(scene.result_dtype));
  result.bands = format.samples + 1;
  std::int64_t const sample = result.sample_bytes;
  result.pixel_stride_bytes = scene.band_last ? sample * result.bands : sample;
  result.row_stride_bytes = result.pixel_stride_bytes * width;
  result.band_stride_bytes = scene.band_last ? sample : result.row_stride_bytes * height;
  std::int64_t first = 64 + scene.result_offset;
  if (scene.upside_down) {
    first += result.row_stride_bytes * (height - 1);
    result.row_stride_bytes = -result.row_stride_bytes;
  }
  result.plain = scene.result_dtype == format.dtype && scene.transform.is_identity();
  std::size_t const result_bytes = std::size_t{width} * height * result.bands * result.sample_bytes + 192;

  std::vector<tile::BandTarget> bands(result.bands);
  for (std::uint32_t b = 0; b < result.bands; ++b) {
    bands[b].sample = (result.bands - 1 - b) % format.samples;  // backwards, and one twice
    bands[b].transform = scene.transform;
  }
  std::vector<Placement> placements(scene.tiles);
  std::vector<TileStatus> statuses(scene.tiles, TileStatus::ok);
  statuses[scene.tiles / 2] = TileStatus::corrupt;
  std::vector<std::uint64_t> offsets, sizes;
  std::vector<std::uint32_t> all_columns;
  for (std::uint32_t t = 0; t < scene.tiles; ++t) {
    Placement& p = placements[t];
    p.source_offset_bytes = stride * t;
    p.tile = t;
    p.first_row = 1;
    p.first_column = format.width_px - part;
    p.rows = height;
    p.columns = width / scene.tiles;
    p.result_column = p.columns * t;
    p.destination_offset_bytes = std::int64_t{p.result_column} * result.pixel_stride_bytes;
    offsets.push_back(p.source_offset_bytes);
    sizes.push_back(tile_bytes);
    for (std::uint32_t const column : scene.source_columns) { all_columns.push_back(column + t * format.width_px); }
    p.column_origin = -static_cast<std::int64_t>(t) * format.width_px;
  }

  Bytes wanted(result_bytes, std::byte{0xA5});
  tile::test::PlaceTwin twin{.decoded = decoded.data(),
                             .format = format,
                             .placements = placements,
                             .bands = bands,
                             .result = result,
                             .statuses = statuses,
                             .source_columns = all_columns,
                             .source_rows = scene.source_rows};
  twin.result.data = wanted.data() + first;
  tile::test::place_on_host(twin);

  DeviceCopy const device_decoded(decoded);
  DeviceCopy const device_placements(placements);
  DeviceCopy const device_bands(bands);
  DeviceCopy const device_statuses(statuses);
  DeviceCopy const device_offsets(offsets), device_sizes(sizes);
  DeviceCopy const device_columns(all_columns), device_rows(scene.source_rows);
  DeviceCopy const device_result(Bytes(result_bytes, std::byte{0xA5}));
  PlaceBatch batch;
  batch.decoded = device_decoded.get();
  batch.format = format;
  batch.placements = device_placements.get();
  batch.placement_count = scene.tiles;
  batch.max_rows = height;
  batch.bands = device_bands.get();
  batch.result = result;
  batch.result.data = device_result.get() + first;
  batch.statuses = device_statuses.get();
  batch.source_columns = resampled ? device_columns.get() : nullptr;
  batch.source_rows = resampled ? device_rows.get() : nullptr;
  batch.tile_offsets = device_offsets.get();
  batch.tile_sizes = device_sizes.get();
  batch.tile_count = scene.tiles;
  batch.tile_rows = scene.tile_rows;
  StreamHandle const stream = make_stream();
  place_tiles(batch, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "placing");
  EXPECT_TRUE(device_result.back() == wanted);
}

struct Kind {
  FinishStep step;
  DType dtype;
  std::uint32_t bits;
  bool swapped;
};
constexpr Kind kKinds[] = {{FinishStep::copy, DType::u8, 8, false},
                           {FinishStep::copy, DType::i16, 16, false},
                           {FinishStep::copy, DType::f32, 32, false},
                           {FinishStep::copy, DType::f64, 64, false},
                           {FinishStep::copy, DType::cf64, 128, false},
                           {FinishStep::swap, DType::u16, 16, true},
                           {FinishStep::swap, DType::ci16, 32, true},
                           {FinishStep::swap, DType::cf32, 64, true},
                           {FinishStep::swap, DType::cf64, 128, true},
                           {FinishStep::horizontal, DType::u8, 8, false},
                           {FinishStep::horizontal, DType::u16, 16, false},
                           {FinishStep::horizontal, DType::i32, 32, false},
                           {FinishStep::horizontal, DType::u64, 64, false},
                           {FinishStep::horizontal_swapped, DType::u16, 16, true},
                           {FinishStep::horizontal_swapped, DType::f32, 32, true},
                           {FinishStep::horizontal_swapped, DType::i64, 64, true},
                           {FinishStep::floating, DType::f16, 16, false},
                           {FinishStep::floating, DType::f32, 32, false},
                           {FinishStep::floating, DType::f64, 64, false},
                           {FinishStep::floating_then_widen, DType::f32, 24, false},
                           {FinishStep::unpack_bits, DType::u8, 1, false},
                           {FinishStep::unpack_bits, DType::u16, 12, false},
                           {FinishStep::unpack_bits, DType::u32, 24, true},
                           {FinishStep::widen_float24, DType::f32, 24, false},
                           {FinishStep::widen_float24, DType::f32, 24, true}};

TEST_F(PlaceOnDevice, EqualsItsTwinForEveryFormatAndWidth) {
  for (Kind const& kind : kKinds) {
    for (std::uint32_t const width : {1u, 3u, 31u, 32u, 33u, 64u, 200u, 512u}) {
      for (std::uint32_t const samples : {1u, 3u}) {
        Scene scene;
        scene.format = format_of(kind.step, kind.dtype, kind.bits, width, samples, kind.swapped);
        scene.result_dtype = kind.dtype;
        expect_equal_to_twin(scene);
        if (HasFailure()) { return; }
      }
    }
  }
}

tile::ValueTransform scaled_and_masked() {
  tile::ValueTransform scaled;
  scaled.rescale = scaled.mask_nodata = true;
  scaled.scale = 0.1;
  scaled.offset = -3.7;
  scaled.nodata = 17;
  return scaled;
}

TEST_F(PlaceOnDevice, EqualsItsTwinForEveryTypeOfTheResult) {
  tile::ValueTransform const scaled = scaled_and_masked();
  for (Kind const& kind : kKinds) {
    bool const integers = kind.dtype <= DType::i64 || kind.dtype == DType::ci16;
    if (!integers) { continue; }  // noise has signalling NaN, of which nothing is promised
    for (int to = 0; to <= static_cast<int>(DType::cf64); ++to) {
      for (tile::ValueTransform const& transform : {tile::ValueTransform{}, scaled}) {
        Scene scene;
        scene.format = format_of(kind.step, kind.dtype, kind.bits, 37, 2, kind.swapped);
        scene.result_dtype = static_cast<DType>(to);
        scene.transform = transform;
        expect_equal_to_twin(scene);
        if (HasFailure()) { return; }
      }
    }
  }
}

template <class T>
Bytes edge_values() {
  T const inf = std::numeric_limits<T>::infinity();
  Bytes bytes;
  for (T const value : {T(0),
                        -T(0),
                        T(0.5),
                        T(-0.5),
                        T(17),
                        T(1.5),
                        T(254.5),
                        T(255.5),
                        T(-128.5),
                        T(65504),
                        T(65520),
                        T(1e-8),
                        T(2147483648.0),
                        T(-2147483648.5),
                        T(9.3e18),
                        T(1.9e19),
                        inf,
                        -inf,
                        std::numeric_limits<T>::quiet_NaN(),
                        std::numeric_limits<T>::denorm_min(),
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::lowest(),
                        T(0.1),
                        T(-3.3)}) {
    std::byte raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes.insert(bytes.end(), raw, raw + sizeof(T));
  }
  return bytes;
}

TEST_F(PlaceOnDevice, ConvertsFloatsAsTheHostDoes) {
  for (DType const from : {DType::f32, DType::f64, DType::cf32, DType::cf64}) {
    bool const single = from == DType::f32 || from == DType::cf32;
    for (int to = 0; to <= static_cast<int>(DType::cf64); ++to) {
      for (tile::ValueTransform const& transform : {tile::ValueTransform{}, scaled_and_masked()}) {
        Scene scene;
        scene.format = format_of(FinishStep::copy, from, static_cast<std::uint32_t>(size_bytes(from) * 8), 48, 1);
        scene.result_dtype = static_cast<DType>(to);
        scene.transform = transform;
        scene.values = single ? edge_values<float>() : edge_values<double>();
        expect_equal_to_twin(scene);
      }
    }
  }
}

TEST_F(PlaceOnDevice, FollowsStridesAtAnyAddress) {
  for (Kind const& kind : kKinds) {
    for (std::uint32_t const offset : {0u, 1u, 2u, 6u}) {
      for (int way = 0; way < 4; ++way) {
        Scene scene;
        scene.format = format_of(kind.step, kind.dtype, kind.bits, 40, 3, kind.swapped);
        scene.result_dtype = kind.dtype;
        scene.band_last = (way & 1) != 0;
        scene.upside_down = (way & 2) != 0;
        scene.result_offset = offset;
        expect_equal_to_twin(scene);
        if (HasFailure()) { return; }
      }
    }
  }
}

TEST_F(PlaceOnDevice, TakesRowsAndColumnsByTheMapsOfAResampledResult) {
  for (Kind const& kind : kKinds) {
    Scene scene;
    scene.format = format_of(kind.step, kind.dtype, kind.bits, 50, 2, kind.swapped);
    scene.result_dtype = kind.dtype;
    scene.source_columns = {0, 0, 3, 7, 7, 8, 20, 33, 49, 49};
    scene.source_rows = {0, 2, 2, 5, 8, 8, 8};
    expect_equal_to_twin(scene);
    if (HasFailure()) { return; }
  }
}

// More than the shared memory of a block: summed where they lie, once for all placements.
TEST_F(PlaceOnDevice, SumsRowsThatAreTooWideForSharedMemory) {
  for (Kind const& kind : kKinds) {
    Scene scene;
    scene.format = format_of(kind.step, kind.dtype, kind.bits, 50000, 2, kind.swapped);
    scene.result_dtype = kind.dtype;
    scene.tiles = 2;
    scene.tile_rows = 3;
    expect_equal_to_twin(scene);
    if (HasFailure()) { return; }
  }
}

TEST_F(PlaceOnDevice, FillsRectanglesWithEachBandsValue) {
  for (std::uint32_t const bytes : {1u, 2u, 4u, 8u, 16u}) {
    tile::ResultFormat result;
    result.sample_bytes = bytes;
    result.bands = 3;
    result.separate_planes = true;
    result.pixel_stride_bytes = bytes;
    result.row_stride_bytes = 50 * bytes;
    result.band_stride_bytes = 50 * bytes * 20;
    std::vector<tile::BandTarget> bands(3);
    for (std::uint32_t b = 0; b < 3; ++b) {
      bands[b].plane = b % 2;
      for (std::size_t i = 0; i < 16; ++i) { bands[b].fill[i] = static_cast<std::byte>(b * 16 + i + 1); }
    }
    std::vector<Placement> placements(3);
    for (std::uint32_t p = 0; p < 3; ++p) {
      placements[p].destination_offset_bytes = std::int64_t{p} * 15 * bytes + p * 5 * result.row_stride_bytes;
      placements[p].rows = 5 + p;
      placements[p].columns = 15 - p;
      placements[p].plane = p % 2;
    }
    Bytes wanted(50 * 20 * 3 * bytes, std::byte{0xA5});
    tile::ResultFormat host = result;
    host.data = wanted.data();
    tile::test::fill_on_host(placements, bands, host);
    DeviceCopy const device_bands(bands);
    DeviceCopy const device_placements(placements);
    DeviceCopy const device_result(Bytes(wanted.size(), std::byte{0xA5}));
    result.data = device_result.get();
    StreamHandle const stream = make_stream();
    fill_rectangles(device_placements.get(), 3, 7, device_bands.get(), result, stream.get());
    check_cuda(cudaStreamSynchronize(stream.get()), "filling");
    EXPECT_TRUE(device_result.back() == wanted) << bytes;
  }
}

TEST_F(PlaceOnDevice, MakesPixelsInvalidWhereTheMaskIsZero) {
  constexpr std::uint32_t kWidth = 300, kHeight = 7;
  for (std::uint32_t const bytes : {1u, 4u, 8u}) {
    Bytes mask = noise(kWidth * kHeight, bytes);
    for (std::byte& b : mask) { b &= std::byte{3}; }  // a quarter is 0
    Bytes wanted(kWidth * kHeight * 2 * bytes, std::byte{0x11});
    MaskBatch batch;
    for (std::size_t i = 0; i < 16; ++i) { batch.invalid[i] = static_cast<std::byte>(0xE0 + i); }
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] == std::byte{0}) { std::memcpy(wanted.data() + i * 2 * bytes, batch.invalid, bytes); }
    }
    DeviceCopy const device_mask(mask);
    DeviceCopy const result(Bytes(wanted.size(), std::byte{0x11}));
    batch.data = result.get();
    batch.row_stride_bytes = kWidth * 2 * bytes;
    batch.pixel_stride_bytes = 2 * bytes;  // every other sample is another band's
    batch.width = kWidth;
    batch.height = kHeight;
    batch.sample_bytes = bytes;
    batch.mask = device_mask.get();
    StreamHandle const stream = make_stream();
    apply_mask(batch, stream.get());
    check_cuda(cudaStreamSynchronize(stream.get()), "masking");
    EXPECT_TRUE(result.back() == wanted) << bytes;
  }
}

TEST(PlaceTiles, LaunchesNothingForAnEmptyBatch) {
  EXPECT_NO_THROW(place_tiles({}, nullptr));
  EXPECT_NO_THROW(fill_rectangles(nullptr, 0, 0, nullptr, {}, nullptr));
  EXPECT_NO_THROW(apply_mask({}, nullptr));
}

}  // namespace
}  // namespace terrazzo::gpu
