// SPDX-License-Identifier: Apache-2.0
#include "base/library_search.hpp"

#include "support/temp_folder.hpp"
#include "terrazzo/settings.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace terrazzo {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 65534;

bool contains(std::vector<fs::path> const& folders, fs::path const& folder) {
  return std::ranges::find(folders, folder) != folders.end();
}

class LibrarySearch : public ::testing::Test {
 protected:
  // With exactly this mode: the test's umask must not hide what is tested.
  fs::path make(fs::path const& relative, mode_t mode = 0755) const {
    fs::path const folder = root_.path(relative.string());
    fs::create_directories(folder);
    EXPECT_EQ(chmod(folder.c_str(), mode), 0);
    return folder;
  }

  // A file that the loader refuses to load, if it comes to that: enough to see which one was tried.
  static fs::path plant(fs::path const& folder, mode_t mode = 0644) {
    fs::path const file = folder / kName;
    std::ofstream(file) << "not a library";
    EXPECT_EQ(chmod(file.c_str(), mode), 0);
    return file;
  }

  static constexpr char const* kName = "libterrazzo_no_such_library.so.1";
  testing::TempFolder root_;
};

TEST_F(LibrarySearch, TakesTheUsersFoldersFirstThenThoseOfTheProgramInTheirOrder) {
  fs::path const b = make("b"), a = make("a"), given = make("given");
  LibraryFolders const folders =
      library_folders({.vendor_path = b.string() + "::" + root_.path("missing") + ":" + a.string(),
                       .given = {given},
                       .own = {},
                       .environments = {}});
  EXPECT_EQ(folders.before_loader, (std::vector<fs::path>{b, a, given}));
  EXPECT_TRUE(folders.after_loader.empty());
}

// A library in a writable folder above the binary was loaded once.
TEST_F(LibrarySearch, LooksInTheFolderOfOurOwnLibraryAndInNoneAboveIt) {
  fs::path const own = make("app/lib/python3.12/site-packages/terrazzo/bin");
  fs::path const above = make("app/lib/python3.12/site-packages/nvidia/nvcomp/lib");
  fs::path const beside = make("app/lib/python3.12/site-packages/terrazzo/lib");
  LibraryFolders const folders = library_folders({.vendor_path = {}, .given = {}, .own = own, .environments = {}});
  EXPECT_EQ(folders.after_loader, (std::vector<fs::path>{own}));
  EXPECT_FALSE(contains(folders.after_loader, above));
  EXPECT_FALSE(contains(folders.after_loader, beside));
}

TEST_F(LibrarySearch, FindsWheelsOfTheActiveEnvironmentBehindOurOwnFolder) {
  fs::path const own = make("bin");
  fs::path const plain = make("env/lib/python3.12/site-packages/nvidia/nvjpeg2k/lib");
  fs::path const wide = make("env/lib/python3.12/site-packages/nvidia/libnvcomp/lib64");
  LibraryFolders const folders =
      library_folders({.vendor_path = {}, .given = {}, .own = own, .environments = {root_.path("env")}});
  EXPECT_EQ(folders.after_loader, (std::vector<fs::path>{own, wide, plain}));
}

TEST_F(LibrarySearch, TheProcessIsKnownByItsOwnFileWhateverNameWasTyped) {
  fs::path const executable = fs::read_symlink("/proc/self/exe");
  EXPECT_EQ(process_library_roots().own, executable.parent_path());
}

TEST_F(LibrarySearch, TheProgramsFoldersAreThoseItSet) {
  set_vendor_folders({"/opt/one", "/opt/two"});
  LibrarySearchRoots const roots = process_library_roots();
  set_vendor_folders({});
  EXPECT_EQ(roots.given, (std::vector<fs::path>{"/opt/one", "/opt/two"}));
}

