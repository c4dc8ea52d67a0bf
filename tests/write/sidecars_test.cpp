// SPDX-License-Identifier: Apache-2.0
#include "write/sidecars.hpp"

#include "support/child_process.hpp"
#include "support/fault_injection.hpp"
#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"
#include "terrazzo/error.hpp"
#include "write/update/file_update.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace terrazzo::writing {
namespace {

namespace fs = std::filesystem;
using testing::FailingCalls;
using testing::Fault;
using testing::TempFolder;

constexpr char const* kSuffixes[] = {".aux.xml", ".ovr", ".msk", ".msk.ovr"};

class SidecarsOfAFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::string raster() const { return folder_.path("dem.tif"); }
  static std::string text_of(std::string const& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put_old() const {
    for (auto const& entry : fs::directory_iterator(folder_.path(""))) { fs::remove_all(entry); }
    folder_.write("dem.tif", "old");
    for (char const* suffix : kSuffixes) { folder_.write("dem.tif" + std::string(suffix), "old"); }
  }
  // A raster whose bytes are "new".
  static void write(std::string const& path, std::string const& pam, Durability durability = Durability::none) {
    auto const sink = std::make_shared<io::FileSink>(path, durability);
    sink->open();
    std::string const text = "new";
    sink->write_at(0, std::as_bytes(std::span(text)));
    Sidecars(sink, pam, durability).publish(*sink, text.size());
  }
  static Error failure_of_write(std::string const& path, std::string const& pam) {
    try {
      write(path, pam);
    } catch (Error const& error) { return error; }
    ADD_FAILURE() << "no error";
    return Error(ErrorKind::device, "");
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (auto const& entry : fs::directory_iterator(folder_.path(""))) { all.push_back(entry.path().filename()); }
    std::ranges::sort(all);
    return all;
  }
  [[nodiscard]] bool all_old() const {
    return text_of(raster()) == "old" &&
           std::ranges::all_of(kSuffixes, [&](char const* s) { return text_of(raster() + s) == "old"; });
  }

  TempFolder folder_;
};

TEST_F(SidecarsOfAFile, GoWithTheRasterThatIsReplaced) {
  put_old();
  folder_.write("dem.tif.txt", "not ours");
  write(raster(), "");
  EXPECT_EQ(names(), (std::vector<std::string>{"dem.tif", "dem.tif.txt"}));
  EXPECT_EQ(text_of(raster()), "new");
}

TEST_F(SidecarsOfAFile, SayWhatOnlyPamCanSay) {
  put_old();
  write(raster(), "<PAMDataset/>", Durability::fsync);
  EXPECT_EQ(names(), (std::vector<std::string>{"dem.tif", "dem.tif.aux.xml"}));
  EXPECT_EQ(text_of(raster() + ".aux.xml"), "<PAMDataset/>");
}

TEST_F(SidecarsOfAFile, LieBesideEveryLinkToo) {
  put_old();
  fs::create_directory(folder_.path("links"));
  std::string const link = folder_.path("links/link.tif"), last = folder_.path("links/last.tif");
  fs::create_symlink("../dem.tif", last);
  fs::create_symlink("last.tif", link);
  folder_.write("links/link.tif.aux.xml", "old");
  folder_.write("links/last.tif.ovr", "old");
  fs::create_symlink("../far.xml", last + ".aux.xml");
  folder_.write("far.xml", "of somebody else");
  write(link, "<PAMDataset/>");
  EXPECT_EQ(names(), (std::vector<std::string>{"dem.tif", "dem.tif.aux.xml", "far.xml", "links"}));
  EXPECT_EQ(text_of(raster()), "new");
  EXPECT_TRUE(fs::is_symlink(link) && fs::is_symlink(last));
  for (std::string const& place : {raster(), link, last}) {
    EXPECT_EQ(text_of(place + ".aux.xml"), "<PAMDataset/>");
    EXPECT_FALSE(fs::exists(place + ".ovr"));
  }
  EXPECT_EQ(text_of(folder_.path("far.xml")), "of somebody else");
}

TEST_F(SidecarsOfAFile, AreLeftAloneWithoutAPath) {
  put_old();
  auto const sink = std::make_shared<io::FileSink>(raster(), Durability::none);
  sink->open();
  Sidecars().publish(*sink, 0);
  EXPECT_EQ(text_of(raster() + ".ovr"), "old");
}

TEST_F(SidecarsOfAFile, LeaveFoldersAlone) {
  fs::create_directory(folder_.path("dem.tif.ovr"));
  write(raster(), "");
  EXPECT_TRUE(fs::is_directory(raster() + ".ovr"));
}

// Where root writes, permissions stop nobody: a folder under the sidecar's name stops everybody.
TEST_F(SidecarsOfAFile, KeepTheOldRasterWhenThePamFileCannotBeWritten) {
  put_old();
  fs::remove(raster() + ".aux.xml");
  fs::create_directory(raster() + ".aux.xml");
  auto const before = names();
  Error const error = failure_of_write(raster(), "<PAMDataset/>");
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_EQ(error.where().source, raster() + ".aux.xml");
  EXPECT_EQ(names(), before);
  EXPECT_EQ(text_of(raster()), "old");
}

TEST_F(SidecarsOfAFile, KeepTheOldRasterWhenOneOfThemCannotBeMoved) {
  put_old();
  auto const before = names();
  {
    FailingCalls const failing(Fault{.call = "renameat", .at = 2, .error = EPERM});
    Error const error = failure_of_write(raster(), "");
    EXPECT_NE(error.message().find("cannot be moved"), std::string::npos) << error.message();
  }
  EXPECT_EQ(names(), before);
  EXPECT_TRUE(all_old());
}

// Renames, in order: four sidecars aside, the raster, the PAM file.
TEST_F(SidecarsOfAFile, ComeBackWhenTheRasterDoesNotGetItsName) {
  put_old();
  auto const before = names();
  {
    FailingCalls const failing(Fault{.call = "renameat", .at = 4, .error = EACCES});
    (void)failure_of_write(raster(), "<PAMDataset/>");
  }
  EXPECT_EQ(names(), before);
  EXPECT_TRUE(all_old());
}

TEST_F(SidecarsOfAFile, SayThatTheRasterIsWholeWhenOnlyThePamFileHasNoName) {
  put_old();
  {
    FailingCalls const failing(Fault{.call = "renameat", .at = 5, .error = EACCES});
    Error const error = failure_of_write(raster(), "<PAMDataset/>");
    EXPECT_EQ(error.where().source, raster() + ".aux.xml");
    EXPECT_NE(error.message().find("the raster is complete"), std::string::npos) << error.message();
  }
  EXPECT_EQ(names(), std::vector<std::string>{"dem.tif"});
  EXPECT_EQ(text_of(raster()), "new");
}

// A stranger's .ovr in a folder like /tmp would be believed, and a user who is not root cannot take it away.
TEST_F(SidecarsOfAFile, ThatStrangersPlantedStopTheWrite) {
  if (geteuid() != 0) { GTEST_SKIP() << "only root becomes somebody else"; }
  folder_.write("dem.tif.ovr", "planted");
  ASSERT_EQ(chmod(folder_.path("").c_str(), 01777), 0);
  int const code = testing::in_child([&] {
    if (setuid(65534) != 0) { return 1; }
    Error const error = failure_of_write(raster(), "");
    return error.kind() == ErrorKind::io && error.where().source == raster() + ".ovr" ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(names(), std::vector<std::string>{"dem.tif.ovr"});
}

// The promise of docs/writing.md, at every call: old pixels with their sidecars, or new pixels without them. For the
// moment between, the sidecars are set aside, and the next command that changes the file puts them back.
TEST_F(SidecarsOfAFile, AreNeverOldBesideNewPixelsWhenAWriterIsKilled) {
  for (std::string const pam : {"", "<PAMDataset/>"}) {
    for (Durability const durability : {Durability::none, Durability::fsync}) {
      int old_state = 0, between = 0, new_state = 0;
      for (int at = 0;; ++at) {
        ASSERT_LT(at, 500);
        put_old();
        int const code = testing::in_child([&] {
          FailingCalls const killing(Fault{.at = at, .kills = true});
          write(raster(), pam, durability);
          return 0;
        });
        ASSERT_TRUE(code == 0 || code == testing::kKilled) << code;
        if (text_of(raster()) == "new") {
          for (char const* suffix : kSuffixes) { EXPECT_NE(text_of(raster() + suffix), "old") << suffix << ' ' << at; }
          ++new_state;
        } else if (all_old()) {
          ++old_state;
        } else {
          ++between;
          FileUpdate(raster(), Durability::none).open();
          EXPECT_TRUE(all_old()) << at;
        }
        if (code == 0) { break; }
        // The next write leaves nothing of all that.
        write(raster(), "");
        EXPECT_EQ(names(), std::vector<std::string>{"dem.tif"}) << at;
      }
      EXPECT_GT(old_state, 0);
      EXPECT_GT(between, 0);
      EXPECT_GT(new_state, 0);
    }
  }
}

}  // namespace
}  // namespace terrazzo::writing
