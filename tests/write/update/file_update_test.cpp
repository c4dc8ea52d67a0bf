// SPDX-License-Identifier: Apache-2.0
#include "write/update/file_update.hpp"

#include "support/call_log.hpp"
#include "support/failure.hpp"
#include "support/fault_injection.hpp"
#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace terrazzo::writing {
namespace {

using testing::byte_pattern;
using testing::FailingCalls;
using testing::file_bytes;
using testing::kind_of_failure;
using testing::TempFolder;

class FileUpdateTest : public ::testing::Test {
 protected:
  TempFolder folder_;
  std::vector<std::byte> const old_ = byte_pattern(100), more_ = byte_pattern(300'000, 7);
  std::string const path_ = folder_.write("a.bin", old_);
};

TEST_F(FileUpdateTest, AddsBytesThenPatches) {
  FileUpdate file(path_, Durability::fsync);
  file.open();
  EXPECT_EQ(file.old_size_bytes(), 100U);
  file.write_at(112, more_);
  file.write_at(112 + more_.size(), old_);
  file.publish(112 + more_.size() + old_.size());
  file.patch(3, std::span(more_).first(4));
  file.commit();
  file.discard();
  std::vector<std::byte> expected = old_;
  expected.resize(112);
  std::copy_n(more_.begin(), 4, expected.begin() + 3);
  expected.insert(expected.end(), more_.begin(), more_.end());
  expected.insert(expected.end(), old_.begin(), old_.end());
  EXPECT_EQ(file_bytes(path_), expected);
}

TEST_F(FileUpdateTest, GivesTheOldFileBackWhenItIsNotPublished) {
  {
    FileUpdate file(path_, Durability::none);
    file.open();
    file.write_at(100, more_);
  }
  EXPECT_EQ(file_bytes(path_), old_);
}

TEST_F(FileUpdateTest, GivesTheOldFileBackWhenTheDiskIsFull) {
  FileUpdate file(path_, Durability::none);
  file.open();
  file.write_at(100, std::span(more_).first(200'000));
  {
    FailingCalls const calls({.call = "pwrite", .error = ENOSPC, .times = 100});
    EXPECT_EQ(kind_of_failure([&] { file.write_at(200'100, more_); }), ErrorKind::io);
  }
  file.discard();
  EXPECT_EQ(file_bytes(path_), old_);
}

TEST_F(FileUpdateTest, RefusesToWriteInsideBeforeItIsPublished) {
  FileUpdate file(path_, Durability::none);
  file.open();
  EXPECT_EQ(kind_of_failure([&] { file.write_at(99, old_); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { file.patch(0, old_); }), ErrorKind::usage);
  file.discard();
  EXPECT_EQ(file_bytes(path_), old_);
}

TEST_F(FileUpdateTest, IsLockedAgainstOthers) {
  FileUpdate file(path_, Durability::none), other(path_, Durability::none);
  file.open();
  EXPECT_EQ(kind_of_failure([&] { other.open(); }), ErrorKind::io);
  file.discard();
  FileUpdate later(path_, Durability::none);
  EXPECT_NO_THROW(later.open());
}

// A conversion onto the same path does not wait for an edit.
TEST_F(FileUpdateTest, TellsWhenThePathNamesAnotherFile) {
  auto const replace = [&] { std::filesystem::rename(folder_.write("new", more_), path_); };
  std::string const other_name = folder_.path("hard link");
  {
    FileUpdate file(path_, Durability::none);
    file.open();
    file.write_at(100, old_);
    std::filesystem::create_hard_link(path_, other_name);
    replace();
    EXPECT_EQ(kind_of_failure([&] { file.publish(200); }), ErrorKind::io);
  }
  EXPECT_EQ(file_bytes(other_name), old_) << "what the path named before is as it was";
  FileUpdate file(path_, Durability::none);
  file.open();
  file.publish(file.old_size_bytes());
  replace();
  EXPECT_EQ(kind_of_failure([&] { file.patch(0, old_); }), ErrorKind::io);
  EXPECT_EQ(file_bytes(path_), more_);
}

TEST_F(FileUpdateTest, IsReplacedOnlyWhileItHasItsName) {
  for (bool const raced : {false, true}) {
    folder_.write("a.bin", old_);
    FileUpdate file(path_, Durability::none);
    file.open();
    std::shared_ptr<ByteSink> const sink = file.replacement();
    sink->open();
    sink->write_at(0, more_);
    if (raced) {
      std::filesystem::rename(folder_.write("new", "of a convert"), path_);
      EXPECT_EQ(kind_of_failure([&] { sink->publish(more_.size()); }), ErrorKind::io);
      sink->discard();
      EXPECT_EQ(std::filesystem::file_size(path_), 12U);
    } else {
      sink->publish(more_.size());
      EXPECT_EQ(file_bytes(path_), more_);
    }
    EXPECT_EQ(testing::count_temporary(folder_.path("")), 0);
  }
}

TEST_F(FileUpdateTest, FollowsLinksButNotThoseOfStrangersInStickyFolders) {
  if (geteuid() != 0) { GTEST_SKIP() << "only root gives links away"; }
  std::filesystem::create_symlink("a.bin", folder_.path("link"));
  EXPECT_NO_THROW(FileUpdate(folder_.path("link"), Durability::none).open());
  ASSERT_EQ(chmod(folder_.path("").c_str(), 01777), 0);
  EXPECT_NO_THROW(FileUpdate(folder_.path("link"), Durability::none).open());
  ASSERT_EQ(lchown(folder_.path("link").c_str(), 65534, 65534), 0);
  EXPECT_EQ(kind_of_failure([&] { FileUpdate(folder_.path("link"), Durability::none).open(); }), ErrorKind::io);
}

TEST_F(FileUpdateTest, PutsBackTheSidecarsThatADeadWriterSetAside) {
  folder_.write(".a.bin.0.terrazzo-tmp", "left");
  folder_.write(".a.bin.ovr.0.terrazzo-old", "overviews");
  FileUpdate(path_, Durability::none).open();
  EXPECT_TRUE(std::filesystem::exists(folder_.path("a.bin.ovr")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path(".a.bin.0.terrazzo-tmp")));
}

TEST_F(FileUpdateTest, TellsWhenThereIsNoSuchFileOrNoSync) {
  EXPECT_EQ(kind_of_failure([&] { FileUpdate(folder_.path("none"), Durability::none).open(); }), ErrorKind::io);
  EXPECT_EQ(kind_of_failure([&] { FileUpdate(folder_.path("."), Durability::none).open(); }), ErrorKind::io);
  FileUpdate file(path_, Durability::fsync);
  file.open();
  file.write_at(100, old_);
  FailingCalls const calls({.call = "fsync"});
  EXPECT_EQ(kind_of_failure([&] { file.publish(200); }), ErrorKind::io);
  file.discard();
  EXPECT_EQ(file_bytes(path_), old_);
}

TEST_F(FileUpdateTest, SyncsWhatWasAddedBeforeEachPatchWhateverTheDurability) {
  for (Durability const durability : {Durability::none, Durability::fsync}) {
    FileUpdate file(folder_.write("a.bin", old_), durability);
    testing::CallLog const log;
    file.open();
    file.write_at(112, more_);
    file.publish(112 + more_.size());
    file.patch(50, std::span(more_).first(4));
    file.patch(3, std::span(more_).first(4));
    file.commit();
    EXPECT_TRUE(log.syncs_before_writes_inside(100));
    EXPECT_EQ(log.calls().back().name, durability == Durability::fsync ? "sync" : "write");
  }
}

TEST_F(FileUpdateTest, UndoesPatchesThatAreNotCommitted) {
  {
    FileUpdate file(path_, Durability::none);
    file.open();
    file.write_at(112, more_);
    file.publish(112 + more_.size());
    file.patch(50, std::span(more_).first(8));
    file.patch(54, std::span(more_).subspan(100, 8));
  }
  EXPECT_EQ(file_bytes(path_), old_);
}

TEST_F(FileUpdateTest, KeepsTheTailWhenAPatchCannotBeUndone) {
  FileUpdate file(path_, Durability::none);
  file.open();
  file.write_at(112, more_);
  file.publish(112 + more_.size());
  file.patch(50, std::span(more_).first(8));
  {
    FailingCalls const calls({.call = "pwrite", .times = 100});
    file.discard();
  }
  EXPECT_EQ(file_bytes(path_).size(), 112 + more_.size()) << "something inside leads there";
}

}  // namespace
}  // namespace terrazzo::writing
