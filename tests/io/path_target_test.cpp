// SPDX-License-Identifier: Apache-2.0
#include "io/path_target.hpp"

#include "support/failure.hpp"
#include "support/temp_folder.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace terrazzo::io {
namespace {

namespace fs = std::filesystem;
using testing::kind_of_failure;
using testing::TempFolder;

constexpr uid_t kStranger = 65534;

class PlaceTest : public ::testing::Test {
 protected:
  void link(std::string const& to, std::string const& name, uid_t owner = geteuid()) const {
    fs::create_symlink(to, folder_.path(name));
    ASSERT_EQ(lchown(folder_.path(name).c_str(), owner, owner), 0);
  }
  // The folder that a path leads to in the end, and the name there.
  std::string end_of(std::string const& name) const {
    Target const target = find_target(folder_.path(name));
    Place const& place = target.places.back();
    return fs::weakly_canonical(fs::path(place.folder_path) / place.name).lexically_relative(root_).string();
  }

  TempFolder folder_;
  fs::path const root_ = fs::canonical(folder_.path(""));
};

TEST_F(PlaceTest, NamesAFileInItsFolder) {
  Target const target = find_target(folder_.path("new.tif"));
  ASSERT_EQ(target.places.size(), 1U);
  EXPECT_EQ(target.places.front().name, "new.tif");
  EXPECT_EQ(target.places.front().path(), folder_.path("new.tif"));
  EXPECT_FALSE(target.descriptor);
  EXPECT_EQ(find_target("new.tif").places.front().path(), "new.tif");
  EXPECT_EQ(find_target("/new.tif").places.front().path(), "/new.tif");
  Place const pam = beside(target.places.front(), ".aux.xml");
  EXPECT_EQ(pam.path(), folder_.path("new.tif.aux.xml"));
  EXPECT_GE(pam.folder.get(), 0);
}

TEST_F(PlaceTest, FollowsLinksAlsoToWhatIsNotThereYet) {
  fs::create_directories(folder_.path("a/b"));
  link("a/one", "x");
  link("b/two", "a/one");
  link("../../three", "a/b/two");
  EXPECT_EQ(end_of("x"), "three");
  EXPECT_EQ(find_target(folder_.path("x")).places.size(), 4U);
  link(folder_.path("x"), "absolute");
  EXPECT_EQ(end_of("absolute"), "three");
  link("a", "folder");  // the kernel finds folders
  EXPECT_EQ(end_of("folder/new"), "a/new");
}

TEST_F(PlaceTest, KnowsWhatIsOpenAlready) {
  link("/dev/stdout", "x");
  link("/proc/self/fd/7", "y");
  EXPECT_EQ(find_target("-").descriptor, STDOUT_FILENO);
  EXPECT_EQ(find_target("/dev/stderr").descriptor, STDERR_FILENO);
  EXPECT_EQ(find_target("/dev/fd/12").descriptor, 12);
  EXPECT_EQ(find_target(folder_.path("x")).descriptor, STDOUT_FILENO);
  EXPECT_EQ(find_target(folder_.path("y")).descriptor, 7);
}

TEST_F(PlaceTest, RefusesCirclesFoldersAndWhatIsNoFolder) {
  link("y", "x");
  link("x", "y");
  link("none/", "z");
  folder_.write("file", "");
  EXPECT_EQ(kind_of_failure([&] { (void)find_target(folder_.path("x")); }), ErrorKind::io);
  EXPECT_EQ(kind_of_failure([&] { (void)find_target(folder_.path("none/x")); }), ErrorKind::io);
  EXPECT_EQ(kind_of_failure([&] { (void)find_target(folder_.path("file/x")); }), ErrorKind::io);
  EXPECT_EQ(kind_of_failure([&] { (void)find_target(folder_.path("none/")); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { (void)find_target(folder_.path("z")); }), ErrorKind::usage);
}

// The rule of fs.protected_symlinks, for every link at the end of a path.
TEST_F(PlaceTest, RefusesLinksOfStrangersInStickyFolders) {
  if (geteuid() != 0) { GTEST_SKIP() << "only root gives links away"; }
  fs::create_directory(folder_.path("tmp"));
  folder_.write("precious", "data");
  link("../precious", "tmp/theirs", kStranger);
  link("../precious", "tmp/ours");
  link("tmp/theirs", "detour");
  link("nowhere", "tmp/theirs_to_nothing", kStranger);
  auto const refused = [&](std::string const& name) {
    return kind_of_failure([&] { (void)find_target(folder_.path(name)); }) == ErrorKind::io;
  };
  auto const allow = [&](mode_t mode, uid_t owner) {
    ASSERT_EQ(chown(folder_.path("tmp").c_str(), owner, owner), 0);
    ASSERT_EQ(chmod(folder_.path("tmp").c_str(), mode), 0);
  };
  allow(01777, 0);
  EXPECT_TRUE(refused("tmp/theirs"));
  EXPECT_TRUE(refused("tmp/theirs_to_nothing"));
  EXPECT_TRUE(refused("detour"));
  EXPECT_EQ(end_of("tmp/ours"), "precious");
  allow(01777, kStranger);  // the folder is the stranger's own
  EXPECT_EQ(end_of("tmp/theirs"), "precious");
  allow(01775, 0);
  EXPECT_EQ(end_of("tmp/theirs"), "precious");
  allow(0777, 0);
  EXPECT_EQ(end_of("tmp/theirs"), "precious");
}

TEST_F(PlaceTest, RefusesLinksOfStrangersToFoldersInStickyFolders) {
  if (geteuid() != 0) { GTEST_SKIP() << "only root can give a link to another user"; }
  fs::create_directories(folder_.path("private/inner"));
  fs::create_directories(folder_.path("shared"));
  ASSERT_EQ(chmod(folder_.path("shared").c_str(), 01777), 0);
  link("../private", "shared/own");
  link("../private", "shared/planted", kStranger);
  link("shared/planted/inner", "through");  // a link of ours that leads over theirs
  EXPECT_EQ(end_of("shared/own/inner/new.tif"), "private/inner/new.tif");
  for (char const* const path : {"shared/planted/new.tif", "shared/planted/inner/new.tif", "through/new.tif"}) {
    EXPECT_EQ(kind_of_failure([&] { (void)find_target(folder_.path(path)); }), ErrorKind::io) << path;
  }
}

TEST_F(PlaceTest, EndsCirclesOfFolderLinks) {
  link("b", "a");
  link("a", "b");
  EXPECT_EQ(kind_of_failure([&] { (void)find_target(folder_.path("a/new.tif")); }), ErrorKind::io);
}

TEST_F(PlaceTest, FindsFoldersByAbsoluteLinksDotsAndDoubleSlashes) {
  fs::create_directories(folder_.path("a/b"));
  link(folder_.path("a"), "absolute");
  EXPECT_EQ(end_of("absolute//b/./../b/new.tif"), "a/b/new.tif");
  EXPECT_EQ(kind_of_failure([&] { (void)find_target(folder_.path("a/missing/new.tif")); }), ErrorKind::io);
}

}  // namespace
}  // namespace terrazzo::io
