// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/ghost.hpp"

#include "io/memory_source.hpp"
#include "ops/validate_layouts.hpp"
#include "tiff/directory.hpp"

#include <gtest/gtest.h>

namespace terrazzo::ops {
namespace {

using testing::CogLayout;
using testing::ghost_area;
using testing::kGhostLines;
using testing::Rules;
using testing::rules_of;

Validation with_ghost(std::string const& ghost) {
  CogLayout layout;
  layout.ghost = ghost;
  return layout.validate();
}

std::string replaced(std::string in, std::string const& what, std::string const& by) {
  return in.replace(in.find(what), what.size(), by);
}

TEST(GhostArea, IsReadWithItsPromises) {
  std::vector<std::byte> const bytes = CogLayout().bytes();
  auto const source = std::make_shared<io::MemorySource const>(std::span(bytes), "made.tif");
  tiff::MetadataReader const reader(source);
  Findings findings(9);
  tiff::GhostArea const ghost = judge_ghost_area(reader, tiff::read_header(reader), findings);
  EXPECT_TRUE(ghost.row_major && ghost.has_leaders && ghost.has_trailers);
  EXPECT_FALSE(ghost.mask_interleaved || ghost.tile_interleaved);
  EXPECT_EQ(ghost.end_bytes, tiff::read_header(reader).first_ifd_bytes);
  EXPECT_FALSE(findings.has_error());
}

TEST(GhostArea, WrongLengthIsFound) {
  // Too short: the directory is elsewhere, and the last line has no end.
  std::string const shorter = replaced(ghost_area(kGhostLines), "=000140", "=000130");
  EXPECT_EQ(rules_of(with_ghost(shorter)), (Rules{"ghost-area", "main-ifd-position"}));
  std::string const longer = replaced(ghost_area(kGhostLines), "=000140", "=999999");
  EXPECT_EQ(rules_of(with_ghost(longer)), (Rules{"ghost-area", "main-ifd-position", "tile-over-metadata"}));
}

TEST(GhostArea, LengthThatIsNoNumberIsFoundAsByGdal) {
  Validation const result = with_ghost(replaced(ghost_area(kGhostLines), "=000140", "=0001x0"));
  EXPECT_EQ(rules_of(result), (Rules{"ghost-area", "main-ifd-position"}));
  EXPECT_TRUE(result.findings[0].known_to_gdal);
}

TEST(GhostArea, EditionOfAnEditorIsFound) {
  Validation const result = with_ghost(replaced(ghost_area(kGhostLines), "EDITION=NO\n ", "EDITION=YES\n"));
  EXPECT_EQ(rules_of(result), Rules{"incompatible-edition"});
}

TEST(GhostArea, BytesThatAreNoTextAreFound) {
  Validation const result = with_ghost(replaced(ghost_area(kGhostLines), "LAYOUT", std::string("LAY\x01UT", 6)));
  EXPECT_EQ(rules_of(result), Rules{"ghost-area"});
  EXPECT_FALSE(result.findings[0].known_to_gdal);
}

TEST(GhostArea, LinesWithoutValueAndWithoutLayoutAreFound) {
  EXPECT_EQ(rules_of(with_ghost(replaced(ghost_area(kGhostLines), "LAYOUT=", "LAYOUT_"))), Rules{"ghost-area"});
  EXPECT_EQ(rules_of(with_ghost(replaced(ghost_area(kGhostLines), "LAYOUT=", "LAYERS="))), Rules{"ghost-area"});
  EXPECT_EQ(rules_of(with_ghost(replaced(ghost_area(kGhostLines), " bytes", " octet"))), Rules{"ghost-area"});
}

TEST(GhostArea, LinesOfOthersAreFine) {
  EXPECT_EQ(rules_of(with_ghost(ghost_area(kGhostLines + "\nSOMEBODY=ELSE\n"))), (Rules{"ghost-area"}));
  EXPECT_EQ(rules_of(with_ghost(ghost_area("SOMEBODY=ELSE\n" + kGhostLines))), Rules{});
}

}  // namespace
}  // namespace terrazzo::ops
