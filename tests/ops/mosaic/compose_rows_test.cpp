// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/compose_rows.hpp"

#include "ops/mosaic/memory_inputs.hpp"
#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

namespace terrazzo::ops {
namespace {

using testing::MemoryInputs;
using testing::placed_builder;
using testing::text_tag;
using testing::TiffBuilder;

// 4 x 4 pixels of one value, except for a missing one at its first pixel.
TiffBuilder square(int column, int row, std::uint8_t value) {
  std::vector<std::uint8_t> samples(16, value);
  samples[0] = 0;
  TiffBuilder builder = placed_builder<std::uint8_t>(column, row, 4, 4, samples);
  text_tag(builder, 42113, "0");
  return builder;
}

MemoryInputs three_squares() {
  MemoryInputs files;
  files.add("a", square(0, 0, 10));
  files.add("b", square(2, 2, 30));
  files.add("c", square(6, 0, 20));  // alone
  return files;
}

// All rows, made in bands of this many rows.
std::vector<std::uint8_t> composed(MemoryInputs const& files, MosaicRequest const& request, std::uint32_t band_rows,
                                   std::uint64_t patch_bytes = 1 << 20, ReadReport* report = nullptr) {
  MosaicPlan const plan = plan_mosaic(files.names(), files.opening(request));
  WriteOptions const options = mosaic_options(plan);
  MemoryBudget budget(1 << 22);
  RowComposer composer(plan.impl(), options, patch_bytes, budget);
  Canvas canvas(pixel_format(plan.impl(), options), request.rule, band_rows, plan.width(), budget);
  std::vector<std::uint8_t> all;
  ReadReport total;
  for (std::uint32_t first = 0; first < plan.height(); first += band_rows) {
    std::uint32_t const rows = std::min(band_rows, plan.height() - first);
    composer.compose(first, rows, canvas, total);
    for (std::uint32_t row = 0; row < rows; ++row) {
      auto const* const samples = reinterpret_cast<std::uint8_t const*>(canvas.patch().samples(0, row, 0).first);
      all.insert(all.end(), samples, samples + plan.width());
    }
  }
  if (report != nullptr) { *report = total; }
  return all;
}

TEST(RowComposer, ComposesByEachRule) {
  MemoryInputs const files = three_squares();
  auto const expected = [](std::uint8_t overlap) {
    // Pixel (2, 2) is missing in b.
    std::uint8_t const o = overlap;
    return std::vector<std::uint8_t>{0,  10, 10, 10, 0,  0,  0,  20, 20, 20,  //
                                     10, 10, 10, 10, 0,  0,  20, 20, 20, 20,  //
                                     10, 10, 10, o,  30, 30, 20, 20, 20, 20,  //
                                     10, 10, o,  o,  30, 30, 20, 20, 20, 20,  //
                                     0,  0,  30, 30, 30, 30, 0,  0,  0,  0,   //
                                     0,  0,  30, 30, 30, 30, 0,  0,  0,  0};
  };
  EXPECT_EQ(composed(files, {.rule = MosaicRule::first}, 6), expected(10));
  EXPECT_EQ(composed(files, {.rule = MosaicRule::last}, 6), expected(30));
  EXPECT_EQ(composed(files, {.rule = MosaicRule::minimum}, 6), expected(10));
  EXPECT_EQ(composed(files, {.rule = MosaicRule::maximum}, 6), expected(30));
  EXPECT_EQ(composed(files, {.rule = MosaicRule::mean}, 6), expected(20));
}

TEST(RowComposer, IsTheSameForAnyBandsAndPatches) {
  MemoryInputs const files = three_squares();
  for (MosaicRule const rule : {MosaicRule::first, MosaicRule::last, MosaicRule::mean}) {
    std::vector<std::uint8_t> const whole = composed(files, {.rule = rule}, 6);
    for (std::uint32_t const rows : {1U, 2U, 4U, 5U}) { EXPECT_EQ(composed(files, {.rule = rule}, rows), whole); }
    EXPECT_EQ(composed(files, {.rule = rule}, 6, 1), whole);  // one patch at a time
  }
}

TEST(RowComposer, SkipsFilesThatOthersHide) {
  MemoryInputs files;
  std::vector<std::uint8_t> const samples(16, 5);
  for (char const* name : {"a", "b", "c"}) { files.add(name, placed_builder<std::uint8_t>(0, 0, 4, 4, samples)); }
  ReadReport report;
  static_cast<void>(composed(files, {.rule = MosaicRule::last}, 4, 1, &report));
  EXPECT_EQ(report.tiles, 4U);  // the strips of one file
  static_cast<void>(composed(files, {.rule = MosaicRule::maximum}, 4, 1, &report));
  EXPECT_EQ(report.tiles, 12U);
}

TEST(RowComposer, StopsIfCancelled) {
  MemoryInputs const files = three_squares();
  MosaicPlan const plan = plan_mosaic(files.names(), files.opening());
  WriteOptions options = mosaic_options(plan);
  std::atomic<bool> const cancel{true};
  options.cancel = &cancel;
  MemoryBudget budget(1 << 20);
  RowComposer composer(plan.impl(), options, 1 << 20, budget);
  Canvas canvas(pixel_format(plan.impl(), options), MosaicRule::first, 6, plan.width(), budget);
  ReadReport report;
  EXPECT_EQ(testing::kind_of_failure([&] {
              composer.compose(0, 6, canvas, report);
              return 0;
            }),
            ErrorKind::cancelled);
}

}  // namespace
}  // namespace terrazzo::ops
