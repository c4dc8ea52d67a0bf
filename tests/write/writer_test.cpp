// SPDX-License-Identifier: Apache-2.0
//
// The file depends on pixels and options alone: not on the size of row pieces, the layout of memory, the order of
// waiting, the number of threads or the kind of sink. Pixels read back equal the written ones.
#include "terrazzo/write.hpp"

#include "test_image.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>

namespace terrazzo::writing {
namespace {

// One kind of file, small, with edge tiles on both sides.
struct Case {
  std::string name{};
  Image image{};
  WriteOptions options{};
  bool lossless = true;
};

std::vector<Case> make_cases() {
  std::vector<Case> cases;
  auto const add = [&](char const* name, Image image, std::function<void(WriteOptions&)> const& change,
                       bool lossless = true) {
    cases.push_back({name, std::move(image), with(change), lossless});
  };
  auto const masked = [](Image image) {
    add_mask(image);
    return image;
  };
  auto const holed = [](Image image, std::uint32_t side) {
    punch_holes<float>(image, std::numeric_limits<float>::quiet_NaN(), side);
    return image;
  };
  using enum DType;
  constexpr std::uint32_t kHeight = 151, kWidth = 133;
  add("plain zstd", make_image(u16, 1, kHeight, kWidth), [](auto&) {});
  add("plain deflate with overviews", make_image(u8, 3, kHeight, kWidth), [](auto& o) {
    o.compression = Compression::deflate;
    o.overview_factors = {{2, 4, 8}};
  });
  add("overviews of odd factors", make_image(f32, 2, kHeight, kWidth), [](auto& o) {
    o.overview_factors = {{2, 3, 5, 6}};
    o.overview_resampling = Resampling::cubic;
  });
  add("COG", make_image(i16, 2, kHeight, kWidth), [](auto& o) { o.cog = true; });
  add("COG with mask and statistics", masked(make_image(u8, 3, kHeight, kWidth)), [](auto& o) {
    o.cog = true;
    o.statistics = true;
  });
  add("COG of planes with mask", masked(make_image(i32, 3, kHeight, kWidth)), [](auto& o) {
    o.cog = true;
    o.planar = PlanarLayout::separate;
  });
  add(
      "COG with NaN and sentinel", holed(make_image(f32, 1, kHeight, kWidth), 0),
      [](auto& o) {
        o.cog = true;
        o.nodata = make_nodata("-9999", f32);
        o.statistics = true;
      },
      false);
  add(
      "sparse COG", holed(make_image(f32, 2, kHeight, kWidth), 100),
      [](auto& o) {
        o.cog = true;
        o.sparse = true;
        o.nodata = make_nodata("-9999", f32);
        o.overview_resampling = Resampling::nearest;
      },
      false);
  add("strips", make_image(u32, 2, kHeight, kWidth), [](auto& o) {
    o.strip_rows = 13;
    o.compression = Compression::lzw;
    o.level.reset();
  });
  add("strips of planes with overviews, mask and statistics", masked(make_image(f64, 2, kHeight, kWidth)), [](auto& o) {
    o.strip_rows = 13;
    o.planar = PlanarLayout::separate;
    o.overview_factors = {{2, 4}};
    o.overview_resampling = Resampling::bilinear;
    o.statistics = true;
  });
  add("BigTIFF of planes", make_image(u64, 2, kHeight, kWidth), [](auto& o) {
    o.bigtiff = BigTiff::always;
    o.planar = PlanarLayout::separate;
    o.compression = Compression::none;
    o.level.reset();
  });
  add(
      "JPEG COG", make_image(u8, 3, kHeight, kWidth),
      [](auto& o) {
        o.cog = true;
        o.tile_size = {32, 32};
        o.compression = Compression::jpeg;
        o.level.reset();
      },
      false);
  add(
      "LERC COG", make_image(f32, 1, kHeight, kWidth),
      [](auto& o) {
        o.cog = true;
        o.compression = Compression::lerc_zstd;
        o.lerc_max_error = 0.5;
      },
      false);
  add("complex", make_image(cf32, 1, kHeight, kWidth), [](auto& o) { o.compression = Compression::deflate; });
  add("halves", make_image(f16, 1, kHeight, kWidth), [](auto& o) { o.cog = true; });
  add("a pixel", make_image(u8, 1, 1, 1), [](auto& o) { o.cog = true; });
  add("one row", make_image(u16, 1, 1, 300), [](auto& o) { o.cog = true; });
  add("one column", make_image(i8, 1, 300, 1), [](auto& o) { o.cog = true; });
  for (Case& one : cases) {
    one.options.dtype = one.image.dtype;
    one.options.bands = one.image.bands;
    one.options.mask = !one.image.mask.empty();
  }
  return cases;
}

std::vector<Case> const& cases() {
  static std::vector<Case> const all = make_cases();
  return all;
}

class WriterTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  Case const& one() const { return cases()[GetParam()]; }
};

std::string case_name(::testing::TestParamInfo<std::size_t> const& info) {
  std::string name = cases()[info.param].name;
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

TEST_P(WriterTest, GivesTheSameBytesHoweverRowsArrive) {
  std::vector<std::byte> const expected = written(one().image, one().options);
  std::uint32_t const height = one().image.height;
  std::vector<Schedule> schedules{ragged(height, 1), ragged(height, 2)};
  for (std::uint32_t const step : {1U, 7U, 13U, 48U, 49U, 96U}) { schedules.push_back(steps(height, step)); }
  for (Schedule const& schedule : schedules) {
    for (std::uint64_t const buffer : {std::uint64_t{1}, std::uint64_t{64'000}, std::uint64_t{1} << 28}) {
      WriteOptions options = one().options;
      options.streaming_buffer_bytes = buffer;
      ASSERT_TRUE(written(one().image, options, schedule) == expected)
          << schedule.front() << " rows first, buffer " << buffer;
    }
  }
}

TEST_P(WriterTest, GivesTheSameBytesWithAnyNumberOfThreads) {
  WriteOptions options = one().options;
  options.threads = 1;
  std::vector<std::byte> const expected = written(one().image, options);
  for (unsigned threads = 2; threads <= 5; ++threads) {
    options.threads = threads;
    EXPECT_TRUE(written(one().image, options) == expected) << threads;
    EXPECT_TRUE(written(one().image, options, steps(one().image.height, 20)) == expected) << threads;
  }
}

TEST_P(WriterTest, TakesAnyOrderOfMemoryAndChangesNothingThere) {
  std::vector<std::byte> const expected = written(one().image, one().options);
  for (Order const order : kOrders) {
    Arranged const arranged = arrange(one().image, order);
    Image mask_image{DType::u8, 1, one().image.height, one().image.width, one().image.mask, {}};
    Arranged const mask = one().options.mask ? arrange(mask_image, order) : Arranged{};
    Arranged const before{arranged.memory, {}}, mask_before{mask.memory, {}};
    for (Schedule const& schedule : {Schedule{one().image.height}, ragged(one().image.height, 3)}) {
      std::vector<std::byte> bytes;
      Writer writer = create(memory_sink(bytes), one().image.width, one().image.height, one().options);
      write_rows(writer, arranged.view, one().options.mask ? &mask.view : nullptr, schedule);
      writer.close();
      EXPECT_TRUE(bytes == expected) << static_cast<int>(order);
      EXPECT_TRUE(arranged.memory == before.memory);
      EXPECT_TRUE(mask.memory == mask_before.memory);
    }
  }
}

// Whether tiles can wait in the file itself.
bool can_insert(Place place) {
  Target target(place);
  target.sink->open();
  return target.sink->insert_unit_bytes() != 0;
}

TEST_P(WriterTest, GivesTheSameBytesInEverySinkByEveryWayOfSpooling) {
  std::vector<std::byte> const expected = written(one().image, one().options);
  for (Place const place : kPlaces) {
    for (SpoolWay const way : {SpoolWay::automatic, SpoolWay::memory, SpoolWay::in_place, SpoolWay::unnamed_file}) {
      for (std::uint64_t const quota : {std::uint64_t{0}, std::uint64_t{3000}, std::uint64_t{1} << 30}) {
        if (way == SpoolWay::memory && quota < expected.size()) { continue; }
        Target target(place);
        WriteOptions options = one().options;
        options.spool_way = way;
        options.spool_bytes = quota;
        Image image = one().image;
        HostView const mask = image.mask_view();
        try {
          Writer writer = create(target.sink, image.width, image.height, options);
          write_rows(writer, image.view(), options.mask ? &mask : nullptr, steps(image.height, 50));
          WriteReport const report = writer.close();
          EXPECT_EQ(report.bytes_written, expected.size());
          if (!options.cog && place != Place::append) { EXPECT_EQ(report.spool_way, ""); }
          if (options.cog && way == SpoolWay::memory) { EXPECT_EQ(report.spool_way, "memory"); }
        } catch (Error const& error) {
          // Only files of some file systems can be waited in.
          ASSERT_TRUE(way == SpoolWay::in_place && error.kind() == ErrorKind::unsupported) << error.what();
          ASSERT_FALSE(can_insert(place));
          EXPECT_FALSE(std::filesystem::exists(target.path));
          continue;
        }
        ASSERT_TRUE(target.arrived() == expected)
            << "place " << static_cast<int>(place) << ", way " << static_cast<int>(way) << ", quota " << quota;
      }
    }
  }
}

TEST_P(WriterTest, ReadsBackWhatWasWritten) {
  std::vector<std::byte> const file = written(one().image, one().options);
  Dataset const dataset = open_memory(file);
  Info const& info = dataset.info();
  EXPECT_EQ(info.width, one().image.width);
  EXPECT_EQ(info.height, one().image.height);
  ASSERT_EQ(info.bands.size(), one().image.bands);
  EXPECT_EQ(info.dtype(), one().image.dtype);
  EXPECT_TRUE(info.warnings.empty());
  EXPECT_EQ(info.layout.cog, one().options.cog);
  if (one().lossless) { EXPECT_TRUE(pixels_of(file) == one().image.bytes); }
  if (one().options.mask) { EXPECT_TRUE(mask_of(file) == one().image.mask); }
  for (std::uint32_t level = 1; level <= info.overviews.size(); ++level) {
    ReadRequest request;
    request.level = level;
    EXPECT_FALSE(pixels_of(file, request).empty());
    EXPECT_EQ(info.overviews[level - 1].has_mask, one().options.mask);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, WriterTest, ::testing::Range(std::size_t{0}, make_cases().size()), case_name);

template <class T>
std::vector<T> values_of(std::vector<std::byte> const& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(Writer, MakesNanIntoNodataInEveryLevel) {
  for (DType const dtype : {DType::f32, DType::f64}) {
    Image nan = make_image(dtype, 2, 100, 90), sentinel = nan;
    if (dtype == DType::f32) {
      punch_holes<float>(nan, std::numeric_limits<float>::quiet_NaN(), 40);
      punch_holes<float>(sentinel, -9999, 40);
    } else {
      punch_holes<double>(nan, std::numeric_limits<double>::quiet_NaN(), 40);
      punch_holes<double>(sentinel, -9999, 40);
    }
    for (Resampling const method : {Resampling::nearest, Resampling::average, Resampling::bilinear, Resampling::cubic,
                                    Resampling::cubic_spline, Resampling::lanczos, Resampling::mode,
                                    Resampling::minimum, Resampling::maximum, Resampling::median, Resampling::rms}) {
      WriteOptions const options = with([&](WriteOptions& o) {
        o.cog = true;
        o.nodata = make_nodata("-9999", dtype);
        o.overview_resampling = method;
        o.statistics = true;
        o.sparse = true;
      });
      EXPECT_TRUE(written(nan, options) == written(sentinel, options)) << to_string(method) << ' ' << to_string(dtype);
    }
  }
}

TEST(Writer, KeepsNanWhereNodataIsNanOrMissing) {
  Image image = make_image(DType::f32, 1, 60, 70);
  punch_holes<float>(image, std::numeric_limits<float>::quiet_NaN(), 20);
  for (bool const given : {false, true}) {
    WriteOptions const options = with([&](WriteOptions& o) {
      if (given) { o.nodata = make_nodata("nan", DType::f32); }
    });
    EXPECT_TRUE(pixels_of(written(image, options)) == image.bytes);
  }
}

TEST(Writer, StoresStatisticsOfValidPixels) {
  Image image = make_image(DType::f32, 2, 70, 80);
  punch_holes<float>(image, std::numeric_limits<float>::quiet_NaN(), 33);
  add_mask(image);
  auto const values = values_of<float>(image.bytes);
  for (PlanarLayout const planar : {PlanarLayout::contiguous, PlanarLayout::separate}) {
    WriteOptions const options = with([&](WriteOptions& o) {
      o.statistics = true;
      o.planar = planar;
      o.nodata = make_nodata("-5", DType::f32);
    });
    std::vector<std::byte> const file = written(image, options);
    Dataset const dataset = open_memory(file);
    for (std::size_t b = 0; b < 2; ++b) {
      std::vector<double> valid;
      for (std::size_t i = 0; i < image.mask.size(); ++i) {
        float const value = values[b * image.mask.size() + i];
        if (!std::isnan(value) && value != -5.0F && image.mask[i] != std::byte{0}) { valid.push_back(value); }
      }
      double const n = static_cast<double>(valid.size());
      double const mean = std::accumulate(valid.begin(), valid.end(), 0.0) / n;
      double squares = 0;
      for (double const v : valid) { squares += (v - mean) * (v - mean); }
      BandStatistics const& found = dataset.info().bands[b].statistics;
      EXPECT_DOUBLE_EQ(found.minimum.value(), *std::ranges::min_element(valid));
      EXPECT_DOUBLE_EQ(found.maximum.value(), *std::ranges::max_element(valid));
      EXPECT_NEAR(found.mean.value(), mean, 1e-9);
      EXPECT_NEAR(found.stddev.value(), std::sqrt(squares / n), 1e-9);
      EXPECT_NEAR(found.valid_percent.value(), 100 * n / static_cast<double>(image.mask.size()), 1e-9);
    }
  }
}

TEST(Writer, StoresNoStatisticsOfABandWithoutValidPixels) {
  Image image = make_image(DType::f32, 1, 20, 20);
  punch_holes<float>(image, std::numeric_limits<float>::quiet_NaN(), 20);
  WriteOptions options = with([&](WriteOptions& o) { o.statistics = true; });
  // Old statistics, of other pixels, with a text longer than any number.
  options.band_info.resize(1);
  options.band_info[0].metadata.domains[""] = {{"STATISTICS_MINIMUM", std::string(100, '1')}, {"KEPT", "yes"}};
  std::vector<std::byte> const file = written(image, options);
  Dataset const dataset = open_memory(file);
  BandInfo const& band = dataset.info().bands[0];
  EXPECT_FALSE(band.statistics.minimum.has_value());
  EXPECT_FALSE(band.statistics.mean.has_value());
  ASSERT_NE(band.metadata.find("KEPT"), nullptr);
  EXPECT_EQ(*band.metadata.find("KEPT"), "yes");
}

TEST(Writer, LeavesOutTilesWithoutData) {
  for (bool const cog : {false, true}) {
    Image image = make_image(DType::u8, 1, 96, 96);
    for (std::uint32_t y = 0; y < 48; ++y) { std::fill_n(image.bytes.begin() + y * 96, 96, std::byte{7}); }
    WriteOptions options = with([&](WriteOptions& o) {
      o.sparse = true;
      o.cog = cog;
      o.overview_factors.emplace();
    });
    options.nodata = make_nodata("7", DType::u8);
    std::vector<std::byte> file;
    WriteReport const report = write(memory_sink(file), image.view(), options);
    EXPECT_EQ(report.tiles, 6U);
    EXPECT_EQ(report.sparse_tiles, 3U);
    EXPECT_TRUE(pixels_of(file) == image.bytes);
    options.sparse = false;
    EXPECT_EQ(write(memory_sink(file), image.view(), options).sparse_tiles, 0U);
  }
}

// The header and directories are so long that they are rounded up and inserted before tiles already in the file.
TEST(Writer, GivesTheSameBytesWithALongFront) {
  Image image = make_image(DType::u16, 1, 1030, 2050);
  WriteOptions options = with([](WriteOptions& o) {
    o.cog = true;
    o.tile_size = {64, 64};
    o.compression = Compression::none;
    o.level.reset();
    o.nodata = make_nodata("1", DType::u16);
  });
  std::vector<std::byte> const expected = written(image, options);
  options.dtype = DType::u16;
  EXPECT_TRUE(pixels_of(expected) == image.bytes);
  for (Place const place : kPlaces) {
    for (SpoolWay const way : {SpoolWay::automatic, SpoolWay::in_place, SpoolWay::unnamed_file}) {
      if (way == SpoolWay::in_place && !can_insert(place)) { continue; }
      for (std::uint64_t const quota : {std::uint64_t{0}, std::uint64_t{2'000'000}}) {
        Target target(place);
        options.spool_way = way;
        options.spool_bytes = quota;
        Writer writer = create(target.sink, image.width, image.height, options);
        write_rows(writer, image.view(), nullptr, steps(image.height, 100));
        WriteReport const report = writer.close();
        EXPECT_NE(report.spool_way, "memory");
        if (way == SpoolWay::in_place) { EXPECT_EQ(report.spool_way, "in place"); }
        EXPECT_TRUE(target.arrived() == expected) << static_cast<int>(place) << ' ' << static_cast<int>(way);
      }
    }
  }
}

TEST(Writer, TakesAViewWithoutStridesForPacked) {
  std::vector<float> pixels(2 * 10 * 7), back(pixels.size());
  std::iota(pixels.begin(), pixels.end(), 0.0F);
  std::vector<std::byte> bytes;
  (void)write(memory_sink(bytes), HostView{pixels.data(), DType::f32, 2, 10, 7}, {});
  read_into(open_memory(bytes), {}, {back.data(), DType::f32, 2, 10, 7});
  EXPECT_EQ(back, pixels);
}

TEST(Writer, TakesAViewWithoutStridesOfAMask) {
  std::vector<std::uint8_t> pixels(4 * 3, 5), mask{255, 0, 0, 255, 255, 255, 0, 255, 0, 0, 0, 255};
  std::vector<std::byte> bytes;
  Writer writer = create(memory_sink(bytes), 4, 3, {.mask = true});
  writer.write_rows(HostView{pixels.data(), DType::u8, 1, 3, 4}, HostView{mask.data(), DType::u8, 1, 3, 4});
  (void)writer.close();
  HostArray const back = read_mask(open_memory(bytes));
  EXPECT_TRUE(std::ranges::equal(back.bytes(), std::as_bytes(std::span(mask))));
}

TEST(Writer, RepeatsWhatHasAStrideOfZero) {
  std::vector<std::uint8_t> row{1, 2, 3, 4}, back(12);
  std::vector<std::byte> bytes;
  (void)write(memory_sink(bytes), HostView{row.data(), DType::u8, 1, 3, 4, 0, 0, 1}, {});
  read_into(open_memory(bytes), {}, {back.data(), DType::u8, 1, 3, 4});
  EXPECT_EQ(back, (std::vector<std::uint8_t>{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}));
}

TEST(Writer, CountsRowsThatAreLeft) {
  Image image = make_image(DType::u8, 1, 10, 20);
  std::vector<std::byte> bytes;
  Writer writer = create(memory_sink(bytes), 20, 10, with([](auto&) {}));
  EXPECT_EQ(writer.rows_left(), 10U);
  writer.write_rows(some_rows(image.view(), 0, 3));
  EXPECT_EQ(writer.rows_left(), 7U);
  writer.write_rows(some_rows(image.view(), 3, 7));
  EXPECT_EQ(writer.rows_left(), 0U);
  EXPECT_TRUE(bytes.empty());
  writer.close();
  EXPECT_FALSE(bytes.empty());
}

TEST(Writer, TellsProgressOfEveryTileInOrder) {
  Image image = make_image(DType::u8, 1, 150, 130);
  add_mask(image);
  std::uint64_t last = 0, total = 0;
  WriteOptions options = with([&](WriteOptions& o) {
    o.cog = true;
    o.threads = 4;
    o.progress = [&](std::uint64_t done, std::uint64_t all) {
      EXPECT_GT(done, last);
      last = done;
      total = all;
      return true;
    };
  });
  options.mask = true;
  std::vector<std::byte> bytes;
  Writer writer = create(memory_sink(bytes), 130, 150, options);
  writer.write_rows(image.view(), image.mask_view());
  EXPECT_EQ(writer.close().tiles, total);
  EXPECT_EQ(last, total);
}

}  // namespace
}  // namespace terrazzo::writing