TEST_F(LibrarySearch, NobodyElseCanReplaceAFileInAFolderOfOurs) {
  EXPECT_EQ(who_else_can_replace(plant(make("ours")), geteuid()), "");
  // The temporary folder above is sticky and everyone's: entries of ours are safe in it.
}

TEST_F(LibrarySearch, RefusesFilesAndFoldersThatOthersMayWriteTo) {
  struct Case {
    char const* folder;
    mode_t folder_mode, file_mode;
    char const* who;
  };
  for (Case const& c : {Case{"everyone", 0777, 0644, "everyone may write to"},
                        Case{"sticky", 01777, 0644, "everyone may write to"},  // others could add what it loads
                        Case{"file", 0755, 0666, "everyone may write to"}}) {
    fs::path const file = plant(make(c.folder, c.folder_mode), c.file_mode);
    EXPECT_NE(who_else_can_replace(file, geteuid()).find(c.who), std::string::npos) << c.folder;
  }
  fs::path const below = plant(make("open/inner"));
  make("open", 0777);
  EXPECT_NE(who_else_can_replace(below, geteuid()).find("everyone may write to"), std::string::npos);
  make("open", 01777);
  EXPECT_EQ(who_else_can_replace(below, geteuid()), "");
}

TEST_F(LibrarySearch, RefusesGroupsThatOthersMayBeIn) {
  if (geteuid() != 0) { GTEST_SKIP() << "only root may give files away"; }
  fs::path const folder = make("group", 0775);
  fs::path const file = plant(folder);
  ASSERT_EQ(chown(folder.c_str(), 0, 100), 0);  // "users"
  EXPECT_NE(who_else_can_replace(file, 0).find("group 100 may write to"), std::string::npos);
  ASSERT_EQ(chown(folder.c_str(), 0, 0), 0);  // root's own group
  EXPECT_EQ(who_else_can_replace(file, 0), "");
}

TEST_F(LibrarySearch, RefusesWhatBelongsToAnotherUserUnlessOurOwnLibraryDoes) {
  if (geteuid() != 0) { GTEST_SKIP() << "only root may give files away"; }
  fs::path const file = plant(make("foreign"));
  ASSERT_EQ(chown(file.c_str(), kStranger, kStranger), 0);
  EXPECT_NE(who_else_can_replace(file, 0).find("belongs to another user (65534)"), std::string::npos);
  EXPECT_EQ(who_else_can_replace(file, kStranger), "");
}

TEST_F(LibrarySearch, SeesThroughALinkToWhereTheFileLies) {
  fs::path const file = plant(make("writable", 0777));
  fs::path const tidy = make("tidy");
  fs::create_symlink(file, tidy / kName);
  EXPECT_NE(who_else_can_replace(tidy / kName, geteuid()).find("everyone may write to"), std::string::npos);
}

TEST_F(LibrarySearch, TellsWhatItRefusedAndLoadsNothingFromThere) {
  fs::path const planted = plant(make("writable", 0777));
  LoadedLibrary const library =
      load_library(kName, {.vendor_path = planted.parent_path().string(), .given = {}, .own = {}, .environments = {}});
  EXPECT_EQ(library.handle, nullptr);
  EXPECT_EQ(library.trouble, "") << "the loader saw a file that should have been refused";
  ASSERT_EQ(library.refused.size(), 1U);
  EXPECT_EQ(library.refused[0].file, planted.string());
  EXPECT_NE(refusal_note(library).find("was refused: everyone may write to"), std::string::npos);
}

TEST_F(LibrarySearch, TellsTheLoadersComplaintAboutAFileThatIsNoLibrary) {
  fs::path const planted = plant(make("ours"));
  LoadedLibrary const library =
      load_library(kName, {.vendor_path = planted.parent_path().string(), .given = {}, .own = {}, .environments = {}});
  EXPECT_EQ(library.handle, nullptr);
  EXPECT_NE(library.trouble.find(kName), std::string::npos);
  EXPECT_TRUE(library.refused.empty());
}

}  // namespace
}  // namespace terrazzo
