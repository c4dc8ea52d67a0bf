// SPDX-License-Identifier: Apache-2.0
#include "write/row_pipeline.hpp"

#include "test_image.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace terrazzo::writing {
namespace {

using Blocks = std::vector<std::tuple<std::size_t, std::uint32_t, std::uint32_t, std::vector<std::byte>>>;

// Level, column, row and bytes of every block, for rows that come in parts of `step`.
Blocks blocks_of(Image& image, WriteOptions options, std::uint32_t step) {
  options.dtype = image.dtype;
  options.bands = image.bands;
  FilePlan const plan = plan_file(image.width, image.height, options);
  Blocks result;
  RowPipeline pipeline(plan, 3,
                       [&](std::span<FinishedBlock const> blocks) {
                         for (FinishedBlock const& block : blocks) {
                           auto const bytes = block.result.image;
                           result.emplace_back(block.level, block.id.column, block.id.row,
                                               std::vector<std::byte>(bytes.begin(), bytes.end()));
                         }
                       },
                       {});
  for (std::uint32_t at = 0; at < image.height; at += step) {
    pipeline.take(ConstHostRows{at, some_rows(image.view(), at, std::min(step, image.height - at)), {}});
  }
  pipeline.finish();
  EXPECT_EQ(result.size(), plan.tile_count());
  return result;
}

TEST(RowPipeline, GivesTheSameBlocksInTheSameOrderForAnyParts) {
  Image image = make_image(DType::i16, 1, 331, 250);
  WriteOptions const options = with([](WriteOptions& o) { o.cog = true; });
  Blocks const whole = blocks_of(image, options, image.height);
  for (std::uint32_t const step : {1U, 7U, 48U, 100U}) {
    EXPECT_TRUE(blocks_of(image, options, step) == whole) << step;
  }
}

TEST(RowPipeline, EmitsNothingAfterItIsDropped) {
  Image image = make_image(DType::i16, 1, 100, 100);
  FilePlan const plan = plan_file(100, 100, with([](WriteOptions& o) { o.dtype = DType::i16; }));
  std::size_t emitted = 0;
  RowPipeline pipeline(
      plan, 2, [&](std::span<FinishedBlock const> blocks) { emitted += blocks.size(); },
      [](std::span<BlockSize const>) {});
  pipeline.take(ConstHostRows{0, some_rows(image.view(), 0, 5), {}});
  pipeline.drop();
  pipeline.finish();
  EXPECT_EQ(emitted, 0U);
}

}  // namespace
}  // namespace terrazzo::writing
