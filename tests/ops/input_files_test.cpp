// SPDX-License-Identifier: Apache-2.0
#include "ops/input_files.hpp"

#include "support/failure.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace terrazzo::ops {
namespace {

class InputFiles : public ::testing::Test {
 protected:
  InputFiles() {
    std::filesystem::create_directories(folder_.path("in/deep"));
    for (char const* name : {"in/b.tif", "in/a.tif", "in/deep/a.tif"}) {
      static_cast<void>(folder_.write(name, std::string_view("x")));
    }
  }
  testing::TempFolder folder_;
};

TEST_F(InputFiles, KnowsWhichFilesWereNamed) {
  auto const files = input_files({folder_.path("in/b.tif"), folder_.path("in")}, "");
  ASSERT_EQ(files.size(), 3U);
  EXPECT_TRUE(files[0].is_named);
  EXPECT_EQ(files[0].name, "b.tif");
  EXPECT_FALSE(files[1].is_named);
  EXPECT_EQ(files[2].name, "deep/a.tif");
}

TEST_F(InputFiles, LeavesOutAFolder) {
  EXPECT_EQ(input_files({folder_.path("in")}, folder_.path("in/deep")).size(), 2U);
}

TEST_F(InputFiles, IdentifiesAFileByAnyPath) {
  EXPECT_EQ(file_identity(folder_.path("in/../in/b.tif")), file_identity(folder_.path("in/b.tif")));
  EXPECT_NE(file_identity(folder_.path("in/new.tif")), file_identity(folder_.path("in/b.tif")));
}

TEST_F(InputFiles, TakesANameWithWildcardsThatExists) {
  std::string const odd = folder_.write("in/[x].tif", std::string_view("x"));
  EXPECT_EQ(input_files({odd}, "").front().path, odd);
  EXPECT_EQ(testing::kind_of_failure([&] { return input_files({folder_.path("[y].tif")}, ""); }), ErrorKind::usage);
}

}  // namespace
}  // namespace terrazzo::ops
