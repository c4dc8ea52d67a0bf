// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/stats.hpp"

#include "support/raster.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace terrazzo {
namespace {

using testing::Raster;
using testing::raster_builder;
using testing::text_tag;

constexpr std::uint16_t kNodataTag = 42113, kMetadataTag = 42112;

TEST(ComputeStats, OfAnIntegerBandIsExact) {
  Raster const raster(raster_builder<std::uint16_t>(3, 2, {1, 2, 3, 4, 5, 65535}, 1));
  auto const stats = compute_stats(raster.dataset());
  ASSERT_EQ(stats.size(), 1U);
  EXPECT_EQ(stats[0].band, 1U);
  EXPECT_EQ(stats[0].valid, 6U);
  EXPECT_EQ(stats[0].total, 6U);
  EXPECT_EQ(stats[0].minimum, 1);
  EXPECT_EQ(stats[0].maximum, 65535);
  EXPECT_EQ(stats[0].mean, 65550.0 / 6);
  EXPECT_TRUE(stats[0].histogram.empty());
}

TEST(ComputeStats, LeavesNodataOut) {
  auto builder = raster_builder<float>(2, 2, {-9999, 1, 3, std::nanf("")}, 2);
  text_tag(builder, kNodataTag, "-9999");
  auto const stats = compute_stats(Raster(builder).dataset());
  EXPECT_EQ(stats[0].valid, 2U);
  EXPECT_EQ(stats[0].total, 4U);
  EXPECT_EQ(stats[0].mean, 2);
  EXPECT_EQ(stats[0].stddev, 1);
}

TEST(ComputeStats, OfNothingIsNan) {
  auto builder = raster_builder<std::uint8_t>(2, 1, {7, 7}, 1);
  text_tag(builder, kNodataTag, "7");
  auto const stats = compute_stats(Raster(builder).dataset(), {.histogram_bins = 4});
  EXPECT_EQ(stats[0].valid, 0U);
  EXPECT_TRUE(std::isnan(stats[0].minimum));
  EXPECT_TRUE(std::isnan(stats[0].mean));
  EXPECT_EQ(stats[0].histogram, (std::vector<std::uint64_t>(4)));
}

TEST(ComputeStats, HistogramOfNothingIsEmptyForFloatsToo) {
  auto builder = raster_builder<float>(2, 1, {7, 7}, 1);
  text_tag(builder, kNodataTag, "7");
  auto const stats = compute_stats(Raster(builder).dataset(), {.histogram_bins = 3});
  EXPECT_EQ(stats[0].valid, 0U);
  EXPECT_EQ(stats[0].histogram, (std::vector<std::uint64_t>(3)));
}

TEST(ComputeStats, TakesBandsAndWindow) {
  Raster const raster(raster_builder<std::int32_t>(2, 2, {1, 10, 2, 20, 3, 30, 4, 40}, 1, 2));
  StatsRequest request;
  request.read.bands = {2, 1};
  request.read.window = Window{1, 0, 1, 2};
  auto const stats = compute_stats(raster.dataset(), request);
  ASSERT_EQ(stats.size(), 2U);
  EXPECT_EQ(stats[0].band, 2U);
  EXPECT_EQ(stats[0].mean, 30);  // 20 and 40
  EXPECT_EQ(stats[1].mean, 3);   // 2 and 4
}

TEST(ComputeStats, HistogramRunsFromMinimumToMaximum) {
  Raster const raster(raster_builder<float>(4, 2, {0, 1, 2, 3, 4, 5, 6, 8}, 1));
  auto const stats = compute_stats(raster.dataset(), {.histogram_bins = 4});
  EXPECT_EQ(stats[0].histogram_min, 0);
  EXPECT_EQ(stats[0].histogram_max, 8);
  EXPECT_EQ(stats[0].histogram, (std::vector<std::uint64_t>{2, 2, 2, 2}));
}

TEST(ComputeStats, HistogramRangeCanBeGiven) {
  Raster const raster(raster_builder<std::uint8_t>(4, 2, {0, 1, 2, 3, 4, 5, 6, 8}, 1));
  auto const stats = compute_stats(raster.dataset(), {.histogram_bins = 2, .histogram_min = 2, .histogram_max = 6});
  EXPECT_EQ(stats[0].histogram, (std::vector<std::uint64_t>{2, 3}));
}

TEST(ComputeStats, UnpackedValuesAreScaledAndTurned) {
  auto builder = raster_builder<std::int16_t>(4, 1, {0, 1, 2, 10}, 1);
  text_tag(builder, kMetadataTag,
           "<GDALMetadata><Item name=\"OFFSET\" sample=\"0\" role=\"offset\">100</Item>"
           "<Item name=\"SCALE\" sample=\"0\" role=\"scale\">-2</Item></GDALMetadata>");
  StatsRequest request;
  request.read.unpack = true;
  request.histogram_bins = 2;
  auto const stats = compute_stats(Raster(builder).dataset(), request);
  EXPECT_EQ(stats[0].minimum, 80);
  EXPECT_EQ(stats[0].maximum, 100);
  EXPECT_EQ(stats[0].mean, 93.5);
  EXPECT_EQ(stats[0].histogram_min, 80);
  EXPECT_EQ(stats[0].histogram_max, 100);
  EXPECT_EQ(stats[0].histogram, (std::vector<std::uint64_t>{1, 3}));
  // A range comes back as it was asked for, whatever the way to stored values and back makes of it.
  request.histogram_min = 0.1;
  request.histogram_max = 1e17 / 3;
  auto const ranged = compute_stats(Raster(builder).dataset(), request);
  EXPECT_EQ(ranged[0].histogram_min, request.histogram_min);
  EXPECT_EQ(ranged[0].histogram_max, request.histogram_max);
}

TEST(ComputeStats, RefusesARangeBeyondStoredValues) {
  auto builder = raster_builder<float>(2, 1, {0, 1}, 1);
  text_tag(builder, kMetadataTag,
           "<GDALMetadata><Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.001</Item></GDALMetadata>");
  StatsRequest request{.histogram_bins = 2, .histogram_min = -1e308, .histogram_max = 1e308};
  Raster const raster(builder);
  EXPECT_EQ(compute_stats(raster.dataset(), request)[0].histogram, (std::vector<std::uint64_t>{0, 2}));
  request.read.unpack = true;
  EXPECT_THROW((void)compute_stats(raster.dataset(), request), Error);
}

TEST(ComputeStats, AlphaSaysWhatCounts) {
  // Gray and alpha: the second pixel is transparent.
  auto builder = raster_builder<std::uint8_t>(2, 1, {10, 255, 99, 0}, 1, 2);
  builder.shorts(338, {2});
  auto const stats = compute_stats(Raster(builder).dataset());
  EXPECT_EQ(stats[0].valid, 1U);
  EXPECT_EQ(stats[0].maximum, 10);
  EXPECT_EQ(stats[1].valid, 2U);
}

TEST(ComputeStats, DoesNotDependOnThreads) {
  std::vector<float> samples;
  for (int i = 0; i < 500 * 300; ++i) { samples.push_back(static_cast<float>(std::sin(i) * 1e5)); }
  Raster const raster(raster_builder<float>(500, 300, samples, 7));
  StatsRequest one, many;
  one.read.threads = 1;
  many.read.threads = 5;
  auto const a = compute_stats(raster.dataset(), one);
  auto const b = compute_stats(raster.dataset(), many);
  EXPECT_EQ(a[0].mean, b[0].mean);
  EXPECT_EQ(a[0].stddev, b[0].stddev);
}

TEST(ComputeStats, ProgressCoversBothPasses) {
  Raster const raster(raster_builder<float>(4, 8, std::vector<float>(32, 1.0F), 1));
  StatsRequest request;
  request.histogram_bins = 3;
  double last = 0;
  request.read.progress = [&](std::uint64_t done, std::uint64_t total) {
    last = static_cast<double>(done) / static_cast<double>(total);
    EXPECT_LE(last, 1);
    return true;
  };
  (void)compute_stats(raster.dataset(), request);
  EXPECT_EQ(last, 0.5);  // one block: the second pass finds it in memory
}

TEST(ComputeStats, RefusesWhatItCannotMean) {
  Raster const raster(raster_builder<float>(1, 1, {1}, 1));
  StatsRequest sized;
  sized.read.target_size = TargetSize{1, 1};
  EXPECT_THROW((void)compute_stats(raster.dataset(), sized), Error);
  EXPECT_THROW((void)compute_stats(raster.dataset(), {.histogram_bins = 1U << 30}), Error);
  EXPECT_THROW((void)compute_stats(raster.dataset(), {.histogram_bins = 4, .histogram_min = 2, .histogram_max = 1}),
               Error);
  double const infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW((void)compute_stats(raster.dataset(), {.histogram_bins = 4, .histogram_min = -infinity}), Error);
  EXPECT_THROW((void)compute_stats(raster.dataset(), {.histogram_bins = 4, .histogram_max = infinity}), Error);
  StatsRequest band;
  band.read.bands = {2};
  EXPECT_THROW((void)compute_stats(raster.dataset(), band), Error);
}

}  // namespace
}  // namespace terrazzo
