// SPDX-License-Identifier: Apache-2.0
#include "io/file_url.hpp"

#include "support/failure.hpp"

#include <gtest/gtest.h>

namespace terrazzo::io {
namespace {

using testing::failure_of;

TEST(FileUrl, GivesThePathOfALocalFile) {
  EXPECT_EQ(path_of_file_url("file:///data/dem.tif"), "/data/dem.tif");
  EXPECT_EQ(path_of_file_url("file://localhost/data/dem.tif"), "/data/dem.tif");
  EXPECT_EQ(path_of_file_url("FILE://LocalHost/data/Dem.TIF"), "/data/Dem.TIF");
  EXPECT_EQ(path_of_file_url("file:///"), "/");
}

TEST(FileUrl, UnescapesBytes) {
  EXPECT_EQ(path_of_file_url("file:///a%20b/%c3%A4%25%23.tif"), "/a b/\xc3\xa4%#.tif");
  EXPECT_EQ(path_of_file_url("file:///a+b.tif"), "/a+b.tif");
  EXPECT_EQ(path_of_file_url("file:///%2541"), "/%41") << "an escape is read once";
}

TEST(FileUrl, LeavesOtherPathsAlone) {
  for (char const* const path : {"", "dem.tif", "/data/dem.tif", "file", "file:", "file:/data/dem.tif", "files:///a",
                                 "https://host/a.tif", "./file:///a"}) {
    EXPECT_EQ(path_of_file_url(path), std::nullopt) << path;
  }
}

TEST(FileUrl, RefusesFilesOfOtherMachines) {
  for (char const* const url : {"file://server/share/dem.tif", "file://127.0.0.1/dem.tif", "file://localhost:80/a"}) {
    Error const error = failure_of([&] { return path_of_file_url(url); });
    EXPECT_EQ(error.kind(), ErrorKind::usage) << url;
    EXPECT_EQ(error.where().source, url);
  }
}

TEST(FileUrl, RefusesWhatIsNoPath) {
  for (char const* const url :
       {"file://", "file://localhost", "file://dem.tif", "file:///a%", "file:///a%4", "file:///a%4g", "file:///a%zz",
        "file:///a%+1", "file:///a%-1", "file:///a%00.tif", "file:///a.tif?x=1", "file:///a.tif#1"}) {
    EXPECT_EQ(failure_of([&] { return path_of_file_url(url); }).kind(), ErrorKind::usage) << url;
  }
}

}  // namespace
}  // namespace terrazzo::io
