// SPDX-License-Identifier: Apache-2.0
#include "read/open/sidecar.hpp"

#include "support/temp_folder.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace terrazzo::reading {
namespace {

using testing::TempFolder;

TEST(TextSidecars, ThatAreNotThereAreAbsent) {
  TempFolder const folder;
  std::vector<std::string> files;
  MemoryBudget budget(std::uint64_t{1} << 30);
  geo::Sidecars const sidecars = read_text_sidecars(folder.path("dem.tif"), files, budget);
  EXPECT_FALSE(sidecars.pam_xml);
  EXPECT_FALSE(sidecars.world_file);
  EXPECT_TRUE(files.empty());
}

TEST(TextSidecars, AreReadWholeAndNamed) {
  TempFolder const folder;
  std::string const pam(100'000, 'x');
  std::string const aux = folder.write("dem.tif.aux.xml", pam),
                    world = folder.write("dem.tfw", std::string_view("1\n2\n"));
  std::vector<std::string> files;
  MemoryBudget budget(std::uint64_t{1} << 30);
  geo::Sidecars const sidecars = read_text_sidecars(folder.path("dem.tif"), files, budget);
  EXPECT_EQ(sidecars.pam_xml, pam);
  EXPECT_EQ(sidecars.world_file, "1\n2\n");
  EXPECT_EQ(files, (std::vector<std::string>{aux, world}));
}

TEST(TextSidecars, TakeTheFirstWorldFileOnly) {
  TempFolder const folder;
  folder.write("dem.tfw", std::string_view("first"));
  folder.write("dem.wld", std::string_view("last"));
  std::vector<std::string> files;
  MemoryBudget budget(std::uint64_t{1} << 30);
  EXPECT_EQ(read_text_sidecars(folder.path("dem.tif"), files, budget).world_file, "first");
  EXPECT_EQ(files.size(), 1u);
}

TEST(TextSidecars, OfAbsurdSizeAreAbsent) {
  TempFolder const folder;
  std::string const aux = folder.write("dem.tif.aux.xml", std::string_view("<PAMDataset/>"));
  std::filesystem::resize_file(aux, std::uint64_t{1} << 40);  // sparse: costs no disk
  std::vector<std::string> files;
  MemoryBudget budget(std::uint64_t{1} << 30);
  EXPECT_FALSE(read_text_sidecars(folder.path("dem.tif"), files, budget).pam_xml);
  EXPECT_TRUE(files.empty());
}

TEST(TiffSidecars, AreOpenedWhenTheyAreFiles) {
  TempFolder const folder;
  EXPECT_EQ(open_sidecar(folder.path("dem.tif.ovr")), nullptr);
  EXPECT_EQ(open_sidecar(folder.path("")), nullptr);
  std::string const path = folder.write("dem.tif.ovr", std::string_view("abc"));
  ByteSourcePtr const source = open_sidecar(path);
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->size_bytes(), 3u);
  EXPECT_EQ(source->name(), path);
}

TEST(TextSidecars, CountInTheMemoryLimit) {
  TempFolder const folder;
  folder.write("dem.tif.aux.xml", std::string(100'000, 'x'));
  std::vector<std::string> files;
  MemoryBudget budget(99'999);
  try {
    static_cast<void>(read_text_sidecars(folder.path("dem.tif"), files, budget));
    FAIL() << "no error";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
    EXPECT_NE(error.message().find("dem.tif.aux.xml"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace terrazzo::reading
