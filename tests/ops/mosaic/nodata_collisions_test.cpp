// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/nodata_collisions.hpp"

#include "ops/mosaic/memory_inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

// Looks at the samples {1, 3, 5}, of which those with a 0 in `valid` are missing.
std::optional<std::uint32_t> found_in(std::vector<std::uint8_t> const& valid, bool all_valid,
                                      std::optional<Nodata> const& nodata) {
  MemoryInputs files;
  files.add("a.tif", placed_builder<std::int16_t>(0, 0, 3, 1, {1, 3, 5}));
  MosaicPlan const plan = plan_mosaic(files.names(), files.opening());
  NodataCollisions collisions(plan.impl(), nodata);
  if (!collisions.are_possible(0)) { return std::nullopt; }
  MemoryBudget budget(1 << 20);
  Patch patch({.dtype = DType::i16}, 1, 3, budget);
  std::int16_t const samples[] = {1, 3, 5};
  std::memcpy(patch.bytes().data(), samples, sizeof(samples));
  std::memcpy(patch.valid_bytes().data(), valid.data(), valid.size());
  collisions.look(0, patch, {0, 0, 3, 1}, all_valid);
  return collisions.first_input();
}

TEST(NodataCollisions, AreValidSamplesThatEqualTheNodataValue) {
  EXPECT_EQ(found_in({255, 255, 255}, false, make_nodata("3", DType::i16)), 0u);
  EXPECT_EQ(found_in({255, 0, 255}, false, make_nodata("3", DType::i16)), std::nullopt);
  EXPECT_EQ(found_in({255, 0, 255}, true, make_nodata("3", DType::i16)), 0u);
  EXPECT_EQ(found_in({255, 255, 255}, false, make_nodata("4", DType::i16)), std::nullopt);
  EXPECT_EQ(found_in({255, 255, 255}, false, std::nullopt), std::nullopt);
}

TEST(NodataCollisions, AreNotPossibleForInputsWithANodataValueAndForNan) {
  MemoryInputs files;
  files.add("a.tif", placed_builder<float>(0, 0, 1, 1, {1}));
  TiffBuilder with_nodata = placed_builder<float>(1, 0, 1, 1, {1});
  text_tag(with_nodata, 42113, "-1");
  files.add("b.tif", with_nodata);
  MosaicPlan const plan = plan_mosaic(files.names(), files.opening());
  NodataCollisions const collisions(plan.impl(), make_nodata("3", DType::f32));
  EXPECT_TRUE(collisions.are_possible(0));
  EXPECT_FALSE(collisions.are_possible(1));
  EXPECT_FALSE(NodataCollisions(plan.impl(), make_nodata("nan", DType::f32)).are_possible(0));
}

}  // namespace
}  // namespace terrazzo::ops
