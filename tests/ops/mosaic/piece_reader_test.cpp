// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/piece_reader.hpp"

#include "ops/mosaic/memory_inputs.hpp"
#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace terrazzo::ops {
namespace {

using testing::MemoryInputs;
using testing::placed_builder;
using testing::text_tag;
using testing::TiffBuilder;

// What a reader makes of one input that is the whole mosaic.
template <class T>
struct Found {
  std::vector<T> samples{};
  std::vector<std::uint8_t> valid{};
  bool finished = false;
};

template <class T>
Found<T> found_in(TiffBuilder const& builder, MosaicRequest const& request = {},
                  std::optional<Nodata> const& nodata = std::nullopt, std::uint32_t planes = 1) {
  MemoryInputs files;
  files.add("a.tif", builder);
  MosaicPlan const plan = plan_mosaic(files.names(), files.opening(request));
  MemoryBudget budget(1 << 20);
  PieceReader const reader(plan.impl(), nodata, nullptr, budget);
  PixelFormat const format{.dtype = plan.dtype(), .bands = plan.bands(), .valid_planes = planes};
  Patch patch(format, plan.height(), plan.width(), budget);
  Dataset const dataset = open_input("a.tif", plan.impl().request);
  Piece const piece{0, {0, 0, plan.width(), plan.height()}};
  ReadReport report;
  reader.read_patch(dataset, piece, patch, 1, report);
  Found<T> found{.finished = reader.is_finished_by_reading(0)};
  found.samples.resize(patch.bytes().size() / sizeof(T));
  std::memcpy(found.samples.data(), patch.bytes().data(), patch.bytes().size());
  for (std::byte const one : patch.valid_bytes()) { found.valid.push_back(static_cast<std::uint8_t>(one)); }
  return found;
}

using Valid = std::vector<std::uint8_t>;

TEST(PieceReader, IntegersWithoutNodataAreValidEverywhere) {
  auto const found = found_in<std::int16_t>(placed_builder<std::int16_t>(0, 0, 2, 2, {1, 0, -3, 4}));
  EXPECT_TRUE(found.finished);
  EXPECT_EQ(found.samples, (std::vector<std::int16_t>{1, 0, -3, 4}));
  EXPECT_EQ(found.valid, Valid(4, 255));
}

TEST(PieceReader, FindsNodataAndNan) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  TiffBuilder builder = placed_builder<float>(0, 0, 2, 2, {1, -9999, nan, 4});
  text_tag(builder, 42113, "-9999");
  auto const found = found_in<float>(builder, {}, make_nodata("-1", DType::f32));
  EXPECT_TRUE(found.finished);
  EXPECT_EQ(found.valid, (Valid{255, 0, 0, 255}));
}

TEST(PieceReader, TheNodataValueOfTheFileDecidesNotThatOfTheMosaic) {
  TiffBuilder builder = placed_builder<float>(0, 0, 3, 1, {1, -1, -9999});
  EXPECT_EQ(found_in<float>(builder, {}, make_nodata("-1", DType::f32)).valid, (Valid{255, 255, 255}));
  text_tag(builder, 42113, "-9999");
  EXPECT_EQ(found_in<float>(builder, {}, make_nodata("-1", DType::f32)).valid, (Valid{255, 255, 0}));
  // 1e9 is valid, also if it is clamped to the mosaic's nodata value.
  TiffBuilder large = placed_builder<float>(0, 0, 2, 1, {1e9F, -5});
  text_tag(large, 42113, "-5");
  auto const clamped = found_in<std::int16_t>(large, {.dtype = DType::i16}, make_nodata("32767", DType::i16));
  EXPECT_EQ(clamped.valid, (Valid{255, 0}));
  EXPECT_EQ(clamped.samples[0], 32767);
}

TEST(PieceReader, ReadsFinishedSamplesWithTheNodataValueOfTheMosaic) {
  TiffBuilder builder = placed_builder<float>(0, 0, 3, 1, {1, -9999, std::numeric_limits<float>::quiet_NaN()});
  text_tag(builder, 42113, "-9999");
  MemoryInputs files;
  files.add("a.tif", builder);
  MosaicPlan const plan = plan_mosaic(files.names(), files.opening());
  MemoryBudget budget(1 << 20);
  PieceReader const reader(plan.impl(), make_nodata("-1", DType::f32), nullptr, budget);
  std::vector<float> samples(3);
  ReadReport report;
  reader.read_finished(open_input("a.tif", plan.impl().request), {0, {0, 0, 3, 1}},
                       {samples.data(), DType::f32, 1, 1, 3, 12, 12, 4}, 1, report);
  EXPECT_EQ(samples, (std::vector<float>{1, -1, -1}));
}

TEST(PieceReader, KeepsTheInputsMarkerIfTheMosaicHasNone) {
  TiffBuilder builder = placed_builder<std::uint8_t>(0, 0, 3, 1, {0, 7, 9});
  text_tag(builder, 42113, "7");
  auto const found = found_in<std::uint8_t>(builder);
  EXPECT_FALSE(found.finished);  // 7 is not the value of missing pixels
  EXPECT_EQ(found.valid, (Valid{255, 0, 255}));
}

