// SPDX-License-Identifier: Apache-2.0
#include "io/temporary_file.hpp"

#include "support/child_process.hpp"
#include "support/fault_injection.hpp"
#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace terrazzo::io {
namespace {

using testing::count_temporary;
using testing::FailingCalls;
using testing::TempFolder;

class TemporaryFileTest : public ::testing::Test {
 protected:
  TemporaryFile make() const { return TemporaryFile::create(places_, 0666); }
  bool exists(std::string const& name) const { return std::filesystem::exists(place_.path(name)); }

  TempFolder place_;
  std::string const path_ = place_.path("");
  std::vector<Place> const places_ = find_target(place_.path("dem.tif")).places;
};

TEST_F(TemporaryFileTest, RemovesWhatDeadWritersLeft) {
  place_.write(".dem.tif.0.terrazzo-tmp", "left");
  place_.write(".dem.tif.3.terrazzo-tmp", "left");
  place_.write(".dem.tif.15.terrazzo-tmp", "left");
  place_.write(".other.tif.0.terrazzo-tmp", "not of this file");
  TemporaryFile const file = make();
  ASSERT_TRUE(file);
  EXPECT_TRUE(exists(".dem.tif.0.terrazzo-tmp"));
  EXPECT_EQ(std::filesystem::file_size(place_.path(".dem.tif.0.terrazzo-tmp")), 0u);
  EXPECT_TRUE(exists(".other.tif.0.terrazzo-tmp"));
  EXPECT_EQ(count_temporary(path_), 2);
}

TEST_F(TemporaryFileTest, KeepsWhatLivingWritersHold) {
  TemporaryFile first = make();
  TemporaryFile second = make();
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_TRUE(exists(".dem.tif.0.terrazzo-tmp"));
  EXPECT_TRUE(exists(".dem.tif.1.terrazzo-tmp"));
  first.remove();
  EXPECT_EQ(count_temporary(path_), 1);
  TemporaryFile const third = make();
  EXPECT_EQ(count_temporary(path_), 2);
  EXPECT_TRUE(second.rename_to("dem.tif"));
  EXPECT_TRUE(exists("dem.tif"));
  EXPECT_EQ(count_temporary(path_), 1);
}

TEST_F(TemporaryFileTest, TakesAnyNumberOfWritersOfOnePath) {
  std::vector<TemporaryFile> files;
  for (int i = 0; i < 40; ++i) {
    files.push_back(make());
    ASSERT_TRUE(files.back());
  }
  EXPECT_EQ(count_temporary(path_), 40);
  files.clear();
  EXPECT_EQ(count_temporary(path_), 0);
}

TEST_F(TemporaryFileTest, KnowsAKilledWriterFromALivingOne) {
  int ready[2] = {-1, -1};
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  pid_t const child = testing::start_child([&] {
    TemporaryFile const file = make();
    if (::write(ready[1], "x", 1) != 1) { return 1; }
    ::pause();
    return 0;
  });
  char sign = 0;
  ASSERT_EQ(::read(ready[0], &sign, 1), 1);
  {
    TemporaryFile const beside = make();
    EXPECT_EQ(count_temporary(path_), 2);
  }
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_EQ(testing::wait_for(child), -SIGKILL);
  EXPECT_EQ(count_temporary(path_), 1);
  { TemporaryFile const after = make(); }
  EXPECT_EQ(count_temporary(path_), 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(TemporaryFileTest, BelongsToTheProcessThatMadeIt) {
  TemporaryFile file = make();
  EXPECT_EQ(testing::in_child([&] {
              file.remove();
              return 0;
            }),
            0);
  EXPECT_EQ(count_temporary(path_), 1);
  TemporaryFile const beside = make();
  EXPECT_EQ(count_temporary(path_), 2) << "the lock went with the child";
}

TEST_F(TemporaryFileTest, LetsThingsOfOtherKindsAlone) {
  std::filesystem::create_directory(place_.path(".dem.tif.0.terrazzo-tmp"));
  place_.write("precious", "data");
  std::filesystem::create_symlink("precious", place_.path(".dem.tif.1.terrazzo-tmp"));
  ASSERT_EQ(mkfifo(place_.path(".dem.tif.2.terrazzo-tmp").c_str(), 0600), 0);
  TemporaryFile const file = make();
  ASSERT_TRUE(file);
  EXPECT_EQ(count_temporary(path_), 4);
  EXPECT_TRUE(exists(".dem.tif.3.terrazzo-tmp"));
  EXPECT_EQ(std::filesystem::file_size(place_.path("precious")), 4u);
}

TEST_F(TemporaryFileTest, RemovesNothingWhereThereAreNoLocks) {
  place_.write(".dem.tif.0.terrazzo-tmp", "left, or being written");
  FailingCalls const failing({.call = "flock", .error = ENOLCK, .times = 1000});
  TemporaryFile const file = make();
  ASSERT_TRUE(file);
  EXPECT_GT(std::filesystem::file_size(place_.path(".dem.tif.0.terrazzo-tmp")), 0u);
  EXPECT_EQ(count_temporary(path_), 2);
}

TEST_F(TemporaryFileTest, KeepsBothFilesWhenTheRenameFails) {
  place_.write("dem.tif", "old");
  TemporaryFile file = make();
  {
    FailingCalls const failing({.call = "renameat", .error = EACCES});
    EXPECT_FALSE(file.rename_to("dem.tif"));
    EXPECT_EQ(errno, EACCES);
  }
  EXPECT_EQ(std::filesystem::file_size(place_.path("dem.tif")), 3u);
  EXPECT_EQ(count_temporary(path_), 1);
  file.remove();
  EXPECT_EQ(count_temporary(path_), 0);
}

// Somebody who may write to the folder, or a program that cleans it, has taken the name.
TEST_F(TemporaryFileTest, NeitherRenamesNorRemovesAnotherFileUnderItsName) {
  place_.write("dem.tif", "old");
  {
    TemporaryFile file = make();
    std::filesystem::remove(place_.path(".dem.tif.0.terrazzo-tmp"));
    EXPECT_FALSE(file.rename_to("dem.tif"));
    EXPECT_EQ(errno, ESTALE);
    place_.write(".dem.tif.0.terrazzo-tmp", "theirs");
    EXPECT_FALSE(file.rename_to("dem.tif"));
    EXPECT_EQ(errno, ESTALE);
  }
  EXPECT_EQ(std::filesystem::file_size(place_.path(".dem.tif.0.terrazzo-tmp")), 6u);
  EXPECT_EQ(std::filesystem::file_size(place_.path("dem.tif")), 3u);
}

TEST_F(TemporaryFileTest, PutsBackTheSidecarsThatADeadWriterSetAside) {
  place_.write("dem.tif", "old");
  place_.write(".dem.tif.2.terrazzo-tmp", "left");
  place_.write(".dem.tif.ovr.2.terrazzo-old", "overviews");
  { TemporaryFile const file = make(); }
  EXPECT_TRUE(exists("dem.tif.ovr"));
  EXPECT_FALSE(exists(".dem.tif.ovr.2.terrazzo-old"));
  place_.write(".dem.tif.2.terrazzo-tmp", "left");
  place_.write(".dem.tif.msk.2.terrazzo-old", "mask");
  TemporaryFile::clean(places_);
  EXPECT_TRUE(exists("dem.tif.msk"));
  EXPECT_EQ(count_temporary(path_), 0);
}

TEST_F(TemporaryFileTest, DropsThemWhereTheRasterIsNotTheOldOne) {
  // The writer died after its rename.
  place_.write("dem.tif", "new");
  place_.write(".dem.tif.ovr.0.terrazzo-old", "overviews");
  { TemporaryFile const file = make(); }
  EXPECT_FALSE(exists(".dem.tif.ovr.0.terrazzo-old"));
  EXPECT_FALSE(exists("dem.tif.ovr"));
  // It died before, and another program has changed the raster since.
  place_.write(".dem.tif.0.terrazzo-tmp", "left");
  place_.write(".dem.tif.ovr.0.terrazzo-old", "overviews");
  auto const later = std::filesystem::last_write_time(place_.path(".dem.tif.0.terrazzo-tmp")) + std::chrono::seconds(1);
  std::filesystem::last_write_time(place_.path("dem.tif"), later);
  { TemporaryFile const file = make(); }
  EXPECT_FALSE(exists(".dem.tif.ovr.0.terrazzo-old"));
  EXPECT_FALSE(exists("dem.tif.ovr"));
}

// Creation, lock, look, removal and rename of many at once: nobody may lose a file to another's cleaning.
TEST_F(TemporaryFileTest, NeverTakesALivingFileAway) {
  std::atomic<int> lost = 0;
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        TemporaryFile file = make();
        if (!file) {
          ++lost;
          continue;
        }
        if ((i + t) % 3 != 0 && !file.rename_to("dem.tif")) { ++lost; }
      }
    });
  }
  for (std::thread& writer : writers) { writer.join(); }
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(count_temporary(path_), 0);
}

}  // namespace
}  // namespace terrazzo::io
