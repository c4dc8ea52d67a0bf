// SPDX-License-Identifier: Apache-2.0
#include "write/sidecars.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace terrazzo::writing {
namespace {

namespace fs = std::filesystem;

class SidecarsOfAFile : public ::testing::Test {
 protected:
  SidecarsOfAFile() { fs::create_directory(folder_); }
  ~SidecarsOfAFile() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string raster() const { return (folder_ / "dem.tif").string(); }
  static void put(std::string const& path, std::string const& text) { std::ofstream(path) << text; }
  static std::string text_of(std::string const& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_ = fs::temp_directory_path() / ("terrazzo_sidecars_" + std::to_string(::getpid()));
};

TEST_F(SidecarsOfAFile, RemovesThoseOfTheRasterThatWasReplaced) {
  for (char const* suffix : {".aux.xml", ".ovr", ".msk"}) { put(raster() + suffix, "old"); }
  put(raster() + ".txt", "not ours");
  Sidecars(raster(), "", Durability::none).settle();
  for (char const* suffix : {".aux.xml", ".ovr", ".msk"}) { EXPECT_FALSE(fs::exists(raster() + suffix)) << suffix; }
  EXPECT_EQ(text_of(raster() + ".txt"), "not ours");
}

TEST_F(SidecarsOfAFile, WritesWhatOnlyPamCanSay) {
  put(raster() + ".aux.xml", "old");
  Sidecars(raster(), "<PAMDataset/>", Durability::none).settle();
  EXPECT_EQ(text_of(raster() + ".aux.xml"), "<PAMDataset/>");
}

TEST_F(SidecarsOfAFile, RemovesThoseBehindALinkToo) {
  put(raster(), "raster");
  put(raster() + ".ovr", "old");
  std::string const link = (folder_ / "link.tif").string();
  fs::create_symlink(raster(), link);
  put(link + ".aux.xml", "old");
  Sidecars(link, "", Durability::none).settle();
  EXPECT_FALSE(fs::exists(raster() + ".ovr"));
  EXPECT_FALSE(fs::exists(link + ".aux.xml"));
  EXPECT_TRUE(fs::is_symlink(link));
}

TEST_F(SidecarsOfAFile, TouchesNothingWithoutAPath) {
  put(raster() + ".ovr", "old");
  Sidecars("", "<PAMDataset/>", Durability::none).settle();
  EXPECT_EQ(text_of(raster() + ".ovr"), "old");
  EXPECT_FALSE(fs::exists(raster() + ".aux.xml"));
}

// Where root writes, permissions stop nobody: a folder under the sidecar's name stops everybody.
TEST_F(SidecarsOfAFile, SaysThatTheRasterIsWholeWhenThePamFileCannotBeWritten) {
  fs::create_directory(raster() + ".aux.xml");
  try {
    Sidecars(raster(), "<PAMDataset/>", Durability::none).settle();
    FAIL() << "nothing was thrown";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(error.where().source, raster() + ".aux.xml");
    EXPECT_NE(error.message().find("the raster itself is written and whole"), std::string::npos) << error.message();
  }
  EXPECT_TRUE(fs::is_empty(raster() + ".aux.xml"));
}

TEST_F(SidecarsOfAFile, SaysWhichOldOneCannotBeRemoved) {
  put(raster() + ".ovr", "old");
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  bool const stopped = ::access(folder_.c_str(), W_OK) != 0;
  std::string message;
  try {
    Sidecars(raster(), "", Durability::none).settle();
  } catch (Error const& error) { message = error.what(); }
  fs::permissions(folder_, fs::perms::owner_all);
  if (!stopped) { GTEST_SKIP() << "permissions do not stop root"; }
  EXPECT_NE(message.find("dem.tif.ovr"), std::string::npos) << message;
  EXPECT_NE(message.find("cannot be removed"), std::string::npos) << message;
}

TEST_F(SidecarsOfAFile, LeavesFoldersAlone) {
  fs::create_directory(raster() + ".ovr");
  Sidecars(raster(), "", Durability::none).settle();
  EXPECT_TRUE(fs::is_directory(raster() + ".ovr"));
}

}  // namespace
}  // namespace terrazzo::writing
