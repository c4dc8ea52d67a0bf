// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/validate.hpp"

#include "ops/validate_layouts.hpp"
#include "support/temp_folder.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/source.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace terrazzo {
namespace {

using testing::CogLayout;
using testing::Rules;
using testing::rules_of;

TEST(Validate, PassesTheLayoutThatGdalWrites) {
  Validation const result = CogLayout().validate();
  EXPECT_EQ(rules_of(result), Rules{});
  EXPECT_TRUE(result.valid_cog && result.valid_tiff);
  EXPECT_EQ(result.tiles, 12U + 4U + 1U);
  EXPECT_EQ(result.sparse_tiles, 0U);
  EXPECT_EQ(result.slack_bytes, 0U);
}

TEST(Validate, PassesAFileWithoutGhostArea) {
  CogLayout layout;
  layout.ghost.clear();
  layout.framed = false;
  EXPECT_EQ(rules_of(layout.validate()), Rules{});
}

TEST(Validate, PassesASparseFile) {
  CogLayout layout;
  for (auto& image : layout.images) { image.sparse = true; }
  Validation const result = layout.validate();
  EXPECT_EQ(rules_of(result), Rules{});
  EXPECT_EQ(result.sparse_tiles, 17U);
}

TEST(Validate, MakesAFindingOfWhatIsNoTiff) {
  std::string const words = "certainly not a TIFF file";
  Validation const result = validate_memory(std::as_bytes(std::span(words)));
  EXPECT_EQ(rules_of(result), Rules{"not-a-tiff"});
  EXPECT_FALSE(result.valid_tiff || result.valid_cog);
}

TEST(Validate, ReadsASource) {
  std::vector<std::byte> const bytes = CogLayout().bytes();
  EXPECT_EQ(rules_of(validate(memory_source(bytes), {.decode = true})), Rules{});
  auto const broken = callback_source("broken", bytes.size(), [](std::uint64_t, std::span<std::byte>) -> std::size_t {
    throw Error(ErrorKind::malformed, "no answer");
  });
  try {
    static_cast<void>(validate(broken));
    FAIL() << "no exception";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::io); }
}

TEST(Validate, ThrowsWhenTheFileCannotBeRead) {
  testing::TempFolder const folder;
  try {
    static_cast<void>(validate(folder.path("absent.tif")));
    FAIL() << "no exception";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::io); }
}

TEST(Validate, FindsOverviewsBesideTheFileAlsoWhenItHasItsOwn) {
  testing::TempFolder const folder;
  CogLayout layout;
  std::string const path = folder.write("a.tif", layout.bytes());
  EXPECT_EQ(rules_of(validate(path)), Rules{});
  folder.write("a.tif.ovr", std::string_view("not a TIFF: nobody will take it for overviews"));
  EXPECT_EQ(rules_of(validate(path)), Rules{});
  folder.write("a.tif.ovr", layout.bytes());
  EXPECT_EQ(rules_of(validate(path)), Rules{"external-overviews"});
  EXPECT_EQ(rules_of(validate(path, {.open = {.sidecars = false}})), Rules{});
}

TEST(Validate, FindsOverviewsThatAreOnlyBesideTheFile) {
  testing::TempFolder const folder;
  CogLayout alone;
  alone.images.resize(1);
  std::string const path = folder.write("a.tif", alone.bytes());
  folder.write("a.tif.ovr", CogLayout().bytes());
  EXPECT_EQ(rules_of(validate(path)), Rules{"external-overviews"});
}

TEST(Validate, LeavesOverlapsOutWithAWarningWhereMemoryIsShort) {
  CogLayout layout;
  layout.images = {{512, 512}, {256, 256, 1}};
  ASSERT_TRUE(rules_of(layout.validate()).empty());
  // 16 bytes a tile: find the limit at which the directories have room and the tiles have not.
  std::uint64_t limit = 64;
  std::optional<Validation> result;
  while (!result && limit < 100'000) {
    try {
      result = layout.validate({.memory_limit_bytes = limit});
    } catch (Error const& error) {
      ASSERT_EQ(error.kind(), ErrorKind::limit);
      limit += 64;
    }
  }
  ASSERT_TRUE(result);
  EXPECT_GT(limit, 1000U) << "the directories count";
  EXPECT_EQ(rules_of(*result), Rules{"tiles-not-checked"});
}

TEST(Validate, CanBeCancelled) {
  std::atomic<bool> const cancel{true};
  try {
    static_cast<void>(CogLayout().validate({.cancel = &cancel}));
    FAIL() << "no exception";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::cancelled); }
  EXPECT_THROW(
      static_cast<void>(CogLayout().validate({.progress = [](std::uint64_t, std::uint64_t) { return false; }})), Error);
}

TEST(Validate, ReportsProgressUpToTheEnd) {
  std::uint64_t last = 0, total = 0;
  static_cast<void>(CogLayout().validate({.progress = [&](std::uint64_t done, std::uint64_t of) {
    last = done;
    total = of;
    return true;
  }}));
  EXPECT_EQ(last, 17U);
  EXPECT_EQ(total, 17U);
}

}  // namespace
}  // namespace terrazzo
