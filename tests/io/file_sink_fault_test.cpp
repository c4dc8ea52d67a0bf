// SPDX-License-Identifier: Apache-2.0
//
// After a failure a file sink leaves the old file or the new one, complete, and no other file.
#include "io/file_sink.hpp"

#include "io/spool.hpp"
#include "support/child_process.hpp"
#include "support/fault_injection.hpp"
#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace terrazzo::io {
namespace {

using testing::byte_pattern;
using testing::count_temporary;
using testing::FailingCalls;
using testing::Fault;
using testing::file_bytes;
using testing::in_child;
using testing::TempFolder;

constexpr std::size_t kFrontBytes = 65'536;

std::vector<std::byte> const& full() {
  static std::vector<std::byte> const bytes = byte_pattern(1'500'000, 3);
  return bytes;
}
std::vector<std::byte> const& front() {
  static std::vector<std::byte> const bytes = byte_pattern(kFrontBytes, 4);
  return bytes;
}
std::vector<std::byte> const& whole() {
  static std::vector<std::byte> const bytes = [] {
    std::vector<std::byte> all = front();
    all.insert(all.end(), full().begin(), full().end());
    all.resize(all.size() + 10);
    return all;
  }();
  return bytes;
}

// Writes as for a COG: spooled tiles, bytes inserted before them, an end that is never written. No `way`: no spool.
void write_whole(ByteSink& sink, std::optional<SpoolWay> way) {
  sink.open();
  if (way) {
    SpoolQuota quota{.limit_bytes = 400'000};
    Spool spool(sink, quota, *way, true);
    for (std::size_t at = 0; at < full().size(); at += 150'000) {
      spool.append(std::span(full()).subspan(at, 150'000));
    }
    spool.place(kFrontBytes);
  } else {
    sink.write_at(kFrontBytes, full());
  }
  sink.write_at(0, front());
  sink.publish(whole().size());
}

int open_descriptors() {
  auto const all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<int>(std::distance(begin(all), end(all)));
}

class FileSinkFault : public ::testing::Test {
 protected:
  FileSinkFault() { whole(); }
  std::vector<std::byte> const old_ = byte_pattern(5000, 7);
  TempFolder folder_;
  std::string const folder_path_ = folder_.path("");
  std::string const path_ = folder_.write("dem.tif", old_);

  // Makes every call fail in turn. Some failures are none for the file (a lock, a hint, a way that has an alternative).
  void fail_everywhere(std::optional<SpoolWay> way, int error) {
    int const descriptors = open_descriptors();
    int failures = 0;
    for (int at = 0;; ++at) {
      folder_.write("dem.tif", old_);
      FileSink sink(path_, Durability::fsync);
      bool failed = false;
      bool struck = false;
      {
        FailingCalls const failing(Fault{.at = at, .error = error});
        try {
          write_whole(sink, way);
        } catch (Error const& caught) {
          failed = true;
          EXPECT_EQ(caught.kind(), ErrorKind::io) << caught.what();
          EXPECT_EQ(caught.where().source, path_);
        }
        struck = failing.struck();
      }
      std::vector<std::byte> const now = file_bytes(path_);
      if (failed) {
        ++failures;
        EXPECT_TRUE(now == old_ || now == whole()) << "a half file, call " << at;
      } else {
        ASSERT_TRUE(now == whole()) << "call " << at;
      }
      sink.discard();
      EXPECT_EQ(count_temporary(folder_path_), 0) << "call " << at;
      ASSERT_EQ(open_descriptors(), descriptors) << "call " << at;
      if (!struck) {
        EXPECT_FALSE(failed);
        EXPECT_GT(failures, 3);
        return;
      }
    }
  }
};

TEST_F(FileSinkFault, LeavesAWholeFileWhateverCallFails) {
  for (int const error : {EIO, ENOSPC, EDQUOT}) {
    fail_everywhere(std::nullopt, error);
    fail_everywhere(SpoolWay::automatic, error);
    fail_everywhere(SpoolWay::unnamed_file, error);
  }
}

TEST_F(FileSinkFault, KeepsTheOldFileWhenACallThatCountsFails) {
  for (char const* const call : {"pwrite", "ftruncate", "fsync", "close", "renameat"}) {
    FileSink sink(path_, Durability::fsync);
    {
      FailingCalls const failing(Fault{.call = call, .error = ENOSPC});
      try {
        write_whole(sink, std::nullopt);
        ADD_FAILURE() << call;
      } catch (Error const& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io);
        EXPECT_NE(error.message().find("No space left"), std::string::npos) << error.message();
      }
    }
    EXPECT_TRUE(file_bytes(path_) == old_) << call;
    EXPECT_EQ(count_temporary(folder_path_), 1) << call;
    sink.discard();
    EXPECT_EQ(count_temporary(folder_path_), 0) << call;
  }
}

TEST_F(FileSinkFault, SaysThatTheFileIsThereWhenOnlyTheFolderIsNotSafe) {
  FileSink sink(path_, Durability::fsync);
  FailingCalls const failing(Fault{.call = "fsync", .at = 1});
  try {
    write_whole(sink, std::nullopt);
    ADD_FAILURE() << "no error";
  } catch (Error const& error) { EXPECT_NE(error.message().find("whole"), std::string::npos); }
  EXPECT_TRUE(file_bytes(path_) == whole());
}

TEST_F(FileSinkFault, DoesNotSyncUnlessAsked) {
  FileSink sink(path_, Durability::none);
  FailingCalls const counting(Fault{.call = "fsync", .at = 1000});
  write_whole(sink, std::nullopt);
  EXPECT_EQ(counting.count(), 0);
}

TEST_F(FileSinkFault, GoesOnAfterSignalsAndShortWrites) {
  for (char const* const call : {"pwrite", "ftruncate", "fallocate", "copy_file_range", "pread"}) {
    for (SpoolWay const way : {SpoolWay::automatic, SpoolWay::unnamed_file}) {
      folder_.write("dem.tif", old_);
      FileSink sink(path_, Durability::none);
      FailingCalls const failing(Fault{.call = call, .error = EINTR, .times = 3});
      write_whole(sink, way);
      EXPECT_TRUE(file_bytes(path_) == whole()) << call;
    }
  }
  folder_.write("dem.tif", old_);
  FileSink sink(path_, Durability::none);
  FailingCalls const cutting(Fault{.call = "pwrite", .short_bytes = 777});
  write_whole(sink, SpoolWay::unnamed_file);
  EXPECT_GT(cutting.count(), 1000);
  EXPECT_TRUE(file_bytes(path_) == whole());
}

// In the child: 0 when the write failed with `io`, left the old file whole and no other.
int fails_cleanly(std::string const& path, std::string const& folder, std::vector<std::byte> const& old,
                  std::optional<SpoolWay> way) {
  try {
    FileSink sink(path, Durability::none);
    write_whole(sink, way);
    return 1;
  } catch (Error const& error) {
    if (error.kind() != ErrorKind::io) { return 2; }
  }
  if (file_bytes(path) != old) { return 3; }
  return count_temporary(folder) == 0 ? 0 : 4;
}

TEST_F(FileSinkFault, SurvivesALimitOnTheSizeOfFiles) {
  for (std::optional<SpoolWay> const way :
       {std::optional<SpoolWay>{}, std::optional(SpoolWay::automatic), std::optional(SpoolWay::unnamed_file)}) {
    int const code = in_child([&] {
      signal(SIGXFSZ, SIG_IGN);
      rlimit const limit{700'000, 700'000};
      if (setrlimit(RLIMIT_FSIZE, &limit) != 0) { return 10; }
      return fails_cleanly(path_, folder_path_, old_, way);
    });
    EXPECT_EQ(code, 0);
  }
}

// Room ahead of a large file must not pass the limit either: that would raise the signal, for bytes that nobody writes.
TEST_F(FileSinkFault, WritesUpToALimitOnTheSizeOfFiles) {
  int const code = in_child([&] {
    signal(SIGXFSZ, SIG_DFL);
    rlimit const limit{150 << 20, 150 << 20};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) { return 10; }
    std::vector<std::byte> const part = byte_pattern(1 << 20);
    FileSink sink(path_, Durability::none);
    sink.open();
    for (std::uint64_t i = 0; i < 140; ++i) { sink.write_at(i << 20, part); }
    sink.publish(std::uint64_t{140} << 20);
    return 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(std::filesystem::file_size(path_), std::uintmax_t{140} << 20);
}

TEST_F(FileSinkFault, SurvivesAFullDisk) {
  constexpr int kMayNot = 20;
  std::string const disk = folder_.path("disk");
  std::filesystem::create_directory(disk);
  for (std::optional<SpoolWay> const way :
       {std::optional<SpoolWay>{}, std::optional(SpoolWay::automatic), std::optional(SpoolWay::unnamed_file)}) {
    int const code = in_child([&] {
      // The mount is seen by this child alone and goes with it.
      if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) { return kMayNot; }
      if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) { return kMayNot; }
      if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0) { return kMayNot; }
      folder_.write("disk/dem.tif", old_);
      if (file_bytes(disk + "/dem.tif") != old_) {
        return kMayNot;
      }  // the current user does not exist in the namespace
      return fails_cleanly(disk + "/dem.tif", disk, old_, way);
    });
    if (code == kMayNot) { GTEST_SKIP() << "a test may not mount here"; }
    EXPECT_EQ(code, 0);
  }
}

// A child replaces the file again and again, each time by one of its own two contents, and is killed at a random
// moment.
TEST_F(FileSinkFault, SurvivesBeingKilledAtAnyMoment) {
  std::vector<std::byte> const other = byte_pattern(whole().size(), 11);
  std::mt19937 random(3);
  int left_something = 0;
  for (int round = 0; round < 50; ++round) {
    pid_t const child = testing::start_child([&] {
      for (int i = 0; i < 100'000; ++i) {
        FileSink sink(path_, Durability::none);
        if (i % 2 == 0) {
          write_whole(sink, i % 4 == 0 ? std::optional(SpoolWay::automatic) : std::nullopt);
        } else {
          sink.open();
          sink.write_at(0, other);
          sink.publish(other.size());
        }
      }
      return 0;
    });
    usleep(std::uniform_int_distribution<unsigned>(0, 15'000)(random));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    ASSERT_EQ(testing::wait_for(child), -SIGKILL);
    std::vector<std::byte> const now = file_bytes(path_);
    ASSERT_TRUE(now == old_ || now == whole() || now == other) << round;
    int const leftovers = count_temporary(folder_path_);
    EXPECT_LE(leftovers, 1);
    left_something += leftovers;
  }
  EXPECT_GT(left_something, 0) << "no child was killed while it was writing: the test shows nothing";
  FileSink sink(path_, Durability::none);
  write_whole(sink, std::nullopt);
  EXPECT_EQ(count_temporary(folder_path_), 0);
}

}  // namespace
}  // namespace terrazzo::io