TEST(PieceReader, ConvertsSamplesAndKeepsMissingOnesMissing) {
  TiffBuilder builder = placed_builder<float>(0, 0, 3, 1, {-3.4e38F, 2.6F, std::numeric_limits<float>::quiet_NaN()});
  text_tag(builder, 42113, "-3.4e38");
  auto const found = found_in<std::int16_t>(builder, {.dtype = DType::i16}, make_nodata("-9999", DType::i16));
  EXPECT_EQ(found.samples[1], 3);
  EXPECT_EQ(found.valid, (Valid{0, 255, 0}));
}

// Four bands, the last of which is alpha: opaque, transparent.
TiffBuilder with_alpha() {
  TiffBuilder builder = placed_builder<std::uint8_t>(0, 0, 2, 1, {1, 2, 3, 255, 4, 5, 6, 0}, 4);
  builder.shorts(338, {2});
  return builder;
}

TEST(PieceReader, TakesValidityFromAlphaAlsoIfItIsNotRead) {
  auto const all = found_in<std::uint8_t>(with_alpha());
  EXPECT_FALSE(all.finished);
  EXPECT_EQ(all.valid, (Valid{255, 0}));
  EXPECT_EQ(found_in<std::uint8_t>(with_alpha(), {.bands = {1, 2, 3}}).valid, (Valid{255, 0}));
  EXPECT_EQ(found_in<std::uint8_t>(with_alpha(), {.bands = {1, 2}}, std::nullopt, 2).valid, (Valid{255, 0, 255, 0}));
}

// Adds a mask of 2 x 2 pixels that hides the second and the third.
void add_mask(TiffBuilder& builder) {
  auto const mask = builder.data({std::byte{255}, std::byte{0}, std::byte{0}, std::byte{255}});
  builder.next_ifd();
  builder.longs(254, {4}).longs(256, {2}).longs(257, {2}).shorts(258, {8}).shorts(259, {1}).shorts(262, {4});
  builder.longs(273, {static_cast<std::uint32_t>(mask)}).shorts(277, {1}).longs(278, {2}).longs(279, {4});
}

TEST(PieceReader, ValuesAreMissingBesideAMaskToo) {
  TiffBuilder floats = placed_builder<float>(0, 0, 2, 2, {std::numeric_limits<float>::quiet_NaN(), 2, 3, 4});
  add_mask(floats);
  EXPECT_EQ(found_in<float>(floats).valid, (Valid{0, 0, 0, 255}));
  TiffBuilder integers = placed_builder<std::uint8_t>(0, 0, 2, 2, {1, 2, 3, 4});
  text_tag(integers, 42113, "4");
  add_mask(integers);
  EXPECT_EQ(found_in<std::uint8_t>(integers).valid, (Valid{255, 0, 0, 0}));
}

TEST(PieceReader, TakesValidityFromTheMask) {
  TiffBuilder builder = placed_builder<std::uint8_t>(0, 0, 2, 2, {1, 2, 3, 4});
  add_mask(builder);
  auto const found = found_in<std::uint8_t>(builder, {}, make_nodata("0", DType::u8));
  EXPECT_FALSE(found.finished);
  EXPECT_EQ(found.samples, (std::vector<std::uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(found.valid, (Valid{255, 0, 0, 255}));
  // Every second pixel, by nearest: the centre of the result lies on the corner between four pixels.
  auto const smaller = found_in<std::uint8_t>(builder, {.resolution = TargetResolution{20, 20}});
  EXPECT_EQ(smaller.samples, std::vector<std::uint8_t>{4});
  EXPECT_EQ(smaller.valid, Valid{255});
}

TEST(PieceReader, GathersPixelsOfAnotherSize) {
  auto const builder = placed_builder<std::uint8_t>(0, 0, 3, 2, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(found_in<std::uint8_t>(builder, {.resolution = TargetResolution{5, 10}}).samples,
            (std::vector<std::uint8_t>{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}));
}

TEST(PieceReader, ErrorsNameTheFile) {
  MemoryInputs files;
  files.add("a.tif", placed_builder<std::uint8_t>(0, 0, 2, 1, {1, 2}));
  MosaicPlan const plan = plan_mosaic(files.names(), files.opening());
  MemoryBudget budget(1 << 20);
  std::atomic<bool> const cancel{true};
  PieceReader const reader(plan.impl(), std::nullopt, &cancel, budget);
  Dataset const dataset = open_input("a.tif", plan.impl().request);
  std::vector<std::uint8_t> samples(2);
  ReadReport report;
  Error const error = testing::failure_of([&] {
    reader.read_finished(dataset, {0, {0, 0, 2, 1}}, {samples.data(), DType::u8, 1, 1, 2, 2, 2, 1}, 1, report);
    return 0;
  });
  EXPECT_EQ(error.kind(), ErrorKind::cancelled);
  EXPECT_EQ(error.where().source, "a.tif");
}

}  // namespace
}  // namespace terrazzo::ops
