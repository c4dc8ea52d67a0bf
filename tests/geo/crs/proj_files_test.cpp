// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/proj_files.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace terrazzo::geo {
namespace {

namespace fs = std::filesystem;

class ProjFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("proj_files_" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "data" / "deeper");
    for (auto const* name : {"data/grid.tif", "data/deeper/grid.tif", "secret"}) {
      std::ofstream(folder_ / name) << "abcdef";
    }
    files_.emplace(std::vector<std::string>{folder_ / "data", ""});
    ASSERT_EQ(::mkfifo((folder_ / "data/pipe").c_str(), 0600), 0);
  }
  void TearDown() override { fs::remove_all(folder_); }

  PROJ_FILE_HANDLE* open(std::string const& name, PROJ_OPEN_ACCESS access = PROJ_OPEN_ACCESS_READ_ONLY) {
    return api_.open_cbk(nullptr, (folder_ / name).c_str(), access, &files());
  }
  ProjFiles& files() { return *files_; }

  fs::path folder_;
  std::optional<ProjFiles> files_;
  PROJ_FILE_API const& api_ = ProjFiles::interface();
};

TEST_F(ProjFilesTest, ReadsFilesBelowItsFolders) {
  for (auto const* name : {"data/grid.tif", "data/deeper/grid.tif"}) {
    auto* const file = open(name);
    ASSERT_NE(file, nullptr) << name;
    std::array<char, 8> bytes{};
    EXPECT_EQ(api_.seek_cbk(nullptr, file, 2, SEEK_SET, nullptr), 1);
    EXPECT_EQ(api_.read_cbk(nullptr, file, bytes.data(), bytes.size(), nullptr), 4U);
    EXPECT_EQ(std::string(bytes.data()), "cdef");
    EXPECT_EQ(api_.tell_cbk(nullptr, file, nullptr), 6U);
    EXPECT_EQ(api_.write_cbk(nullptr, file, "x", 1, nullptr), 0U);
    api_.close_cbk(nullptr, file, nullptr);
    EXPECT_EQ(api_.exists_cbk(nullptr, (folder_ / name).c_str(), &files()), 1);
  }
}

TEST_F(ProjFilesTest, SeesNothingElse) {
  for (auto const* name : {"secret", "data/../secret", "data/deeper/../../secret", "data/absent"}) {
    EXPECT_EQ(open(name), nullptr) << name;
    EXPECT_EQ(api_.exists_cbk(nullptr, (folder_ / name).c_str(), &files()), 0) << name;
  }
  EXPECT_EQ(api_.open_cbk(nullptr, "/etc/passwd", PROJ_OPEN_ACCESS_READ_ONLY, &files()), nullptr);
  EXPECT_EQ(api_.open_cbk(nullptr, "secret", PROJ_OPEN_ACCESS_READ_ONLY, &files()), nullptr);
  EXPECT_FALSE(files().is_allowed(folder_.string() + "/database/x"));
}

TEST_F(ProjFilesTest, DoesNotWaitForPipesOrOpenFolders) {
  EXPECT_EQ(open("data/pipe"), nullptr);
  EXPECT_EQ(open("data/deeper"), nullptr);
}

TEST_F(ProjFilesTest, ChangesNothing) {
  EXPECT_EQ(open("data/grid.tif", PROJ_OPEN_ACCESS_READ_UPDATE), nullptr);
  EXPECT_EQ(open("data/new", PROJ_OPEN_ACCESS_CREATE), nullptr);
  std::string const grid = folder_ / "data/grid.tif", moved = folder_ / "data/moved", made = folder_ / "data/made";
  EXPECT_EQ(api_.unlink_cbk(nullptr, grid.c_str(), &files()), 0);
  EXPECT_EQ(api_.mkdir_cbk(nullptr, made.c_str(), &files()), 0);
  EXPECT_EQ(api_.rename_cbk(nullptr, grid.c_str(), moved.c_str(), &files()), 0);
  EXPECT_TRUE(fs::exists(grid));
  EXPECT_FALSE(fs::exists(made) || fs::exists(moved));
}

}  // namespace
}  // namespace terrazzo::geo
